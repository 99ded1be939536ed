import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// The code of the article "Contexts and concurrency": it says what is here, word for word.
@MainActor @Suite struct ContextsGuideTests {
  private struct Row: Sendable {
    let title: String
  }

  @Test func contextsHaveHosts() async throws {
    let coordinator = try TestStack(.binary).coordinator
    let rows = ["one", "two"].map(Row.init)
    let view = ViewContext(coordinator)  // @MainActor: what views show
    let background = BackgroundContext(coordinator)  // an actor

    let count = try await background.perform { context in
      for row in rows { try context.insert(Book.self).title = row.title }
      try context.save()
      return rows.count  // a value may leave; a Book would not compile
    }
    #expect(count == 2)
    #expect(try view.context.count(Book.self) == 2)
  }

  @Test func viewContextsSaveAsynchronously() async throws {
    let coordinator = try TestStack(.binary).coordinator
    let view = ViewContext(coordinator)
    let book = try view.context.insert(Book.self)
    book.title = "Emma"
    try await view.context.saveAsynchronously()  // the main actor goes on meanwhile
    let reader = ManagedObjectContext(coordinator)
    #expect(try reader.fetch(Book.self).map(\.title) == ["Emma"])
  }

  @Test func contextsHaveParents() async throws {
    let coordinator = try TestStack(.binary).coordinator
    let view = ViewContext(coordinator)
    let draft = ManagedObjectContext(parent: view.context)  // same isolation: thrown away, or saved
    let saver = BackgroundContext(coordinator)
    let quick = ViewContext(parent: saver)  // saves to the background one, which writes the file
    try quick.context.save()  // no file is touched
    try await quick.saveToPersistentStore()  // now it is
    let work = BackgroundContext(parent: quick)  // any depth, any isolation
    _ = try await work.perform { try $0.person("Ann").name }
    #expect(try draft.count(entityName: "Person") == 0)
  }

  @Test func savesAreMerged() async throws {
    let coordinator = try TestStack().coordinator
    let view = ViewContext(coordinator)
    let book = try view.context.book("old")
    try view.context.save()
    let task = Task {
      for await changes in coordinator.didSaveChanges {
        view.context.mergeChanges(from: changes)
      }
    }
    let other = ManagedObjectContext(coordinator)
    let same = try #require(try other.existingObject(with: book.objectID) as? Book)
    var number = 0
    while book.title == "old" {
      number += 1
      same.title = "new \(number)"
      try other.save()
      await Task.yield()
    }
    task.cancel()
    await task.value
    #expect(book.title?.hasPrefix("new") == true)
  }

  @Test func aContextStaysAtAVersion() throws {
    let stack = try TestStack()
    let (context, other) = (stack.context(), stack.context())
    try context.setQueryGeneration(from: .current)
    _ = try other.person("Ann")
    try other.save()
    #expect(try context.count(entityName: "Person") == 0)
  }
}
