import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct ContainerWritingTests {
  private struct Refusal: Error {}

  private let test: TemporaryContainer

  init() throws {
    test = try TemporaryContainer(try Notes.model())
  }

  private var container: PersistentContainer { test.container }

  @Test(arguments: WriteDestination.allCases)
  @MainActor func changesAreSavedAsFarAsTheyAreToBe(_ destination: WriteDestination) async throws {
    try container.viewContext.note("view")
    try await container.write(to: destination) { try $0.note("new") }
    let saved = try await container.texts()
    switch destination {
    case .stores:
      #expect(saved == ["new"])
      #expect(container.viewContext.insertedObjects.count == 1)
    case .viewContext:
      #expect(saved == [])
      #expect(container.viewContext.insertedObjects.count == 2)
    case .viewContextAndStores:
      #expect(saved == ["new", "view"])
      #expect(!container.viewContext.hasChanges)
    }
    #expect(try container.viewContext.texts() == ["new", "view"])
  }

  @Test @MainActor func childContextsSeeAndChangeTheViewContext() async throws {
    try container.viewContext.note("view")
    container.viewContext.publishChanges()
    let child = container.newBackgroundChildContext()
    let seen = try await child.perform { context in
      try context.note("child")
      try context.save()
      return try context.texts()
    }
    #expect(seen == ["child", "view"])
    #expect(try await container.texts() == [])
    #expect(try container.viewContext.texts() == ["child", "view"])
    try await container.viewContext.saveAsynchronously()
    #expect(try await container.texts() == ["child", "view"])
  }

  @Test func whatFailsIsNotSaved() async throws {
    for destination in WriteDestination.allCases {
      await #expect(throws: Refusal.self) {
        try await container.write(to: destination) { context in
          try context.note("no")
          throw Refusal()
        }
      }
    }
    #expect(throws: Refusal.self) {
      try container.writeAndWait { context in
        try context.note("no")
        throw Refusal()
      }
    }
    #expect(try await container.texts() == [])
    #expect(await MainActor.run { !container.viewContext.hasChanges })
  }

  @Test @MainActor func writingWaitsWhereverItIs() async throws {
    let count = try container.writeAndWait { context in
      try context.note("a")
      return context.insertedObjects.count
    }
    #expect(count == 1)
    #expect(try container.viewContext.texts() == ["a"])
  }

  @Test func manyWritersAreAllSaved() async throws {
    let container = container
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          if number % 2 == 0 { return try await container.write { try $0.note("\(number)") } }
          try container.writeAndWait { try $0.note("\(number)") }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await container.texts().count == 20)
  }

  @Test @MainActor func theViewContextMergesByItselfWhereItIsTold() async throws {
    let note = try container.viewContext.newNote("old")
    try container.viewContext.save()
    container.viewContext.automaticallyMergesChangesFromParent = true
    let id = note.objectID
    try await container.write { try $0.existingObject(with: id).setValue("new", forKey: "text") }
    while try note.value(forKey: "text") as? String == "old" { await Task.yield() }
    #expect(try note.value(forKey: "text") as? String == "new")
  }

  @Test func backgroundTasksDoNotSave() async throws {
    try await container.performBackgroundTask { try $0.note("a") }
    #expect(try await container.texts() == [])
  }
}
