import Heartwood
import HeartwoodFoundation
import HeartwoodStore

extension StoreConformance {
  /// The identity and the metadata of a store are read and set, with and without opening it.
  var metadataCases: [ConformanceCase] {
    [
      makeCase("keeps its identifier", needs: .place) { try $0.keepsItsIdentifier() },
      makeCase("tells its metadata without being opened", needs: .place) { try $0.tellsMetadataUnopened() },
      makeCase("takes another identifier without being opened", needs: .place) { try $0.takesIdentifierUnopened() },
      makeCase("keeps the user's metadata", needs: .userMetadata) { try $0.keepsUserMetadata() },
      makeCase("takes the user's metadata without being opened", needs: .place, .userMetadata) {
        try $0.takesUserMetadataUnopened()
      },
      makeCase("does not overwrite metadata that somebody else has set", needs: .place) { conformance in
        try conformance.withEachDisk { try conformance.noticesOtherMetadata($0) }
      },
      makeCase("keeps its model", needs: .place, .embeddedModel) { try $0.keepsItsModel() },
      makeCase("notices another version of the model", needs: .place, .modelVersion) { try $0.noticesOtherModel() },
    ] + (reachesFilesItself ? [] : [crashesOfSettingMetadata])
  }

  private var crashesOfSettingMetadata: ConformanceCase {
    makeCase("survives the end of the process at each step of setting its metadata", needs: .file) {
      try $0.survivesCrashesOfSettingMetadata()
    }
  }

  func smallBench(_ disk: ConformanceDisk? = nil) throws -> Workbench {
    try Workbench(self, model: try ModelMaker(capabilities).smallest(), disk: disk)
  }

  private func keepsItsIdentifier() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(2, seed: 1)
    for _ in 1...3 {
      let reopened = try bench.open()
      try expect("the identifier of the reopened store", is: open.store.identifier, found: reopened.store.identifier)
      try reopened.insertRandom(1, seed: 2)
    }
    let other = try bench.open("other")
    try expect(other.store.identifier != open.store.identifier, "expected a new store to get an identifier of its own")
  }

  func metadata(_ bench: Workbench) throws -> StoreMetadata {
    try bench.makeCoordinator().metadataForPersistentStore(
      type: type,
      at: try unwrap(bench.url(), "a place"),
      options: bench.options
    )
  }

  private func tellsMetadataUnopened() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(2, seed: 1)
    let before = try bench.bytes()
    let found = try metadata(bench)
    try expect("the identifier", is: open.store.identifier, found: found.identifier)
    try expect("the store type", is: type, found: found.storeType)
    try expect("the opened store's metadata", is: found, found: try bench.open().store.metadata)
    try expect(try bench.bytes() == before, "expected reading not to change the file")
    try expectError(.fileNotFound, when: "the metadata of no file are read") {
      _ = try bench.makeCoordinator().metadataForPersistentStore(
        type: type,
        at: try unwrap(bench.url("none"), "a place")
      )
    }
  }

  func set(_ metadata: StoreMetadata, _ bench: Workbench) throws {
    try bench.makeCoordinator().setMetadata(
      metadata,
      type: type,
      at: try unwrap(bench.url(), "a place"),
      options: bench.options
    )
  }

  private func takesIdentifierUnopened() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(5, seed: 1)
    var changed = open.store.metadata
    changed.identifier = UUID()
    try set(changed, bench)
    try expect("the identifier", is: changed.identifier, found: try metadata(bench).identifier)
    var expected = try open.contents()
    expected.metadata = changed
    try expectSame(try bench.open().contents(), as: expected, "the store with another identifier")
  }

  private static let userInfo: [String: MetadataValue] = [
    "string": .string("a, \"b\"\n😀"), "": .string(""), "integer": .integer(.min), "double": .double(0.1),
    "boolean": true, "date": .date(Date(timeIntervalSinceReferenceDate: -0.5)), "binary": .binary(Data([0, 255, 10])),
    "array": .array([.integer(1), .array([]), .string("1")]), "dictionary": .dictionary(["a b": .dictionary([:])]),
    "true?": .integer(1), "whole": .double(1),
  ]

  private func keepsUserMetadata() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.store.setUserInfo(Self.userInfo)
    try open.insertRandom(2, seed: 1)
    let reopened = try bench.reopened(open)
    try expect("the user's metadata", is: Self.userInfo, found: reopened.store.metadata.userInfo)
    try reopened.store.setUserInfo([:])
    try reopened.insertRandom(1, seed: 2)
    try expect("the user's metadata", is: [:], found: try bench.reopened(reopened).store.metadata.userInfo)
  }

  private func takesUserMetadataUnopened() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(3, seed: 1)
    var changed = open.store.metadata
    changed.userInfo = Self.userInfo
    try set(changed, bench)
    try expect("the user's metadata", is: Self.userInfo, found: try metadata(bench).userInfo)
    var expected = try open.contents()
    expected.metadata = changed
    try expectSame(try bench.open().contents(), as: expected, "the store with the user's metadata")
  }

  /// Returns metadata with a change that affects as little as possible.
  func changed(_ metadata: StoreMetadata) -> StoreMetadata {
    var changed = metadata
    if capabilities.supports(.userMetadata) {
      changed.userInfo["author"] = .string("Zoë, \"\n😀")
    } else {
      changed.identifier = UUID()
    }
    return changed
  }

  private func survivesCrashesOfSettingMetadata() throws {
    for step in 1...Self.mostSteps {
      let bench = try smallBench()
      let open = try bench.open()
      try open.insertRandom(5, seed: 1)
      var expected = try open.contents()
      let old = try metadata(bench)
      let new = changed(old)
      let faults = FaultInjectingFileSystem(wrapping: bench.disk.fileSystem)
      faults.crash(atOperation: step)
      let hasSet = (try? set(new, bench.seen(through: faults))) != nil
      let isOver = !faults.hasCrashed
      let when = "when the process ends at step \(step) of setting its metadata (\(faults.operation(step)))"
      faults.restart()
      let found = try metadata(bench)
      try expect(
        found == new || !hasSet && found == old,
        "expected the old metadata or the new \(when), found \(found)"
      )
      expected.metadata = found
      try expectSame(try bench.open().contents(), as: expected, "the store \(when)")
      try set(new, bench)
      try expect("the metadata that are set again \(when)", is: new, found: try metadata(bench))
      try bench.expectFiles(when)
      if isOver { return try expect(hasSet, "expected metadata to be set when nothing happens") }
    }
    throw ConformanceFailure("expected setting metadata to take fewer than \(Self.mostSteps) steps")
  }

  private func noticesOtherMetadata(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    try bench.open().insertRandom(5, seed: 1)
    let mine = try bench.open()
    let new = changed(try metadata(bench))
    try set(new, bench)
    if reachesFilesItself {
      // A save of an incremental store does not change the rest.
      try mine.insertRandom(1, seed: 2)
      try expect("the metadata that the open store tells", is: new.userInfo, found: mine.store.metadata.userInfo)
    } else {
      try expectError(.fileChangedOnDisk, when: "somebody else has set the metadata meanwhile") {
        try mine.insertRandom(1, seed: 2)
      }
    }
    try expect("the metadata that somebody else has set", is: new, found: try metadata(bench))
  }

  private func keepsItsModel() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    try bench.open().insertRandom(3, seed: 1)
    let model = try unwrap(try keptModel(bench), "the model that it was written with")
    if model == bench.model { return }
    let changes = ModelDifferences(from: bench.model, to: model).changes.prefix(3).map { "\($0)" }
    let what = changes.isEmpty ? "another" : changes.joined(separator: "; ")
    throw ConformanceFailure("expected the file to name the model that it was written with, found \(what)")
  }

  /// Returns the model that is stored with a store, without opening it.
  func keptModel(_ bench: Workbench) throws -> ManagedObjectModel? {
    let registry = try bench.makeCoordinator().registry
    let storeManager = StoreManager(model: bench.model, registry: registry, fileSystem: bench.fileSystem)
    return try storeManager.embeddedModel(
      .init(type: type, place: bench.url().map { StorePlace($0) }, options: bench.options)
    )
  }

  private func noticesOtherModel() throws {
    let bench = try smallBench()
    try bench.open().insertRandom(3, seed: 1)
    let hashes = try metadata(bench).modelVersionHashes
    let expected = Dictionary(uniqueKeysWithValues: bench.model.entities.map { ($0.name, $0.versionHash) })
    try expect("the version hashes of the model", is: expected, found: hashes)
    let changed = try Workbench(self, model: try ModelMaker(capabilities).changed(), disk: bench.disk)
    try expectError(.modelIncompatible, when: "it is opened with another version of the model") {
      _ = try changed.open()
    }
  }
}
