import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct ContainerLoadingTests {
  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  private func twoConfigurations() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [
        .entity("Note", .attribute("text", .string, default: .string(""))),
        .entity("Setting", .attribute("text", .string, default: .string(""))),
      ],
      configurations: ["Notes": ["Note"], "Settings": ["Setting"]]
    )
  }

  private var descriptions: [PersistentStoreDescription] {
    [
      PersistentStoreDescription(fileName: "notes.heartwood", configuration: "Notes"),
      PersistentStoreDescription(fileName: "settings.heartwood", configuration: "Settings"),
    ]
  }

  private func container() throws -> PersistentContainer {
    try PersistentContainer(
      name: "Two",
      managedObjectModel: try twoConfigurations(),
      stores: descriptions,
      directory: folder.url
    )
  }

  private func writeDamage() throws {
    try Data("no store".utf8).write(to: folder.url.appending(path: "settings.heartwood"))
  }

  @Test func allAreLoadedOrNone() async throws {
    try writeDamage()
    let container = try container()
    let error = await persistenceError { try await container.loadPersistentStores() }
    #expect(error?.context.path == folder.path("settings.heartwood"))
    #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    // What was closed again can be opened by another one, and what was wrong can be put right.
    try FileManager.default.removeItem(atPath: folder.path("settings.heartwood"))
    try await container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
  }

  @Test func eachIsReported() async throws {
    try writeDamage()
    let container = try container()
    let loadings = try await container.loadEachPersistentStore()
    #expect(loadings.map { $0.store?.configurationName } == ["Notes", nil])
    #expect(loadings[0].error == nil)
    #expect(loadings[1].error?.context.path == folder.path("settings.heartwood"))
    #expect(loadings.map(\.description.configuration) == ["Notes", "Settings"])
    try await container.write { try $0.note("a") }
    try FileManager.default.removeItem(atPath: folder.path("settings.heartwood"))
    #expect(try await container.loadEachPersistentStore().map { $0.store?.configurationName } == ["Settings"])
    await #expect { _ = try await container.loadEachPersistentStore() } throws: {
      PersistenceError.Code.storeAlreadyOpen ~= $0
    }
  }

  @Test func loadingTwiceIsAnError() async throws {
    let container = try Notes.container(in: folder.url, .inMemory)
    try await container.loadPersistentStores()
    let error = await persistenceError { try await container.loadPersistentStores() }
    #expect(error?.code == .storeAlreadyOpen)
    #expect(error?.message.contains("Notes") == true)
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test(arguments: Notes.typesWithFiles)
  func twoContainersDoNotOpenOneFile(_ type: StoreType) async throws {
    let first = try Notes.container(in: folder.url, PersistentStoreDescription(type: type))
    try await first.loadPersistentStores()
    try await first.write { try $0.note("a") }
    let file = try #require(try folder.names().first { $0.hasPrefix("Notes.") })
    let link = folder.url.appending(path: "link.\(URL(filePath: file).pathExtension)")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url.appending(path: file))
    for url in [folder.url.appending(path: file), link] {
      let second = try Notes.container(in: folder.url, PersistentStoreDescription(type: type, url: url))
      let error = await persistenceError { try await second.loadPersistentStores() }
      #expect(error?.code == .storeAlreadyOpen)
      #expect(error?.message.contains("The container Notes") == true)
    }
    first.close()
    let third = try Notes.container(in: folder.url, PersistentStoreDescription(type: type, url: link))
    try await third.loadPersistentStores()
    #expect(try await third.texts() == ["a"])
  }

  @Test func whatNobodyHoldsIsNotOpen() async throws {
    do {
      let first = try Notes.container(in: folder.url)
      try await first.loadPersistentStores()
      try await first.write { try $0.note("a") }
    }
    let second = try Notes.container(in: folder.url)
    try await second.loadPersistentStores()
    #expect(try await second.texts() == ["a"])
  }

  @Test func pathsOfOtherFileSystemsAreOtherFiles() async throws {
    for _ in 0..<2 {
      let files = InMemoryFileSystem()
      let containers = try [files, InMemoryFileSystem()].map { files in
        try PersistentContainer(
          name: "Notes",
          managedObjectModel: try Notes.model(),
          directory: URL(filePath: "/notes"),
          fileSystem: files
        )
      }
      for container in containers { try await container.loadPersistentStores() }
      let again = try PersistentContainer(
        name: "Notes",
        managedObjectModel: try Notes.model(),
        directory: URL(filePath: "/notes"),
        fileSystem: files
      )
      await #expect { try await again.loadPersistentStores() } throws: { PersistenceError.Code.storeAlreadyOpen ~= $0 }
      #expect(containers.count == 2)
    }
  }

  @Test func onlyOneOfManyAtOnceOpensAFile() async throws {
    let containers = try (0..<8).map { _ in try Notes.container(in: folder.url) }
    let opened = await withTaskGroup(of: Bool.self) { group in
      for container in containers {
        group.addTask { await persistenceError { try await container.loadPersistentStores() } == nil }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(opened == 1)
  }

  @Test func aClosedContainerIsUsedNoMore() async throws {
    let container = try Notes.container(in: folder.url)
    try await container.loadPersistentStores()
    let background = container.newBackgroundContext()
    try await background.perform { try $0.note("unsaved") }
    container.close()
    let isClosed: (any Error) -> Bool = { PersistenceError.Code.coordinatorClosed ~= $0 }
    await #expect { try await background.perform { try $0.save() } } throws: { isClosed($0) }
    await #expect { try await container.write { try $0.note("a") } } throws: { isClosed($0) }
    await #expect { try await MainActor.run { try container.viewContext.texts() } } throws: { isClosed($0) }
    await #expect { try await container.loadPersistentStores() } throws: { isClosed($0) }
    #expect(try folder.names() == [])
  }

  @Test(arguments: Notes.typesWithFiles)
  func whatWasSavedBeforeClosingIsThere(_ type: StoreType) async throws {
    let container = try Notes.container(in: folder.url, PersistentStoreDescription(type: type))
    try await container.loadPersistentStores()
    try await container.write { try $0.note("first") }
    let errors = await withTaskGroup(of: PersistenceError?.self) { group in
      for number in 0..<20 {
        group.addTask { await persistenceError { try await container.write { try $0.note("\(number)") } } }
        if number == 10 { group.addTask { await persistenceError { container.close() } } }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(errors.compactMap(\.?.code).allSatisfy { [.coordinatorClosed, .storeNotOpen].contains($0) })
    let again = try Notes.container(in: folder.url, PersistentStoreDescription(type: type))
    try await again.loadPersistentStores()
    // The closing is no write, and has no error.
    #expect(try await again.texts().count == errors.count { $0 == nil })
  }

  @Test(arguments: Notes.typesWithFiles)
  func destroyingRemovesTheFiles(_ type: StoreType) async throws {
    let container = try Notes.container(in: folder.url, PersistentStoreDescription(type: type))
    try await container.loadPersistentStores()
    try await container.write { try $0.note("a") }
    try await container.destroyPersistentStores()
    #expect(try folder.names() == [])
    // One that was never loaded is removed too, and one that was never there is no error.
    for _ in 0..<2 {
      let other = try Notes.container(in: folder.url, PersistentStoreDescription(type: type))
      try await other.destroyPersistentStores()
    }
  }

  @Test func destroyingLeavesWhatIsNoStore() async throws {
    try Data("no store".utf8).write(to: folder.url.appending(path: "Notes.heartwood"))
    let container = try Notes.container(in: folder.url)
    #expect(await persistenceError { try await container.destroyPersistentStores() } != nil)
    #expect(try folder.names() == ["Notes.heartwood"])
  }

  @Test func destroyingFollowsAStoreThatWasConverted() async throws {
    let container = try Notes.container(in: folder.url)
    try await container.loadPersistentStores()
    try await container.write { try $0.note("a") }
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.convert(store, to: folder.url.appending(path: "other.csv"))
    try await container.destroyPersistentStores()
    #expect(try folder.names() == ["Notes.heartwood"])
  }
}
