import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// What is inserted, changed and deleted is so for whoever opens the store next.
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
  /// Deletes the second record of each entity and gives all others new values, the same for the same seed.
  func editRecords(seed: UInt64) throws {
    let context = makeContext()
    try editRecords(in: context, seed: seed)
    try context.save()
  }

  /// The changes of ``editRecords(seed:)``, not saved yet.
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
