import Foundation
import Heartwood
import HeartwoodTesting
import RecordServer
import RecordService
import Testing

/// A store over HTTP, against a server on loopback that is made to fail.
@Suite(.serialized) struct RecordServiceStoreTests: Sendable {
  private let server = RecordServer(token: "secret")
  private let note = EntityDefinition.entity("Note", .attribute("text", .string, optional: true))

  private func registry(_ client: RecordServiceClient = RecordServiceClient(token: "secret")) throws -> StoreRegistry {
    let registry = try StoreRegistry([BinaryStore.self, InMemoryStore.self])
    try registry.register(RecordServiceFormat(client: client))
    return registry
  }

  private func open(
    _ url: URL,
    _ client: RecordServiceClient = RecordServiceClient(token: "secret")
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(entities: [note]),
      registry: try registry(client)
    )
    try coordinator.addPersistentStore(at: url)
    return ManagedObjectContext(coordinator)
  }

  private func insert(_ text: String, in context: ManagedObjectContext) throws {
    try context.insert(entityName: "Note").setValue(text, forKey: "text")
  }

  private func texts(_ url: URL) throws -> [String] {
    let context = try open(url)
    defer { context.persistentStoreCoordinator.close() }
    return try context.fetch(entityName: "Note").compactMap { try $0.value(forKey: "text") as? String }
  }

  private func code(_ body: () throws -> Void) -> PersistenceError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? PersistenceError)?.code }
  }

  // MARK: The server

  private func start() throws -> URL { try StoreWaiter().wait(for: "The server") { try await server.start() } }

  private func stop() throws { try StoreWaiter().wait(for: "The server") { await server.stop() } }

  private func prepare(_ mishap: RecordServer.Mishap, count: Int = 1) throws {
    try StoreWaiter().wait(for: "The server") { await server.prepare(mishap, count: count) }
  }

  // MARK: Tests

  @Test func recordsAreSavedAndReadInPages() async throws {
    try await onThread {
      let url = try start().appending(path: "notes")
      let context = try open(url)
      let count = RecordServer.pageSize * 2 + 1
      for number in 0..<count { try insert("\(number)", in: context) }
      try context.save()
      #expect(try texts(url) == (0..<count).map { "\($0)" })
      try stop()
    }
  }

  @Test func whatTheServerDoesNotLetInIsSaid() async throws {
    try await onThread {
      let url = try start().appending(path: "notes")
      #expect(code { _ = try open(url, RecordServiceClient(token: "wrong")) } == .storeAccessDenied)
      try stop()
    }
  }

  @Test func aSaveThatTheServerDiedBeforeIsNotMadeAndIsTriedAgain() async throws {
    try await onThread {
      let url = try start().appending(path: "notes")
      let context = try open(url)
      try insert("first", in: context)
      try context.save()
      try insert("second", in: context)
      try prepare(.deathBeforeSave)
      #expect(code { try context.save() } == .fileReadFailed)
      #expect(context.hasChanges, "What is not saved stays in the context.")
      _ = try start()
      #expect(try texts(url) == ["first"])
      try context.save()
      #expect(try texts(url) == ["first", "second"])
      try stop()
    }
  }

  @Test func aSaveThatTheServerDiedAfterIsMadeOnce() async throws {
    try await onThread {
      let url = try start().appending(path: "notes")
      var client = RecordServiceClient(token: "secret")
      client.attempts = 20
      let context = try open(url, client)
      try insert("once", in: context)
      try prepare(.deathAfterSave)
      let server = server
      // It comes back while the client tries again.
      let revival = Task {
        while await server.isRunning { try await Task.sleep(for: .milliseconds(5)) }
        try await server.start()
      }
      try context.save()
      try StoreWaiter().wait(for: "The server") { try await revival.value }
      #expect(try texts(url) == ["once"])
      try stop()
    }
  }

  @Test func anOverloadedServerIsAskedAgain() async throws {
    try await onThread {
      let url = try start().appending(path: "notes")
      let context = try open(url)
      try insert("patient", in: context)
      try prepare(.overload, count: 2)
      try context.save()
      #expect(try texts(url) == ["patient"])
      try stop()
    }
  }

  @Test func aServerThatDoesNotAnswerIsNotWaitedForForEver() async throws {
    try await onThread {
      let url = try start().appending(path: "notes")
      let context = try open(url, RecordServiceClient(token: "secret", timeLimit: .milliseconds(300)))
      try insert("late", in: context)
      try prepare(.silence(.seconds(30)))
      #expect(code { try context.save() } == .timeLimitExceeded)
      #expect(context.hasChanges)
      try stop()
    }
  }

  @Test func conflictsAreFoundAsInEveryStore() async throws {
    try await onThread {
      let url = try start().appending(path: "notes")
      let mine = try open(url)
      try insert("old", in: mine)
      try mine.save()
      let theirs = try open(url)
      let myNote = try #require(try mine.fetch(entityName: "Note").first)
      let theirNote = try #require(try theirs.fetch(entityName: "Note").first)
      try myNote.setValue("mine", forKey: "text")
      try theirNote.setValue("theirs", forKey: "text")
      try theirs.save()
      mine.mergePolicy = .error
      #expect(code { try mine.save() } == .saveConflict)
      #expect(try texts(url) == ["theirs"])
      try stop()
    }
  }

  @Test func aStoreIsConvertedToAFileAndReplaced() async throws {
    try await onThread {
      let url = try start().appending(path: "notes")
      let context = try open(url)
      try insert("kept", in: context)
      try context.save()
      let coordinator = context.persistentStoreCoordinator
      let store = try #require(coordinator.persistentStores.first)
      let other = url.deletingLastPathComponent().appending(path: "copy")
      try coordinator.copyPersistentStore(store, to: other)
      #expect(code { try coordinator.copyPersistentStore(store, to: other) } == .fileExists)
      try coordinator.copyPersistentStore(store, to: other, replacing: true)
      #expect(try texts(other) == ["kept"])
      #expect(try StoreWaiter().wait(for: "The server") { await server.storeNames } == ["copy", "notes"])
      try stop()
    }
  }
}
