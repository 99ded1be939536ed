import Foundation
import HeartwoodMacros
import Testing

@Entity final class Chore: ManagedObject {
  @Attribute(.indexed) var memo: String = ""
  @Attribute(minValue: 1, maxValue: 5) var stars: Int16 = 3
  @Attribute var due: Date?
  @Relationship(inverse: \Project.chores) var project: Project?
}

@Entity final class Project: ManagedObject {
  @Attribute(.unique) var name: String = ""
  @Relationship(deleteRule: .cascade) var chores: RelatedSet<Chore>
}

@Suite("The guide to macros")
struct MacrosGuideTests {
  @Test func guide() throws {
    let classes = [Chore.self, Project.self]
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ManagedObjectModel(of: classes),
      objectClasses: classes
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let home = try context.insert(Project.self)
    home.name = "Home"
    for (memo, stars) in [("milk", 5), ("more milk", 4), ("bread", 1)] as [(String, Int16)] {
      let chore = try context.insert(Chore.self)
      (chore.memo, chore.stars, chore.project) = (memo, stars, home)
      chore.due = Date(timeIntervalSinceReferenceDate: Double(-stars))
    }
    try context.save()
    let byKey = FetchRequest<Chore>(where: Chore.memoKey.contains("milk"), sortedBy: [Chore.dueKey.ascending])
    let condition = #Predicate<Chore> { $0.stars > 3 && $0.project?.name == "Home" }
    let byKeyPath = FetchRequest<Chore>(
      where: try FetchPredicate(condition),
      sortedBy: [FetchSortDescriptor(\Chore.project, \Project.name), FetchSortDescriptor(\Chore.due)]
    )
    #expect(try context.fetch(byKey).map(\.memo) == ["milk", "more milk"])
    #expect(try context.fetch(byKeyPath).map(\.memo) == ["milk", "more milk"])
  }
}
