import Foundation
import Heartwood
import Testing

@testable import Chores

@Suite struct ChoresTests {
  private func context() throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ChoresModel.makeModel(),
      objectClasses: ChoresModel.objectClasses
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  @Test func generatedClassesHaveTypedProperties() throws {
    let context = try context()
    let chore = try context.insert(Chore.self)
    chore.title = "Shop"
    chore.minutes = 30
    chore.urgency = .now
    chore.place = Place(room: "Kitchen", floor: 1)
    let step = try context.insert(ShoppingStep.self)
    step.title = "Bread"
    step.shop = "Baker"
    chore.addToSteps(step)
    let person = try context.insert(Person.self)
    person.addToChores(chore)
    try context.save()
    #expect(chore.person == person)
    #expect(step.chore == chore)
    #expect(chore.isPressing)
    #expect(chore.place == Place(room: "Kitchen", floor: 1))
    #expect(chore.due == nil)
    chore.removeFromSteps(step)
    #expect(chore.steps.isEmpty)
  }

  @Test func requestsOfTheModelAreFunctions() throws {
    let context = try context()
    for minutes in [10, 20, 30] as [Int16] {
      let chore = try context.insert(Chore.self)
      chore.minutes = minutes
    }
    #expect(try Chore.fetchLongChores(leastMinutes: 20, in: context).count == 2)
    #expect(try context.fetch(Chore.fetchRequest()).count == 3)
    #expect(try context.fetch(Chore.self, where: #Predicate { $0.minutes > 10 }).count == 2)
  }

  @Test func namesAreConstants() {
    #expect(Chore.ChoreAttributes.title == "title")
    #expect(Chore.ChoreRelationships.steps == "steps")
    #expect(Chore.titleKey.name == "title")
  }
}
