import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Saves through contexts of several isolations that fail on the way.
@MainActor
@Suite struct DeepSaveTests {
  private static func error(_ body: () async throws -> Void) async -> PersistenceError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? PersistenceError
    }
  }

  private func names(_ stack: TestStack) throws -> [String] {
    try stack.context().fetch(Person.self).map(\.name).sorted()
  }

  /// A view context over two background ones, and a store with Ann.
  private func chain(
    _ stack: TestStack
  ) async throws -> (view: ViewContext, middle: BackgroundContext, root: BackgroundContext) {
    let setUp = stack.context()
    _ = try setUp.person("Ann")
    try setUp.save()
    let root = BackgroundContext(stack.coordinator)
    let middle = BackgroundContext(parent: root)
    return (ViewContext(parent: middle), middle, root)
  }

  @Test func aParentThatCannotWriteTellsTheCaller() async throws {
    let stack = try TestStack(.binary)
    let (view, middle, root) = try await chain(stack)
    let ann = try #require(try view.context.fetch(Person.self).first)
    ann.name = "Anna"
    ann.spouse = try view.context.person("Bob")
    stack.files.limitWrites(toByteCount: 100)
    let error = await Self.error { try await view.saveToPersistentStore() }
    #expect(error?.code == .fileWriteFailed)
    stack.files.restart()
    #expect(try names(stack) == ["Ann"])
    // The changes are those of the context that could not be saved.
    #expect(!view.context.hasChanges && ann.name == "Anna")
    #expect(await middle.perform { $0.hasChanges } == false)
    #expect(await root.perform { $0.insertedObjects.count == 1 && $0.updatedObjects.count == 1 })
    ann.name = "Annabel"
    try await view.saveToPersistentStore()
    #expect(try names(stack) == ["Annabel", "Bob"])
    #expect(await root.perform { $0.hasChanges } == false)
    #expect(ann.spouse?.name == "Bob" && ann.spouse?.spouse === ann)
  }

  @Test(arguments: TestStoreKind.allCases)
  func aParentThatIsNotValidTellsTheCaller(_ kind: TestStoreKind) async throws {
    let stack = try TestStack(kind)
    let (view, middle, root) = try await chain(stack)
    let ann = try #require(try view.context.fetch(Person.self).first)
    ann.name = "Anna"
    let nameless = try await middle.perform { context in
      try context.insert(entityName: "Person").objectID
    }
    let error = try #require(await Self.error { try await view.saveToPersistentStore() })
    #expect(error.code == .validationFailed && error.context.validationFaults.map(\.property) == ["name"])
    #expect(try names(stack) == ["Ann"])
    #expect(!view.context.hasChanges)
    #expect(await root.perform { $0.hasChanges } == false)
    let mended = await middle.perform { context in
      for case let person as Person in context.insertedObjects { person.name = "Bob" }
      #expect(context.updatedObjects.count == 1)
      return context.insertedObjects.map(\.objectID)
    }
    #expect(mended == error.context.objectIDs && (nameless.isTemporaryID || mended == [nameless]))
    try await view.saveToPersistentStore()
    #expect(try names(stack) == ["Anna", "Bob"])
    #expect(await middle.perform { $0.hasChanges } == false)
  }

  @Test(arguments: TestStoreKind.allCases)
  func aConflictOfAParentTellsTheCaller(_ kind: TestStoreKind) async throws {
    let stack = try TestStack(kind)
    let (view, middle, root) = try await chain(stack)
    let ann = try #require(try view.context.fetch(Person.self).first)
    ann.name = "Anna"
    let id = ann.objectID
    try view.context.save()
    try await middle.perform { try $0.save() }
    let others = stack.context()
    try #require(try others.fetch(Person.self).first).name = "Other's"
    try others.save()
    _ = try view.context.person("Bob")
    let error = try #require(await Self.error { try await view.saveToPersistentStore() })
    #expect(error.code == .saveConflict && error.context.objectIDs == [id])
    #expect(try names(stack) == ["Other's"])
    #expect(!view.context.hasChanges && ann.name == "Anna")
    await root.perform { $0.mergePolicy = .mergeByPropertyObjectTrump }
    try await view.saveToPersistentStore()
    #expect(try names(stack) == ["Anna", "Bob"])
  }

  @Test func aBackgroundChildOfTheViewContextLearnsOfItsFailure() async throws {
    let stack = try TestStack(.binary)
    let view = ViewContext(stack.coordinator)
    let background = BackgroundContext(parent: view)
    try await background.perform { context in _ = try context.person("Ann") }
    stack.files.limitWrites(toByteCount: 100)
    let error = await Self.error { try await background.saveToPersistentStore() }
    #expect(error?.code == .fileWriteFailed)
    stack.files.restart()
    #expect(try names(stack).isEmpty)
    #expect(view.context.insertedObjects.count == 1)
    #expect(await background.perform { $0.hasChanges } == false)
    try await background.saveToPersistentStore()
    #expect(try names(stack) == ["Ann"])
    #expect(!view.context.hasChanges)
  }
}
