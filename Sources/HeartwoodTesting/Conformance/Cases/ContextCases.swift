import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// Contexts over other contexts, and at versions of the records, work on any store.
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
    // The last one is given its id before the others.
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
  /// The values of all attributes that `context` sees, by the names of the records.
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
