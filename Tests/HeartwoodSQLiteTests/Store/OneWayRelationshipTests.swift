import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

/// To-many relationships without an inverse: the row of an object says whom it belongs to.
@Suite("Relationships without an inverse")
struct OneWayRelationshipTests {
  private let scratch: ScratchFolder
  private let model: ManagedObjectModel

  init() throws {
    scratch = try ScratchFolder()
    model = try ManagedObjectModel(entities: [
      .entity(
        "Box",
        .attribute("name", .string, optional: true),
        .toMany("things", "Thing", inverse: nil),
        .toMany("row", "Thing", inverse: nil, ordered: true)
      ),
      .entity("Thing", .attribute("name", .string, optional: true)),
    ])
  }

  private func coordinator() throws -> PersistentStoreCoordinator {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([SQLiteStore.self])
    )
    try coordinator.addPersistentStore(type: .sqlite, at: scratch.url.appending(path: "Boxes.sqlite"))
    return coordinator
  }

  /// How many things are in each box, in the order of the boxes' names, as the file has it.
  private func counts(_ relationship: String) throws -> [Int] {
    let coordinator = try coordinator()
    defer { coordinator.close() }
    let context = ManagedObjectContext(coordinator)
    let boxes = try context.fetch(
      FetchRequest<ManagedObject>(entityName: "Box", sortedBy: [FetchSortDescriptor("name")])
    )
    return try withExtendedLifetime(context) {
      try boxes.map { box in try (box.value(forKey: relationship) as? [ManagedObject])?.count ?? -1 }
    }
  }

  /// Two boxes, the first of which has a thing if `isInFirst`, and the second otherwise.
  private func fill(
    _ context: ManagedObjectContext,
    _ relationship: String,
    inFirst isInFirst: Bool
  ) throws -> (from: ManagedObject, to: ManagedObject, thing: ManagedObject) {
    let boxes = try ["a", "b"].map { name in
      let box = try context.insert(entityName: "Box")
      try box.setValue(name, forKey: "name")
      try context.save()
      return box
    }
    let thing = try context.insert(entityName: "Thing")
    let (from, to) = isInFirst ? (boxes[0], boxes[1]) : (boxes[1], boxes[0])
    try from.setValue([thing], forKey: relationship)
    try context.save()
    return (from, to, thing)
  }

  @Test("What goes from one owner to another in one save is the other's", arguments: ["things", "row"], [true, false])
  func moves(_ relationship: String, _ isInFirst: Bool) throws {
    let coordinator = try coordinator()
    let context = ManagedObjectContext(coordinator)
    let (from, to, thing) = try fill(context, relationship, inFirst: isInFirst)
    try from.setValue([ManagedObject](), forKey: relationship)
    try to.setValue([thing], forKey: relationship)
    try context.save()
    coordinator.close()
    #expect(try counts(relationship) == (isInFirst ? [0, 1] : [1, 0]))
  }

  @Test("Who lets go of what another owner has taken since takes nothing from that", arguments: ["things", "row"])
  func losesLate(_ relationship: String) throws {
    let coordinator = try coordinator()
    let (context, late) = (ManagedObjectContext(coordinator), ManagedObjectContext(coordinator))
    let (from, to, thing) = try fill(context, relationship, inFirst: true)
    let theirs = try late.existingObject(with: from.objectID)
    _ = try theirs.value(forKey: relationship)
    try to.setValue([thing], forKey: relationship)
    try context.save()
    try theirs.setValue([ManagedObject](), forKey: relationship)
    try late.save()
    coordinator.close()
    #expect(try counts(relationship) == [0, 1])
  }
}
