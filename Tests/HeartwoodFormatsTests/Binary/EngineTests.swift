import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodFormats

/// The store as the framework drives it.
@Suite struct EngineTests {
  private let store: SampleStore
  private let fileSystem = InMemoryFileSystem()

  init() throws {
    store = try SampleStore(SampleModel.make())
  }

  private func open() throws -> AtomicStoreEngine {
    try AtomicStoreEngine.open(AtomicClassFormat(BinaryStore.self), setup: store.setup, fileSystem: fileSystem)
  }

  private func bytes() throws -> [UInt8] {
    try #require(fileSystem.contents(ofFileAtPath: SampleStore.path))
  }

  private func create(_ contents: StoreContents) throws -> AtomicStoreEngine {
    try AtomicStoreEngine.create(
      AtomicClassFormat(BinaryStore.self),
      contents: contents,
      setup: store.setup,
      fileSystem: fileSystem,
      replacing: false
    )
  }

  @Test(arguments: 100..<108)
  func savesAfterSaves(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    _ = try create(try RandomContents.make(store, &generator))
    var engine = try open()
    for step in 0..<6 {
      if Bool.random(using: &generator) { engine = try open() }
      let changes = try self.changes(engine.contents(), &generator)
      _ = try engine.save(changes)
      let saved = try engine.contents()
      #expect(try open().contents().records == saved.records, "seed \(seed), step \(step)")
      #expect(try bytes() == store.write(saved), "seed \(seed), step \(step)")
    }
  }

  /// Some records updated, some deleted, some inserted.
  private func changes(_ contents: StoreContents, _ generator: inout SeededGenerator) throws -> ChangeSet {
    var changes = ChangeSet()
    let task = try #require(contents.model.entity(named: "Task"))
    let order = try #require(task.ordinal(ofProperty: "order"))
    for node in contents.nodes(of: task) {
      switch Int.random(in: 0...9, using: &generator) {
      case 0: changes.deleted.append(RecordDeletion(objectID: node.objectID, baseVersion: node.version))
      case 1:
        let value = PropertyValue.integer(Int64.random(in: 0...99, using: &generator))
        changes.updated.append(
          RecordUpdate(objectID: node.objectID, baseVersion: node.version, values: [(order, value)])
        )
      default: break
      }
    }
    let scope = ObjectIDScope(storeIdentifier: nil, entity: task)
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      let values = task.properties.map { property -> PropertyValue in
        property.relationship?.isToMany ?? false ? .toMany([]) : .null
      }
      changes.inserted.append(ObjectSnapshot(objectID: .temporary(in: scope), version: 0, values: values))
    }
    return changes
  }

  @Test func aSaveThatChangesNothingGivesTheSameBytes() throws {
    _ = try create(try GoldenSample.contents())
    let before = try bytes()
    _ = try open().save(ChangeSet())
    #expect(try bytes() == before)
  }

  @Test func countingNeedsNoVerification() throws {
    _ = try create(try GoldenSample.contents())
    var changed = try bytes()
    let file = try BinaryFile(SampleStore.input(changed))
    let table = try #require(file.directory.tables.first { $0.entityName == "Tag" })
    changed[file.directory.sections[table.groups[0].firstSection].offset] ^= 1
    try fileSystem.setContents(changed, ofFileAtPath: SampleStore.path)
    let engine = try open()
    let tag = try #require(store.model.entity(named: "Tag"))
    #expect(try engine.count(of: tag) == 4)
    for _ in 0..<2 {
      #expect { try engine.table(of: tag) } throws: { ($0 as? PersistenceError)?.code == .fileCorrupt }
    }
    #expect { try engine.save(ChangeSet()) } throws: { ($0 as? PersistenceError)?.code == .fileCorrupt }
    #expect(try bytes() == changed)
  }

  @Test func aFileOnTheDisk() throws {
    let folder = try ScratchFolder()
    let setup = StoreSetup(
      model: store.model,
      configurationName: nil,
      entities: store.model.entities,
      path: folder.path("golden.heartwood"),
      options: StoreOptions()
    )
    let contents = try GoldenSample.contents()
    let engine = try AtomicStoreEngine.create(
      AtomicClassFormat(BinaryStore.self),
      contents: contents,
      setup: setup,
      fileSystem: POSIXFileSystem(),
      replacing: false
    )
    let reader = try AtomicStoreEngine.open(
      AtomicClassFormat(BinaryStore.self),
      setup: setup,
      fileSystem: POSIXFileSystem()
    )
    _ = try engine.save(ChangeSet())
    #expect(try reader.contents().records == contents.records, "an open store reads on from the file that was replaced")
  }
}
