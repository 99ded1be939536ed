import Heartwood
import HeartwoodFoundation
import HeartwoodStore

extension StoreConformance {
  /// A store can be converted to every other type that can hold the same model.
  var conversionCases: [ConformanceCase] {
    StoreRegistry.default.typeDescriptions.filter { $0.type != type }.map { other in
      makeCase("is converted to \(other.type) and back") { try $0.converts(to: other) }
    } + [
      makeCase("is copied by being converted to its own type", needs: .place) { try $0.copies() },
      makeCase("does not replace a file unless it is told to", needs: .place) { conformance in
        try conformance.withEachDisk { try conformance.doesNotReplace($0) }
      },
    ] + (reachesFilesItself ? [versionsOfConverted] : [])
  }

  private var versionsOfConverted: ConformanceCase {
    makeCase("keeps the versions of records that are converted to it", needs: .place) { try $0.keepsVersions() }
  }

  private func keepsVersions() throws {
    let bench = try smallBench()
    let source = try bench.openInMemory()
    try source.insertRandom(4, seed: 1)
    for seed in UInt64(2)...3 { try source.editRecords(seed: seed) }
    let open = try bench.convert(source)
    // `contents()` would read the records from the file.
    let written = try open.store.entities.map { try open.store.engine.knownTable(of: $0).table }
    let found = try bench.reopened(open).contents()
    var expected = found
    for table in written { expected.tables[table.entity.ordinal] = table }
    try expectSameVersions(found, as: expected, "what was converted from memory")
  }

  private func converts(to other: StoreTypeDescription) throws {
    let model = try ModelMaker(capabilities, and: other.capabilities).richest()
    let bench = try Workbench(self, model: model)
    var source = try bench.openInMemory()
    // The values that the other type refuses are not known here.
    source.refuses = { value, type in self.refuses(value, type) || !NearDates.contain(value) }
    let kinds = capabilities.referenceKinds.filter(other.capabilities.referenceKinds.contains)
    // After the greatest number, there is none left for new records.
    let names = kinds.flatMap { ReferenceNames.samples(of: $0).prefix(3) }.filter { $0 != .integer(.max - 1) }
    try source.insert(names, seed: 1)
    try source.insertRandom(20, seed: 2)
    var generator = SeededGenerator(seed: 3)
    try source.linkRandomly(&generator)
    let expected = try source.contents()
    let open = try bench.convert(source)
    try expectConverted(try bench.reopened(open).contents(), as: expected, "what was converted from memory")
    let converted = try convert(open, to: other, bench)
    try expectConverted(try converted.contents(), as: expected, "what was converted to \(other.type)")
    let back = try bench.convert(converted, to: "back")
    try expectConverted(
      try bench.reopened(back, "back").contents(),
      as: expected,
      "what was converted to \(other.type) and back"
    )
  }

  /// Fails unless the store has the same contents as the one that was converted to this type. An incremental store may
  /// assign other references if it cannot have the same ones, and may order records by their references.
  func expectConverted(_ found: StoreContents, as expected: StoreContents, _ what: String) throws {
    guard reachesFilesItself else { return try expectSame(found, as: expected, what) }
    let kinds = Set(expected.nodes.map(\.reference.kind))
    guard kinds.isSubset(of: capabilities.referenceKinds) else {
      for entity in expected.entities {
        let counts = [expected, found].map { $0.table(of: entity).count }
        try expect("the number of \(entity.name) of \(what)", is: counts[0], found: counts[1])
      }
      return try expectSame(found, as: try expected.named(as: found), what)
    }
    try expectSameRecords(found, as: expected, what)
  }

  /// Converts the store to another type, and opens the new file.
  private func convert(_ open: OpenStore, to other: StoreTypeDescription, _ bench: Workbench) throws -> OpenStore {
    let url = bench.url("other", type: other)
    let store = try open.coordinator.convert(open.store, to: url, type: other.type)
    guard url != nil else { return bench.openStore(store, in: open.coordinator) }
    let coordinator = try bench.makeCoordinator()
    return bench.openStore(try coordinator.addPersistentStore(type: other.type, at: url), in: coordinator)
  }

  private func copies() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    let open = try bench.open()
    try open.insertRandom(10, seed: 1)
    let expected = try open.contents()
    let before = try bench.bytes()
    try bench.convert(open, to: "copy")
    try expectSame(try bench.open("copy").contents(), as: expected, "the copy")
    // Closing an incremental store may change its file.
    if capabilities.kind == .atomic {
      try expect(try bench.bytes() == before, "expected the file that was copied to stay as it was")
    }
    try expectSame(try bench.open().contents(), as: expected, "what was copied")
  }

  private func doesNotReplace(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    try bench.open("other").insertRandom(3, seed: 1)
    let before = try bench.bytes("other")
    let open = try bench.open()
    try open.insertRandom(2, seed: 2)
    try expectError(.fileExists, when: "a file stands where a store is converted to") {
      try bench.convert(open, to: "other")
    }
    try expect(try bench.bytes("other") == before, "expected the file that stands there to stay as it was")
  }
}

extension StoreContents {
  /// Returns the same records with the references of another store, which has them in the same order.
  fileprivate func named(as other: StoreContents) throws -> StoreContents {
    try renamed { _, entity in
      var references = other.nodes(of: entity).map(\.reference).makeIterator()
      let table = table(of: entity)
      return table.groups.flatMap { group in
        // The references in the rows of deleted records are not used.
        (0..<group.rowCount).map { group.isLive($0) ? references.next() ?? .integer(0) : .integer(0) }
      }
    }
  }
}
