import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// An object that makes others when it is made.
private final class Parent: ManagedObject {
  static let childKey = ToOneKey<Child>("child")
  static let numberKey = AttributeKey<Int>("number")

  var child: Child? {
    get { self[Self.childKey] }
    set { self[Self.childKey] = newValue }
  }

  override func awakeFromInsert() {
    self[Self.numberKey] += 1
    child = try? managedObjectContext?.insert(Child.self)
  }
}

private final class Child: ManagedObject {
  static let numberKey = AttributeKey<Int>("number")
  var awokeFromFetch = 0

  override func awakeFromFetch() {
    awokeFromFetch += 1
    // It is seen, and not saved.
    self[Self.numberKey] = 99
  }
}

@Suite struct LifeCycleTests {
  private func coordinator() throws -> PersistentStoreCoordinator {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Parent",
        .attribute("number", .integer16, default: .integer(4)),
        .toOne("child", "Child", inverse: "parent")
      ),
      .entity(
        "Child",
        .attribute("number", .integer16, default: .integer(4)),
        .toOne("parent", "Parent", inverse: "child")
      ),
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: .default,
      objectClasses: [Parent.self, Child.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return coordinator
  }

  @Test func objectsMakeObjectsAsTheyAreMade() throws {
    let context = ManagedObjectContext(try coordinator())
    let parent = try context.insert(Parent.self)
    let child = try #require(parent.child)
    #expect(context.insertedObjects == [parent, child])
    #expect(parent[Parent.numberKey] == 5)
    try context.save()
    #expect(parent.child === child)
    #expect(child.awokeFromFetch == 0)
  }

  @Test func whatIsSetWhileAwakingIsSeenAndNotSaved() throws {
    let coordinator = try coordinator()
    let writer = ManagedObjectContext(coordinator)
    _ = try writer.insert(Parent.self)
    try writer.save()
    let context = ManagedObjectContext(coordinator)
    let child = try #require(try context.fetch(Child.self).first)
    #expect(child[Child.numberKey] == 99)
    #expect(child.awokeFromFetch == 1)
    #expect(!context.hasChanges)
    let parent = try #require(try context.fetch(Parent.self).first)
    parent.child = nil
    #expect(child.isUpdated)
    #expect(Set(child.changedValues().keys) == ["parent"])
    try context.save()
    let number = try ManagedObjectContext(coordinator).existingObject(with: child.objectID).committedValues()["number"]
    #expect(number == .integer(4))
  }
}
