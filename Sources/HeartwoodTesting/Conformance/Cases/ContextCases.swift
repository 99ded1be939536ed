import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// Child contexts and pinned contexts work on any store.
  var contextCases: [ConformanceCase] {
    [
      makeCase("takes what a child context saves by way of its parent") { try $0.takesWhatChildrenSave() },
      makeCase("keeps the ids that new objects had before they were saved") { try $0.keepsEarlyIDs() },
      makeCase("lets a context stay at a version of the records") { try $0.staysAtVersion() },
    ]
  }

  private func takesWhatChildrenSave() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    let open = try bench.open()
    try open.insertRandom(12, seed: 1)
    let before = try open.contents()
    let child = ManagedObjectContext(parent: open.makeContext())
    try open.editRecords(in: child, seed: 2)
    try child.save()
    try expectSame(try open.contents(), as: before, "a store whose contexts have saved to each other only")
    try child.saveToPersistentStore()
    let values = try open.allValues(in: child)
    let reopened = try bench.expectReopensSame(open)
    try expect(
      "the values that a child has saved",
      is: values,
      found: try reopened.allValues(in: reopened.makeContext())
    )
  }

  private func keepsEarlyIDs() throws {
    let bench = try smallBench()
    let open = try bench.open()
    let context = open.makeContext()
    var generator = SeededGenerator(seed: 1)
    var objects: [ManagedObject] = []
    for _ in 0..<5 {
      objects.append(try context.insert(entityName: ModelMaker.entity))
      try open.setRandomAttributes(of: objects[objects.count - 1], &generator)
    }
    // The last object gets its id first.
    for object in objects.reversed() { try context.obtainPermanentIDs(for: [object]) }
    let ids = objects.map(\.objectID.reference)
    try context.save()
    try expect("the ids after the save", is: ids, found: objects.map(\.objectID.reference))
    let found = try bench.reopened(open).makeContext().fetch(entityName: ModelMaker.entity)
    try expect("the ids in the store", is: Set(ids), found: Set(found.map(\.objectID.reference)))
  }

  private func staysAtVersion() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    let open = try bench.open()
    try open.insertRandom(12, seed: 1)
    let context = open.makeContext()
    try context.setQueryGeneration(from: .current)
    let version = try open.allValues(in: open.makeContext())
    try open.editRecords(seed: 2)
    try open.insertRandom(6, seed: 3)
    try expect("the values at the version", is: version, found: try open.allValues(in: context))
    context.reset()
    try expect(
      "the values at the newest version",
      is: try open.allValues(in: open.makeContext()),
      found: try open.allValues(in: context)
    )
    try bench.expectReopensSame(open)
  }
}

extension OpenStore {
  /// Returns the values of all attributes in `context`, by the names of the records.
  func allValues(in context: ManagedObjectContext) throws -> [String: [PropertyValue]] {
    var values: [String: [PropertyValue]] = [:]
    for entity in concreteEntities {
      for object in try context.fetch(entityName: entity.name) where object.entity.name == entity.name {
        values["\(entity.name) \(object.objectID.reference.text)"] = try object.attributeValues()
      }
    }
    return values
  }
}

// MARK: EditingCases

extension StoreConformance {
  /// Inserted, changed and deleted records are so when the store is opened again.
  var editingCases: [ConformanceCase] {
    [
      makeCase("keeps insertions, changes and deletions") { try $0.keepsEdits() },
      makeCase("takes values away and gives them back") { try $0.takesValuesAway() },
      makeCase("loses nothing when nothing changes") { try $0.keepsContentUnchanged() },
    ]
  }

  private func keepsEdits() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    var open = try bench.open()
    for round in UInt64(1)...4 {
      try open.insertRandom(12, seed: round)
      try open.editRecords(seed: round)
      open = try bench.expectReopensSame(open)
    }
  }

  private func takesValuesAway() throws {
    let bench = try smallBench()
    var open = try bench.open()
    try open.insertRandom(6, seed: 1)
    for seed in UInt64(2)...5 {
      open = try bench.reopened(open)
      var generator = SeededGenerator(seed: seed)
      let context = open.makeContext()
      var expected: [ReferenceID: [PropertyValue]] = [:]
      for object in try context.fetch(entityName: ModelMaker.entity) {
        for attribute in object.entity.attributes {
          let value = seed % 2 == 0 ? .null : open.randomValue(of: attribute.type, &generator)
          try object.setPropertyValue(value, forKey: attribute.name)
        }
        expected[object.objectID.reference] = try object.attributeValues()
      }
      try context.save()
      let reopened = try bench.reopened(open).makeContext()
      for object in try reopened.fetch(entityName: ModelMaker.entity) {
        let values = try unwrap(expected[object.objectID.reference], "no other record than those that were saved")
        try expect("the values of a record", is: values, found: try object.attributeValues())
      }
    }
  }

  private func keepsContentUnchanged() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    let open = try bench.open()
    try open.insertRandom(10, seed: 1)
    let expected = try open.contents()
    var reopened = open
    for _ in 1...3 {
      reopened = try bench.reopened(reopened)
      _ = try reopened.store.engine.save(ChangeSet())
      try expectSame(try reopened.contents(), as: expected, "a store that was saved unchanged")
    }
    try expectSame(try bench.reopened(reopened).contents(), as: expected, "a store that was saved unchanged")
  }
}

extension OpenStore {
  /// Deletes the second record of each entity and gives all others new values. The values are the same for the same
  /// seed.
  func editRecords(seed: UInt64) throws {
    let context = makeContext()
    try editRecords(in: context, seed: seed)
    try context.save()
  }

  /// Makes the changes of ``editRecords(seed:)`` without saving them.
  func editRecords(in context: ManagedObjectContext, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for entity in concreteEntities {
      let objects = try context.fetch(entityName: entity.name).filter { $0.entity.name == entity.name }
      for (index, object) in objects.enumerated() {
        if index == 1 { context.delete(object) } else { try setRandomAttributes(of: object, &generator) }
      }
    }
  }
}

extension ManagedObject {
  func attributeValues() throws -> [PropertyValue] {
    try entity.attributes.map { try propertyValue(forKey: $0.name) }
  }
}
