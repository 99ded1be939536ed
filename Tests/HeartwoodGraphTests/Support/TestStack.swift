import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

/// A kind of store that every test of contexts and objects runs on.
enum TestStoreKind: CaseIterable, Sendable {
  case inMemory
  case binary
  case incremental
  case sqlite

  /// The kinds that keep a history.
  static let withHistory: [TestStoreKind] = [.inMemory, .binary, .sqlite]
}

/// A coordinator of the library's model with one store, on files in memory that can be made to fail.
struct TestStack {
  let files: FaultInjectingFileSystem
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  /// Where the file is of a store that is not on ``files``.
  private let folder: ScratchFolder?
  static let url = URL(filePath: "/folder/library.heartwood")

  init(
    _ kind: TestStoreKind = .inMemory,
    files: FaultInjectingFileSystem = FaultInjectingFileSystem(wrapping: InMemoryFileSystem()),
    options: StoreOptions = StoreOptions()
  ) throws {
    self.files = files
    coordinator = try Self.coordinator(files)
    folder = kind == .sqlite ? try ScratchFolder() : nil
    switch kind {
    case .inMemory: store = try coordinator.addPersistentStore(type: .inMemory, at: nil, options: options)
    case .binary: store = try coordinator.addPersistentStore(type: .binary, at: Self.url, options: options)
    case .incremental:
      var options = options
      options[.recordDatabase] = RecordDatabase()
      store = try coordinator.addPersistentStore(type: RecordStore.typeDescription.type, at: nil, options: options)
    case .sqlite:
      let url = folder?.url.appending(path: "library.sqlite")
      store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    }
  }

  /// The stores that ship and those of the tests.
  static let registry: StoreRegistry = {
    do {
      return try StoreRegistry([
        BinaryStore.self, CSVStore.self, XMLStore.self, PropertyListStore.self, CoreDataBinaryStore.self,
        InMemoryStore.self, RecordStore.self,
        SQLiteStore.self,
      ])
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  static func coordinator(
    _ files: FaultInjectingFileSystem = FaultInjectingFileSystem(wrapping: InMemoryFileSystem())
  ) throws -> PersistentStoreCoordinator {
    try PersistentStoreCoordinator(
      managedObjectModel: Library.model,
      registry: registry,
      objectClasses: Library.objectClasses,
      fileSystem: files
    )
  }

  func context() -> ManagedObjectContext { ManagedObjectContext(coordinator) }

  /// Converts the store to one whose records have numbers.
  func convertToNumbers() throws {
    var options = StoreOptions()
    options[.recordDatabase] = RecordDatabase()
    for store in coordinator.persistentStores {
      try coordinator.convert(store, to: nil, type: RecordStore.typeDescription.type, options: options)
    }
  }
}

extension ManagedObjectContext {
  func person(_ name: String) throws -> Person {
    let person = try insert(Person.self)
    person.name = name
    return person
  }

  func book(_ title: String, on shelf: Shelf? = nil) throws -> Book {
    let book = try insert(Book.self)
    book.title = title
    book.shelf = shelf
    return book
  }
}

/// The error of the library that `body` throws, or nil where it throws none.
func persistenceError(_ body: () throws -> Void) -> PersistenceError? {
  do {
    try body()
    return nil
  } catch {
    return error as? PersistenceError
  }
}

/// Expects that a process has stopped because of a mistake, and has said what it was.
func expect(
  _ stop: ExitTest.Result?,
  says text: String,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let said = String(decoding: stop?.standardErrorContent ?? [], as: UTF8.self)
  #expect(said.contains(text), sourceLocation: sourceLocation)
}
