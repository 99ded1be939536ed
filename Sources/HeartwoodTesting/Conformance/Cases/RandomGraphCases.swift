import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// Random changes to a graph, with saves and reopened stores in between.
  var randomGraphCases: [ConformanceCase] {
    (UInt64(1)...8).map { seed in
      makeCase("keeps a random graph (seed \(seed))") { try $0.keepsRandomGraph(seed: seed) }
    }
  }

  private static let roundCount = 12
  private static let stepsPerRound = 15

  private func keepsRandomGraph(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    var open = try bench.open()
    for round in 1...Self.roundCount {
      let context = open.makeContext()
      for _ in 0..<Self.stepsPerRound { try open.takeRandomStep(in: context, &generator) }
      if generator.chance(oneIn: 8) { context.rollback() }
      try context.save()
      let findings = try ContentsValidation.findings(in: try open.contents(), limit: 5)
      try expect(findings.isEmpty, "expected a sound graph in round \(round) of seed \(seed), found \(findings)")
      if generator.chance(oneIn: 2) { open = try bench.expectReopensSame(open) }
    }
    try bench.expectReopensSame(open)
  }
}

extension OpenStore {
  /// Inserts, changes, relates or deletes an object.
  func takeRandomStep(in context: ManagedObjectContext, _ generator: inout SeededGenerator) throws {
    let objects = try allObjects(in: context)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<4:
      guard let entity = concreteEntities.randomElement(using: &generator) else { return }
      try setRandomAttributes(of: try context.insert(entityName: entity.name), &generator)
    case 4..<6:
      guard let object = objects.randomElement(using: &generator) else { return }
      try setRandomAttributes(of: object, &generator)
    case 6..<9:
      guard let object = objects.randomElement(using: &generator) else { return }
      try object.linkRandomly(among: objects, &generator)
    default:
      objects.randomElement(using: &generator).map(context.delete)
    }
  }

  /// Saves random relationships between all objects.
  func linkRandomly(_ generator: inout SeededGenerator) throws {
    let context = makeContext()
    let objects = try allObjects(in: context)
    for object in objects { try object.linkRandomly(among: objects, &generator) }
    try context.save()
  }

  func allObjects(in context: ManagedObjectContext) throws -> [ManagedObject] {
    try store.entities.filter { $0.superentity == nil }.flatMap { root in
      try context.fetch(entityName: root.name).filter { !$0.isDeleted }
    }
  }
}

extension ManagedObject {
  /// Sets a random relationship to some of `objects`, or to none.
  func linkRandomly(among objects: [ManagedObject], _ generator: inout SeededGenerator) throws {
    guard let relationship = entity.relationships.randomElement(using: &generator) else { return }
    let candidates = objects.filter { $0.isOf(relationship.destinationEntityName) }
    let chosen = (0..<Int.random(in: 0...3, using: &generator)).compactMap { _ in
      candidates.randomElement(using: &generator)?.objectID
    }
    let value: PropertyValue =
      relationship.isToMany ? .toMany(chosen) : chosen.first.map(PropertyValue.toOne) ?? .null
    try setPropertyValue(value, forKey: relationship.name)
  }

  private func isOf(_ entityName: String) -> Bool {
    var ancestor: EntityDescription? = entity
    while let current = ancestor, current.name != entityName { ancestor = current.superentity }
    return ancestor != nil
  }
}

// MARK: PiecemealCases

extension StoreConformance {
  /// Records that are read and saved individually are complete, also if others change the store.
  var piecemealCases: [ConformanceCase] {
    if !reachesFilesItself { return [] }
    return [
      makeCase("sees each kind of change that others save", needs: .place) { try $0.seesWhatOthersSave() },
      makeCase("takes what others save when too much was read to be compared", needs: .place) {
        try $0.takesSavesWithoutComparing()
      },
      makeCase("keeps what objects have read when it forgets what it has read") { try $0.forgetsWhatWasRead() },
      makeCase("reads hundreds of records by what they are called", needs: .place) { try $0.readsManyByReference() },
    ]
  }

  /// Makes one kind of change at a time, because a store's change mark may miss a kind.
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
    guard capabilities.supports(.relationships) else { return }
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

  private func takesSavesWithoutComparing() throws {
    let bench = try smallBench()
    try bench.open().insertRandom(6, seed: 1)
    var forgetting = self
    forgetting.options = { [options] model in
      var options = options(model)
      options[.recordsComparedAtOnce] = 0
      return options
    }
    let (mine, theirs) = (try bench.with(forgetting).open(), try bench.open())
    let context = mine.makeContext()
    let objects = try context.fetch(entityName: ModelMaker.entity)
    let values = try objects.map(Self.values)
    try Self.changeAll(theirs, seed: 3)
    let found = try context.fetch(entityName: ModelMaker.entity)
    try expect("the objects after others have saved", is: Set(objects), found: Set(found))
    try expect("what the objects have read", is: values, found: try objects.map(Self.values))
    context.refreshAllObjects()
    _ = try objects.map(Self.values)
    try expectSameRecords(try mine.contents(), as: try theirs.contents(), "a store whose records others have changed")
    try Self.changeAll(theirs, seed: 4)
    var generator = SeededGenerator(seed: 5)
    let object = try unwrap(objects.first, "an object")
    repeat { try mine.setRandomAttributes(of: object, &generator) } while !context.hasChanges
    try expectError(.saveConflict, when: "a record is saved that others have changed") { try context.save() }
  }

  private static func values(_ object: ManagedObject) throws -> [PropertyValue] {
    try object.entity.attributes.map { try object.propertyValue(forKey: $0.name) }
  }

  /// Gives all records other values.
  private static func changeAll(_ open: OpenStore, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let context = open.makeContext()
    for object in try context.fetch(entityName: ModelMaker.entity) {
      repeat { try open.setRandomAttributes(of: object, &generator) } while !object.hasPersistentChangedValues
    }
    try context.save()
  }

  private func forgetsWhatWasRead() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(700, seed: 1)
    let context = open.makeContext()
    // Less than half of the records: if more are needed, all are read.
    let objects = try Array(context.fetch(entityName: ModelMaker.entity).prefix(300))
    let values = try objects.map(Self.values)
    for _ in 1...2 {
      open.store.engine.forgetRecords(evenHeld: true)
      try expect("how many records there are", is: 700, found: try context.count(entityName: ModelMaker.entity))
      try expect("what the objects have read", is: values, found: try objects.map(Self.values))
      let found = try context.fetch(entityName: ModelMaker.entity)
      try expect(Set(found).isSuperset(of: objects), "expected each record to have one object, found another one")
      for object in objects.prefix(200) { context.refresh(object, mergeChanges: false) }
    }
  }

  private func readsManyByReference() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(600, seed: 1)
    let expected = try open.contents()
    let entity = try unwrap(open.concreteEntities.first, "an entity")
    // Half of the records: if more are needed, all are read.
    let references = expected.nodes(of: entity).map(\.reference).enumerated().filter { $0.offset % 2 == 0 }
      .map(\.element)
    let unread = try bench.reopened(open)
    let table = try unread.store.engine.table(of: entity, reading: references)
    for reference in references {
      _ = try unwrap(try table.row(of: reference), "the record \(reference.text) among \(references.count)")
    }
    // Records that have been read already may come first.
    try expectSameRecords(
      try unread.contents(),
      as: expected,
      "a store half of whose records were read by their references"
    )
  }
}
