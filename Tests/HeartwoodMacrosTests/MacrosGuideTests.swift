import Foundation
import HeartwoodMacros
import HeartwoodTesting
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

@Entity final class ToDo: ManagedObject {
  @Attribute var memo: String = ""
  @Attribute var done: Bool = false
}

func add(_ memo: String, to file: URL) throws -> [String] {
  let model = try ManagedObjectModel(of: [ToDo.self])
  let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, objectClasses: [ToDo.self])
  try coordinator.addPersistentStore(at: file)  // todo.csv, .heartwood, .xml, .plist: the extension names the format
  let context = ManagedObjectContext(coordinator)
  try context.insert(ToDo.self).memo = memo
  try context.save()
  return try context.fetch(ToDo.self, where: ToDo.doneKey == false).map(\.memo)
}

@Suite("The guide to macros")
struct MacrosGuideTests {
  @Test(arguments: ["csv", "heartwood", "xml", "plist"]) func firstExampleOfTheReadme(_ type: String) throws {
    let folder = try ScratchFolder()
    let file = folder.url.appending(path: "todo.\(type)")
    #expect(try add("Bread", to: file) == ["Bread"])
    #expect(try add("Tea", to: file).sorted() == ["Bread", "Tea"])
  }

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
