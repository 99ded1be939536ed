import Foundation
import HeartwoodModel
import HeartwoodTesting
import Synchronization
import Testing

@testable import HeartwoodFormats
@testable import HeartwoodStore

/// Saves that are added to the end of a file.
@Suite struct AppendedSaveTests {
  private let store: SampleStore
  private let fileSystem = InMemoryFileSystem()

  init() throws {
    store = try SampleStore(SampleModel.make())
  }

  private func open(_ files: (any FileSystem)? = nil, _ options: StoreOptions = StoreOptions()) throws
    -> AtomicStoreEngine
  {
    try AtomicStoreEngine.open(
      AtomicClassFormat(BinaryStore.self),
      setup: SampleStore(store.model, options: options).setup,
      fileSystem: files ?? fileSystem
    )
  }

  private var bytes: [UInt8] { get throws { try #require(fileSystem.contents(ofFileAtPath: SampleStore.path)) } }

  private func set(_ bytes: [UInt8]) throws {
    try fileSystem.setContents(bytes, ofFileAtPath: SampleStore.path)
  }

  /// Makes a file that is long enough for saves to be added to it: random records, and one with a large picture.
  private func create(_ generator: inout SeededGenerator, pictureLength: Int = 300_000) throws {
    var contents = try RandomContents.make(store, &generator, kinds: 0...1)
    let note = try entity("Note")
    let builder = RowGroupBuilder(entity: note)
    let picture = try #require(note.ordinal(ofProperty: "picture"))
    var values = Self.empty(note)
    values[picture] = .binary(Data((0..<pictureLength).map { UInt8(truncatingIfNeeded: $0 * 31) }))
    builder.append(.uuid(UUID()), version: 1, values: values)
    let groups = contents.table(of: note).groups + [builder.sealed()]
    contents = try contents.replacing("Note", with: groups)
    try set(store.write(contents))
  }

  private func entity(_ name: String) throws -> EntityDescription {
    try #require(store.model.entity(named: name))
  }

  private static func empty(_ entity: EntityDescription) -> [PropertyValue] {
    entity.properties.map { $0.relationship?.isToMany ?? false ? .toMany([]) : .null }
  }

  /// Some records updated in some of their properties, some deleted, some inserted.
  private func changes(_ contents: StoreContents, _ generator: inout SeededGenerator) throws -> ChangeSet {
    var changes = ChangeSet()
    for entity in contents.entities where !entity.isAbstract {
      for node in contents.nodes(of: entity) where !Self.isLarge(node) {
        switch Int.random(in: 0...39, using: &generator) {
        case 0: changes.deleted.append(RecordDeletion(objectID: node.objectID, baseVersion: node.version))
        case 1, 2:
          let ordinals = entity.properties.indices.filter { ordinal in
            !entity.properties[ordinal].isTransient && Int.random(in: 0...2, using: &generator) == 0
          }
          let values = ordinals.map { ($0, RandomContents.value(entity, $0, contents, &generator)) }
          changes.updated.append(
            RecordUpdate(objectID: node.objectID, baseVersion: node.version, values: values)
          )
        default: break
        }
      }
      let scope = ObjectIDScope(storeIdentifier: nil, entity: entity)
      for _ in 0..<Int.random(in: 0...2, using: &generator) {
        let values = entity.properties.indices.map { RandomContents.value(entity, $0, contents, &generator) }
        changes.inserted.append(ObjectSnapshot(objectID: .temporary(in: scope), version: 0, values: values))
      }
    }
    return changes
  }

  /// Whether a record is the one that makes the file long.
  private static func isLarge(_ node: AtomicStoreCacheNode) -> Bool {
    guard node.entity.name == "Note", case .binary(let data) = node["picture"] else { return false }
    return data.count > 1000
  }

  /// A change of the number of one task, which is made if there is none.
  private func oneChange(_ engine: AtomicStoreEngine, order: Int64) throws -> ChangeSet {
    let task = try entity("Task")
    let ordinal = try #require(task.ordinal(ofProperty: "order"))
    var changes = ChangeSet()
    if let node = try engine.contents().nodes(of: task).first(where: { _ in true }) {
      changes.updated = [
        RecordUpdate(objectID: node.objectID, baseVersion: node.version, values: [(ordinal, .integer(order))])
      ]
    } else {
      var values = Self.empty(task)
      values[ordinal] = .integer(order)
      let scope = ObjectIDScope(storeIdentifier: nil, entity: task)
      changes.inserted = [ObjectSnapshot(objectID: .temporary(in: scope), version: 0, values: values)]
    }
    return changes
  }

  private func appendedCount() throws -> UInt64 {
    try #require(try BinaryFile(SampleStore.input(bytes)).log).newest.number
  }

  // MARK: What is added

  @Test(arguments: 200..<216)
  func whatIsAddedIsReadAgain(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var options = StoreOptions()
    if seed % 2 == 0 { options[.tracksPersistentHistory] = true }
    try create(&generator)
    var engine = try open(nil, options)
    var longest: UInt64 = 0
    for step in 0..<12 {
      if Int.random(in: 0...2, using: &generator) == 0 { engine = try open(nil, options) }
      _ = try engine.save(changes(engine.contents(), &generator), origin: SaveOrigin(author: "step \(step)"))
      let (saved, read) = (try engine.contents(), try open(nil, options))
      for (count, table) in zip(try read.counts(), saved.tables) { #expect(count == table.count) }
      #expect(try read.contents().records == saved.records, "seed \(seed), step \(step)")
      #expect(try read.history()?.lastNumber == engine.history()?.lastNumber)
      longest = try max(longest, appendedCount())
    }
    #expect(longest > 1, "seed \(seed): no save was added")
    // Written as a whole, it is what a file that never grew is.
    options[.binaryAddsSavesToFile] = false
    let last = try open(nil, options)
    _ = try last.save(oneChange(last, order: 7))
    #expect(try appendedCount() == 0)
    #expect(try open(nil, options).contents().records == last.contents().records)
  }

  @Test func onlyTheEndAndTheFrontAreWritten() throws {
    var generator = SeededGenerator(seed: 1)
    try create(&generator)
    let (before, engine) = (try bytes, try open())
    _ = try engine.save(oneChange(engine, order: 1))
    let after = try bytes
    #expect(after.count > before.count && after.count < before.count + 1024)
    #expect(after[BinarySlot.frontLength..<before.count] == before[BinarySlot.frontLength...])
    #expect(after[..<BinarySlot.offsets[1]] == before[..<BinarySlot.offsets[1]])
  }

  @Test func shortFilesAndGreatChangesAreWrittenAsAWhole() throws {
    var generator = SeededGenerator(seed: 2)
    try create(&generator, pictureLength: 1000)
    let short = try open()
    _ = try short.save(oneChange(short, order: 1))
    #expect(try BinaryFile(SampleStore.input(bytes)).log == nil)
    try create(&generator)
    let engine = try open()
    let note = try entity("Note")
    let picture = try #require(note.ordinal(ofProperty: "picture"))
    var change = try oneChange(engine, order: 1)
    let node = try #require(try engine.contents().nodes(of: note).first { _ in true })
    change.updated.append(
      RecordUpdate(
        objectID: node.objectID,
        baseVersion: node.version,
        values: [(picture, .binary(Data(repeating: 1, count: 90_000)))]
      )
    )
    _ = try engine.save(change)
    #expect(try appendedCount() == 0)
  }

  /// The columns of a file are in the order of the model that it was written with, also those of tables without records.
  @Test func aFileInAnotherOrderIsWrittenAsAWhole() throws {
    var generator = SeededGenerator(seed: 13)
    try create(&generator)
    let engine = try open()
    try set(store.write(engine.contents().replacing("Task", with: [])))
    var task = SampleModel.task
    task.properties.reverse()
    let model = try ManagedObjectModel(
      entities: [SampleModel.item, SampleModel.note, task, SampleModel.project, SampleModel.tag],
      versionIdentifiers: ["1"]
    )
    let setup = try SampleStore(model).setup
    let other = try AtomicStoreEngine.open(AtomicClassFormat(BinaryStore.self), setup: setup, fileSystem: fileSystem)
    let entity = try #require(model.entity(named: "Task"))
    var values = Self.empty(entity)
    values[try #require(entity.ordinal(ofProperty: "order"))] = .integer(7)
    let scope = ObjectIDScope(storeIdentifier: nil, entity: entity)
    var changes = ChangeSet()
    changes.inserted = [ObjectSnapshot(objectID: .temporary(in: scope), version: 0, values: values)]
    _ = try other.save(changes)
    #expect(try appendedCount() == 0)
    let read = try open().contents()
    #expect(try read.nodes(of: self.entity("Task")).map { $0["order"] } == [.integer(7)])
  }

  @Test func theFileStaysShort() throws {
    var generator = SeededGenerator(seed: 3)
    try create(&generator)
    let (engine, length) = (try open(), try bytes.count)
    var wholeCount = 0
    for number in 0..<1500 {
      _ = try engine.save(oneChange(engine, order: Int64(number)))
      #expect(try bytes.count * 10 <= length * 16)
      if try appendedCount() == 0 { wholeCount += 1 }
    }
    #expect(wholeCount > 0 && wholeCount < 10)
    #expect(try open().contents().records == engine.contents().records)
  }

  @Test func metadataAreSetAndKept() throws {
    var generator = SeededGenerator(seed: 4)
    try create(&generator)
    let engine = try open()
    _ = try engine.save(oneChange(engine, order: 1))
    let storeManager = StoreManager(
      model: store.model,
      registry: try StoreRegistry([BinaryStore.self]),
      fileSystem: fileSystem
    )
    let request = StoreManager.Request(type: .binary, path: SampleStore.path, options: StoreOptions())
    var metadata = try storeManager.metadata(request)
    metadata.userInfo["author"] = .string("Zoë")
    try storeManager.setMetadata(metadata, request)
    #expect(try appendedCount() == 1, "the metadata are written in place")
    let second = try open()
    #expect(second.metadata.userInfo == ["author": .string("Zoë")])
    #expect(try second.contents().records == engine.contents().records)
    _ = try second.save(oneChange(second, order: 2))
    #expect(try appendedCount() == 2)
    try second.setUserInfo(["author": .string("Ada")])
    _ = try second.save(oneChange(second, order: 3))
    #expect(try appendedCount() == 0, "other metadata take a whole file")
    #expect(try open().metadata.userInfo == ["author": .string("Ada")])
  }

  // MARK: Other processes

  @Test func anotherProcessIsNoticed() throws {
    var generator = SeededGenerator(seed: 5)
    try create(&generator)
    let (first, second, reader) = (try open(), try open(), try open())
    let old = try reader.contents().records
    _ = try first.save(oneChange(first, order: 1))
    let error = #expect(throws: PersistenceError.self) { try second.save(oneChange(second, order: 2)) }
    #expect(error?.code == .fileChangedOnDisk)
    #expect(try reader.contents().records == old)
    _ = try first.save(oneChange(first, order: 3))
    #expect(try appendedCount() == 2)
    #expect(try open().contents().records == first.contents().records)
  }

  // MARK: Crashes and failures

  /// The world stops at each step of a save.
  @Test func theWorldStopsAtEachStep() throws {
    var generator = SeededGenerator(seed: 6)
    try create(&generator)
    let engine = try open()
    _ = try engine.save(oneChange(engine, order: 1))
    let (start, old) = (try bytes, try engine.contents().records)
    for step in 1...1000 {
      try set(start)
      let files = FaultInjectingFileSystem(wrapping: fileSystem)
      let crashing = try open(files)
      let change = try oneChange(crashing, order: 2)
      files.restart()
      let alive = try open(files)
      let opened = files.operations.count
      files.crash(atOperation: opened + step)
      let isSaved = (try? alive.save(change)) != nil
      let isOver = !files.hasCrashed
      files.restart()
      let found = try open()
      #expect(try !isSaved || found.contents().records != old, "step \(step)")
      _ = try found.save(oneChange(found, order: 3))
      #expect(try open().contents().records == found.contents().records, "step \(step)")
      #expect(fileSystem.paths == [SampleStore.path])
      if isOver { return #expect(isSaved && step > 5) }
    }
    Issue.record("It never ends.")
  }

  @Test func everyStepFails() throws {
    var generator = SeededGenerator(seed: 7)
    try create(&generator)
    let first = try open()
    _ = try first.save(oneChange(first, order: 0))
    let start = try bytes
    for step in 1...1000 {
      try set(start)
      let files = FaultInjectingFileSystem(wrapping: fileSystem)
      let engine = try open(files)
      let old = try engine.contents().records
      let change = try oneChange(engine, order: Int64(step))
      let last = files.operations.count + step
      files.failOperation(last)
      let isSaved = (try? engine.save(change)) != nil
      let isOver = files.operations.count < last
      #expect(try isSaved == (engine.contents().records != old), "step \(step)")
      #expect(try open().contents().records == engine.contents().records, "step \(step)")
      if isOver { return #expect(isSaved && step > 5) }
      _ = try engine.save(oneChange(engine, order: -Int64(step)))
      #expect(try open().contents().records == engine.contents().records, "step \(step)")
    }
    Issue.record("It never ends.")
  }

  /// A disk that keeps any of the sectors that were written and not flushed, and half of one.
  @Test func anySectorsReachTheDisk() throws {
    var generator = SeededGenerator(seed: 8)
    try create(&generator)
    let engine = try open()
    var states = 0
    for save in 1...3 {
      let (before, old) = (try bytes, try engine.contents().records)
      var change = try oneChange(engine, order: Int64(save))
      change.inserted += try (0..<12).map { number in
        let task = try entity("Task")
        let scope = ObjectIDScope(storeIdentifier: nil, entity: task)
        return ObjectSnapshot(objectID: .temporary(in: scope), version: 0, values: Self.empty(task))
      }
      _ = try engine.save(change)
      let (after, new) = (try bytes, try engine.contents().records)
      for state in Self.crashStates(before, after) {
        try set(state)
        let found = try open()
        let records = try found.contents().records
        #expect(records == old || records == new)
        #expect(state.count < after.count || state[before.count...] != after[before.count...] || records == new)
        _ = try found.save(oneChange(found, order: 99))
        #expect(try open().contents().records == found.contents().records)
        states += 1
      }
      try set(after)
      _ = try engine.replaceStanding(fileSystem)
    }
    #expect(states > 60)
  }

  /// The states that a crash can leave: any sectors of the added bytes, each whole, half or as zeros, before the front
  /// is written; and then the front with any part of the sector that is written there.
  private static func crashStates(_ before: [UInt8], _ after: [UInt8]) -> [[UInt8]] {
    let sector = 512
    let added = before.count..<after.count
    let starts = Array(stride(from: added.lowerBound / sector * sector, to: added.upperBound, by: sector))
    var states: [[UInt8]] = [before]
    for choice in 0..<Int(pow(3, Double(starts.count))) {
      var state = after
      state.replaceSubrange(..<BinarySlot.frontLength, with: before[..<BinarySlot.frontLength])
      var rest = choice
      for start in starts {
        let range = max(start, added.lowerBound)..<min(start + sector, added.upperBound)
        let lost =
          switch rest % 3 {
          case 0: range
          case 1: ((range.lowerBound + range.upperBound) / 2)..<range.upperBound
          default: range.upperBound..<range.upperBound
          }
        state.replaceSubrange(lost, with: [UInt8](repeating: 0, count: lost.count))
        rest /= 3
      }
      states.append(state)
      states.append(Array(state.dropLast((after.count - before.count) / 2)))
    }
    for offset in BinarySlot.offsets {
      for part in stride(from: 0, through: BinarySlot.length, by: 8) {
        var state = after
        let lost = (offset + part)..<(offset + BinarySlot.length)
        state.replaceSubrange(lost, with: before[lost])
        states.append(state)
      }
    }
    return states
  }

  // MARK: Damage

  @Test func noDamageLosesASaveInSilence() throws {
    var generator = SeededGenerator(seed: 9)
    try create(&generator)
    let (engine, base) = (try open(), try bytes.count)
    for number in 1...3 { _ = try engine.save(oneChange(engine, order: Int64(number))) }
    let (whole, records) = (try bytes, try engine.contents().records)
    for length in base..<whole.count {
      #expect(DamageTests.refusal(of: Array(whole[..<length]), by: store)?.code == .fileCorrupt, "cut at \(length)")
    }
    for place in Array(0..<BinarySlot.frontLength) + Array(base..<whole.count) {
      var changed = whole
      changed[place] ^= 1 << UInt8(place % 8)
      let isInSlot = BinarySlot.offsets.contains { ($0..<($0 + BinarySlot.length)).contains(place) }
      if isInSlot {
        #expect(try store.read(changed).records == records, "byte \(place)")
      } else {
        #expect(DamageTests.refusal(of: changed, by: store)?.context.byteOffset != nil, "byte \(place)")
      }
    }
  }

  @Test func whatFollowsTheNewestSaveMeansNothing() throws {
    var generator = SeededGenerator(seed: 10)
    try create(&generator)
    let engine = try open()
    _ = try engine.save(oneChange(engine, order: 1))
    let records = try engine.contents().records
    try set(bytes + [UInt8](repeating: 7, count: 1000))
    let found = try open()
    #expect(try found.contents().records == records)
    _ = try found.save(oneChange(found, order: 2))
    #expect(try appendedCount() == 2)
    #expect(try open().contents().records == found.contents().records)
  }

  @Test func savesThatContradictTheFileAreRefused() throws {
    var generator = SeededGenerator(seed: 11)
    try create(&generator)
    let engine = try open()
    _ = try engine.save(oneChange(engine, order: 1))
    let whole = try bytes
    let log = try #require(try BinaryFile(SampleStore.input(whole)).log)
    let block = try #require(log.blocks.first)
    var refusals = 0
    for place in (block.range.lowerBound + BinaryBlock.headLength)..<block.range.upperBound {
      for value: UInt8 in [0, 1, 2, 0x7F, 0xFF] {
        let forged = Self.forged(whole, log, place: place, value: value)
        guard let forged else { continue }
        do {
          _ = try store.read(forged)
        } catch let error as PersistenceError {
          #expect([.fileCorrupt, .modelIncompatible].contains(error.code), "byte \(place) as \(value): \(error)")
          refusals += 1
        }
      }
    }
    #expect(refusals > 50)
  }

  /// The file with a byte of its only block changed, and checksums that hold.
  private static func forged(_ file: [UInt8], _ log: BinaryLog, place: Int, value: UInt8) -> [UInt8]? {
    guard file[place] != value, let block = log.blocks.first else { return nil }
    var forged = file
    forged[place] = value
    let bodyLength = forged.withUnsafeBytes {
      $0.loadUnaligned(fromByteOffset: block.range.lowerBound + 24, as: Int.self)
    }
    let head = block.range.lowerBound
    func set(_ number: UInt64, at offset: Int) {
      withUnsafeBytes(of: number.littleEndian) { forged.replaceSubrange(offset..<(offset + 8), with: $0) }
    }
    func hash(_ range: Range<Int>) -> UInt64 {
      forged.withUnsafeBytes { XXH64.hash(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
    set(hash((head + 64)..<(head + 64 + bodyLength)), at: head + 32)
    let chain = hash(head..<(head + 56))
    set(chain, at: head + 56)
    let slot = BinarySlot(number: 1, end: log.newest.end, baseEnd: log.baseEnd, chain: chain)
    forged.replaceSubrange(slot.patch.offset..<(slot.patch.offset + BinarySlot.length), with: slot.encoded)
    return forged
  }

  // MARK: Salvage

  @Test func savesBeforeTheDamageAreSalvaged() throws {
    var generator = SeededGenerator(seed: 12)
    try create(&generator)
    let engine = try open()
    var states = [try engine.contents().records]
    for number in 1...3 {
      _ = try engine.save(oneChange(engine, order: Int64(number)))
      states.append(try engine.contents().records)
    }
    let (whole, log) = (try bytes, try #require(try BinaryFile(SampleStore.input(bytes)).log))
    for (number, block) in log.blocks.enumerated() {
      var damaged = whole
      damaged[block.range.lowerBound + 70] ^= 1
      let (contents, losses) = try salvage(damaged)
      #expect(contents.records == states[number])
      #expect(losses.contains { $0.reason.contains("last \(3 - number) saves") })
    }
    var withoutFront = whole
    for offset in BinarySlot.offsets { withoutFront[offset] ^= 1 }
    #expect(try salvage(withoutFront).contents.records == states[3])
    #expect(try salvage(whole).losses.isEmpty)
  }

  private func salvage(_ bytes: [UInt8]) throws -> (contents: StoreContents, losses: [SalvageReport.Loss]) {
    let loader = StoreLoader(setup: store.setup, storeType: .binary)
    let salvage = StoreSalvage(loader)
    try BinaryStore(store.setup).salvage(try SampleStore.input(bytes), into: salvage)
    return (try loader.finish().verified(), salvage.losses)
  }
}

extension AtomicStoreEngine {
  /// The numbers of records, which need no verification.
  fileprivate func counts() throws -> [Int] {
    try setup.model.entities.map { try count(of: $0) }
  }

  /// Takes the file at the path for the one that was saved last, which it is again.
  fileprivate func replaceStanding(_ fileSystem: InMemoryFileSystem) throws {
    guard let path = state.withLock({ $0.path }) else { return }
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    state.withLock { state in
      state.file = file
      state.standing = file.status.identity
    }
  }
}
