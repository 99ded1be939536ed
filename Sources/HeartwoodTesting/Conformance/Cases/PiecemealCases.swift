import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// What is read and saved piecemeal is what is there, and what others make of it.
  var piecemealCases: [ConformanceCase] {
    if !reachesFilesItself { return [] }
    return [
      makeCase("sees each kind of change that others save", needs: .file) { try $0.seesWhatOthersSave() },
      makeCase("gives no reference of a deleted record again") { try $0.givesReferencesOnce() },
      makeCase("reads hundreds of records by what they are called", needs: .file) { try $0.readsManyByReference() },
    ]
  }

  /// One kind of change at a time: a change mark may miss one of them.
  private func seesWhatOthersSave() throws {
    let bench = try smallBench()
    let (mine, theirs) = (try bench.open(), try bench.open())
    var generator = SeededGenerator(seed: 2)
    try expectSeen(by: mine, "inserted", theirs) { try theirs.insertRandom(6, seed: 1) }
    try expectSeen(by: mine, "changed", theirs) {
      let context = theirs.makeContext()
      for object in try context.fetch(entityName: ModelMaker.entity) {
        try theirs.setRandomAttributes(of: object, &generator)
      }
      try context.save()
    }
    try expectSeen(by: mine, "deleted", theirs) {
      let context = theirs.makeContext()
      context.delete(try unwrap(try context.fetch(entityName: ModelMaker.entity).first, "a record"))
      try context.save()
    }
    guard capabilities.supportsRelationships else { return }
    let other = try Workbench(self, model: try ModelMaker(capabilities).leadingToItself())
    try other.open().insertRandom(6, seed: 1)
    let (reader, linker) = (try other.open(), try other.open())
    for _ in 1...3 { try expectSeen(by: reader, "linked", linker) { try linker.linkRandomly(&generator) } }
  }

  private func expectSeen(
    by mine: OpenStore,
    _ what: String,
    _ theirs: OpenStore,
    _ change: () throws -> Void
  ) throws {
    try change()
    let (found, expected) = (try mine.contents(), try theirs.contents())
    try expectSameRecords(found, as: expected, "a store where somebody else has \(what) records")
    try expectSameVersions(found, as: expected, "a store where somebody else has \(what) records")
  }

  private func givesReferencesOnce() throws {
    let bench = try smallBench()
    var open = try bench.open()
    var seen: Set<ReferenceID> = []
    for _ in 1...3 {
      let context = open.makeContext()
      let object = try context.insert(entityName: ModelMaker.entity)
      try context.save()
      let reference = object.objectID.reference
      try expect(
        seen.insert(reference).inserted,
        "expected a new record to get a reference that none had before, found \(reference.text) again"
      )
      context.delete(object)
      try context.save()
      open = try bench.reopened(open)
    }
  }

  private func readsManyByReference() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(600, seed: 1)
    let expected = try open.contents()
    let entity = try unwrap(open.concreteEntities.first, "an entity")
    // Half of them: where it is more, all are read.
    let references = expected.nodes(of: entity).map(\.reference).enumerated().filter { $0.offset % 2 == 0 }
      .map(\.element)
    let unread = try bench.reopened(open)
    let table = try unread.store.engine.table(of: entity, reading: references)
    for reference in references {
      _ = try unwrap(try table.row(of: reference), "the record \(reference.text) among \(references.count)")
    }
    // What was read by then may come first.
    try expectSameRecords(
      try unread.contents(),
      as: expected,
      "a store half of whose records were read by their references"
    )
  }
}
