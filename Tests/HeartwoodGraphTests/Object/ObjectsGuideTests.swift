import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

// The code of the article "Objects": it says what is here, word for word.

final class Chore: ManagedObject {
  static let identifierKey = AttributeKey<UUID>("identifier")
  static let titleKey = AttributeKey<String>("title")
  static let priorityKey = AttributeKey<Int>("priority")
  static let modifiedKey = AttributeKey<Date?>("modified")
  static let labelsKey = ToManyKey<ChoreLabel>("labels")
  static let stepsKey = ToManyKey<Chore>("steps")

  var identifier: UUID { self[Self.identifierKey] }
  var title: String {
    get { self[Self.titleKey] }
    set { self[Self.titleKey] = newValue }
  }
  var priority: Int {
    get { self[Self.priorityKey] }
    set { self[Self.priorityKey] = newValue }
  }
  var labels: RelatedSet<ChoreLabel> {
    get { self[set: Self.labelsKey] }
    set { self[set: Self.labelsKey] = newValue }
  }
  var steps: RelatedList<Chore> {
    get { self[list: Self.stepsKey] }
    set { self[list: Self.stepsKey] = newValue }
  }

  override func awakeFromInsert() {
    self[primitive: Self.identifierKey] = UUID()
  }

  override func willSave() {
    if !isDeleted { self[primitive: Self.modifiedKey] = .now }
  }

  override class var propertyValidators: [PropertyValidator] {
    [PropertyValidator(priorityKey) { (_: Chore, priority) in priority > 9 ? "must be 9 at most." : nil }]
  }

  override func validateForDelete() throws {
    if !steps.isEmpty { throw validationFault("has steps that are not done.", Self.stepsKey) }
  }
}

final class ChoreLabel: ManagedObject {
  static let choresKey = ToManyKey<Chore>("chores")
}

@Suite struct ObjectsGuideTests {
  private func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Chore",
        .attribute("identifier", .uuid),
        .attribute("title", .string, default: .string("")),
        .attribute("priority", .integer16, default: .integer(5)),
        .attribute("modified", .date, optional: true),
        .toMany("labels", "ChoreLabel", inverse: "chores"),
        .toMany("steps", "Chore", inverse: "whole", ordered: true),
        .toOne("whole", "Chore", inverse: "steps")
      ),
      .entity("ChoreLabel", .toMany("chores", "Chore", inverse: "labels")),
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      objectClasses: [Chore.self, ChoreLabel.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  @Test func relationshipsAreChangedInPlace() throws {
    let context = try context()
    let (chore, first, second) = (
      try context.insert(Chore.self), try context.insert(Chore.self), try context.insert(Chore.self)
    )
    let label = try context.insert(ChoreLabel.self)
    chore.labels.insert(label)
    chore.steps = [first, second]
    chore.steps.move(from: 1, to: 0)
    #expect(chore.steps == [second, first])
    #expect(label[ChoreLabel.choresKey] == [chore])
    #expect(Set([chore, first, second].map(\.identifier)).count == 3)
  }

  @Test func eventsAreUndone() throws {
    let context = try context()
    let chore = try context.insert(Chore.self)
    try context.save()
    context.undoManager = GraphUndoManager()
    chore.title = "Buy bread"
    chore.priority = 1
    context.undoManager?.setActionName("Edit Chore")
    context.processPendingChanges()
    context.delete(chore)
    context.undo()
    context.undo()
    #expect(chore.title == "" && chore.priority == 5)
    #expect(context.undoManager?.redoActionName == "Edit Chore")
  }

  @Test func faultsAreListed() throws {
    let context = try context()
    let chore = try context.insert(Chore.self)
    chore.priority = 10
    var messages: [String] = []
    do {
      try context.save()
    } catch let error as PersistenceError where error.code == .validationFailed {
      for fault in error.context.validationFaults { messages.append(fault.message) }
    }
    #expect(messages == ["Chore.priority must be 9 at most."])
    chore.priority = 9
    try context.save()
    #expect(chore[Chore.modifiedKey] != nil && !context.hasChanges)
    chore.steps.append(try context.insert(Chore.self))
    try context.save()
    context.delete(chore)
    #expect(persistenceError { try context.save() }?.message == "Chore.steps has steps that are not done.")
  }
}
