import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Logging
import Synchronization
import Testing

/// Remembers what is logged.
private final class LogMemory: Sendable {
  struct Entry: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: [String: String]
  }

  private let storage = Mutex<[Entry]>([])

  var entries: [Entry] { storage.withLock { $0 } }

  func append(_ entry: Entry) { storage.withLock { $0.append(entry) } }

  func logger(_ level: Logger.Level = .trace) -> Logger {
    Logger(label: "test") { _ in MemoryLogHandler(memory: self, logLevel: level) }
  }

  func last(_ message: String) -> Entry? { entries.last { $0.message == message } }
}

private struct MemoryLogHandler: LogHandler {
  let memory: LogMemory
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let values = (event.metadata ?? [:]).mapValues { "\($0)" }
    memory.append(.init(level: event.level, message: "\(event.message)", metadata: values))
  }
}

@Suite struct LoggingTests {
  private let folder: ScratchFolder
  private let memory = LogMemory()

  init() throws {
    folder = try ScratchFolder()
  }

  private func container(_ level: Logger.Level = .trace, model: ManagedObjectModel? = nil) throws -> PersistentContainer
  {
    let container = try PersistentContainer(
      name: "Notes",
      managedObjectModel: try model ?? Notes.model(),
      directory: folder.url,
      logger: memory.logger(level)
    )
    try container.loadPersistentStoresAndWait()
    return container
  }

  @Test func storesThatAreOpenedConvertedAndClosedAreTold() throws {
    let container = try container()
    let path = folder.path("Notes.heartwood")
    let opened = try #require(memory.last("opened"))
    #expect(opened.level == .info)
    #expect(opened.metadata["type"] == "Binary" && opened.metadata["path"] == path)
    #expect(opened.metadata["milliseconds"].flatMap(Double.init) != nil)
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.convert(store, to: folder.url.appending(path: "Notes.csv"))
    let converted = try #require(memory.last("converted"))
    #expect(converted.metadata["former"] == path && converted.metadata["type"] == "CSV")
    container.close()
    #expect(memory.last("closed")?.metadata["path"] == folder.path("Notes.csv"))
  }

  @Test func savesAreToldWithCounts() throws {
    let container = try container()
    let context = ManagedObjectContext(container.persistentStoreCoordinator)
    let notes = try (0..<3).map { try context.newNote("private \($0)") }
    try context.save()
    let first = try #require(memory.last("saved"))
    #expect(first.level == .debug)
    #expect([first.metadata["inserted"], first.metadata["updated"], first.metadata["deleted"]] == ["3", "0", "0"])
    try notes[0].setValue("other", forKey: "text")
    context.delete(notes[1])
    try context.save()
    let second = try #require(memory.last("saved"))
    #expect([second.metadata["inserted"], second.metadata["updated"], second.metadata["deleted"]] == ["0", "1", "1"])
    let count = memory.entries.count
    try context.save()
    #expect(memory.entries.count == count)
    let child = ManagedObjectContext(parent: context)
    try child.note("child")
    try child.save()
    #expect(memory.last("saved")?.metadata["inserted"] == "1")
    #expect(memory.last("saved")?.metadata["destination"] == "parent")
    try container.persistentStoreCoordinator.execute(BatchDeleteRequest(entityName: "Note"))
    #expect(memory.last("saved a batch")?.metadata["count"] == "2")
  }

  private struct Place: CodableAttributeValue {
    var name = ""
    static let absentValue = Place()
  }

  @Test func whatCannotBeReadIsTold() throws {
    let model = try ManagedObjectModel(entities: [.entity("Note", .attribute("place", .binary, optional: true))])
    let context = ManagedObjectContext(try container(.error, model: model).persistentStoreCoordinator)
    let note = try context.insert(entityName: "Note")
    try note.setValue(Data("private".utf8), forKey: "place")
    let key = AttributeKey<Place?>("place")
    for _ in 0..<2 { #expect(note[key] == nil) }
    #expect(memory.entries.count == 1, "the same failure is told once")
    let entry = try #require(memory.last("could not read"))
    #expect(entry.level == .error)
    #expect(
      entry.metadata["entity"] == "Note" && entry.metadata["property"] == "place" && entry.metadata["records"] == "1"
    )
    #expect(!entry.metadata.values.contains { $0.contains("private") })
    #expect(context.readFailures.map(\.context.objectIDs) == [[note.objectID]])
    #expect(throws: PersistenceError.self) { try note.read(key) }
  }

  @Test func fetchesAreToldWithCountAndTime() async throws {
    let container = try container()
    try container.writeAndWait { context in
      for number in 0..<5 { try context.note("private \(number)") }
    }
    let context = ManagedObjectContext(container.persistentStoreCoordinator)
    let request = FetchRequest<ManagedObject>(entityName: "Note", limit: 2)
    var told = 0
    func expectTold(_ message: String, _ count: String) throws {
      let entry = try #require(memory.entries.last)
      #expect(entry.message == message && entry.level == .debug)
      #expect(entry.metadata["entity"] == "Note" && entry.metadata["count"] == count)
      #expect(entry.metadata["milliseconds"].flatMap(Double.init).map { $0 >= 0 } == true)
      told += 1
    }
    let before = memory.entries.count
    _ = try context.fetch(request)
    try expectTold("fetched", "2")
    _ = try context.fetchObjectIDs(request)
    try expectTold("fetched", "2")
    _ = try context.fetchRows(request)
    try expectTold("fetched", "2")
    _ = try context.fetch(entityName: "Note")
    try expectTold("fetched", "5")
    _ = try context.count(for: FetchRequest<ManagedObject>(entityName: "Note"))
    try expectTold("counted", "5")
    _ = try context.count(entityName: "Note")
    try expectTold("counted", "5")
    _ = try await context.fetchAsynchronously(request)
    try expectTold("fetched", "2")
    #expect(memory.entries.count == before + told)
  }

  @Test func migrationsAreTold() throws {
    let old = try container()
    try old.writeAndWait { try $0.note("kept") }
    old.close()
    _ = try container(model: try Notes.model(.attribute("title", .string, default: .string(""), renamedFrom: "text")))
    let entry = try #require(memory.last("migrated"))
    #expect(entry.level == .notice)
    #expect([entry.metadata["steps"], entry.metadata["from"], entry.metadata["to"]] == ["1", "1", "1"])
    #expect(entry.metadata["path"] == folder.path("Notes.heartwood"))
  }

  @Test func noValueIsTold() throws {
    let container = try container()
    try container.writeAndWait { try $0.note("private") }
    _ = try ManagedObjectContext(container.persistentStoreCoordinator).fetch(
      FetchRequest<ManagedObject>(entityName: "Note", where: try FetchPredicate(format: "text == 'private'"))
    )
    #expect(memory.entries.count > 2)
    #expect(!memory.entries.contains { "\($0)".contains("private") })
  }

  @Test func theLevelSaysHowMuch() throws {
    let container = try container(.info)
    try container.writeAndWait { try $0.note("a") }
    #expect(memory.entries.map(\.message) == ["opened"])
  }

  @Test func nobodyListensUnlessTold() throws {
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: try Notes.model())
    #expect(coordinator.logger == nil)
    #expect(
      try PersistentContainer(name: "Notes", managedObjectModel: Notes.model()).persistentStoreCoordinator.logger == nil
    )
  }

  @Test func whatIsDroppedIsAWarning() throws {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try Notes.model(),
      registry: .default,
      logger: memory.logger(.warning)
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let entity = try #require(coordinator.managedObjectModel.entities.first { !$0.isAbstract })
    let object = try context.insert(entityName: entity.name)
    context.rollback()
    let attribute = try #require(entity.properties.first { $0.attribute?.type == .string })
    try object.setPropertyValue(.string("secret"), forKey: attribute.name)
    context.delete(object)
    #expect(memory.entries.map(\.level) == [.warning, .warning])
    #expect(memory.entries.map { $0.metadata["entity"] } == [entity.name, entity.name])
    #expect(memory.entries.first?.metadata["property"] == attribute.name)
    #expect(memory.entries.first?.message.contains("a change was dropped, since the object's context") == true)
    #expect(!"\(memory.entries)".contains("secret"))
  }
}
