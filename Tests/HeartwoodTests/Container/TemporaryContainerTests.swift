import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

@Suite struct TemporaryContainerTests {
  private struct Refusal: Error {}

  /// Each test has its own.
  let test: TemporaryContainer

  init() throws {
    test = try TemporaryContainer(try Notes.model(), type: .binary)
  }

  @Test(arguments: ["a", "b"])
  func eachTestHasAnEmptyStore(_ text: String) async throws {
    #expect(try await test.container.texts() == [])
    try await test.container.write { try $0.note(text) }
    #expect(try await test.container.texts() == [text])
  }

  @Test(arguments: Notes.types, [false, true])
  func nothingIsLeft(_ type: StoreType, _ fails: Bool) async throws {
    let place = Mutex<URL?>(nil)
    do {
      try await withTemporaryContainer(try Notes.model(), type: type, registry: try Notes.registry()) { container in
        try await container.write { try $0.note("a") }
        let coordinator = container.persistentStoreCoordinator
        let url = coordinator.persistentStores.first.flatMap(coordinator.url)
        place.withLock { $0 = url }
        if let url { #expect(FileManager.default.fileExists(atPath: url.path)) }
        if fails { throw Refusal() }
      }
      #expect(!fails)
    } catch is Refusal {
      #expect(fails)
    }
    let url = place.withLock { $0 }
    #expect((url == nil) == (type == .inMemory))
    if let url { #expect(!FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path)) }
  }

  @Test(arguments: Notes.typesWithFiles)
  func theSameFileIsOpenedAgain(_ type: StoreType) async throws {
    let first = try TemporaryContainer(try Notes.model(), type: type, registry: try Notes.registry())
    try await first.container.write { try $0.note("a") }
    let again = try first.reopened()
    #expect(try await again.container.texts() == ["a"])
    #expect(again.url == first.url)
    let title = try Notes.model(.attribute("title", .string, default: .string(""), renamedFrom: "text"))
    let migrated = try again.reopened(with: title)
    #expect(try await migrated.container.texts("title") == ["a"])
  }
}
