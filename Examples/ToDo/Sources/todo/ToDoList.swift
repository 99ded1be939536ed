import Foundation
import Heartwood
import HeartwoodSQLite

/// The to-dos of a file, in their order. People count them from 1.
struct ToDoList {
  let container: PersistentContainer
  /// Where all versions of the model are.
  static let modelBundle = Bundle.module.bundleURL
  /// The types that a file may be of: those that come with Heartwood, and SQLite's, which is a product of its own.
  static let registry = Result {
    let registry = StoreRegistry.default
    try registry.register(SQLiteStore.self)
    return registry
  }

  /// Opens a file, or makes it. Its extension tells its type; a file of an older version of the model is migrated.
  ///
  /// - Parameter file: nil means the one in the user's folder.
  static func open(_ file: URL?) async throws -> ToDoList {
    let container = try PersistentContainer(
      name: "ToDo",
      modelIn: [modelBundle],
      stores: [PersistentStoreDescription(url: file)],
      objectClasses: ToDoModel.objectClasses,
      directory: file?.deletingLastPathComponent() ?? PersistentContainer.defaultDirectoryURL(applicationName: "todo"),
      registry: try registry.get()
    )
    try await container.loadPersistentStores()
    return ToDoList(container: container)
  }

  /// Changes the to-dos, and saves them.
  func write<Result>(
    _ body: sending (ManagedObjectContext, [ToDo]) throws -> sending Result
  ) async throws -> sending Result {
    try await container.write { context in try body(context, try Self.toDos(in: context)) }
  }

  /// Reads the to-dos.
  func read<Result>(_ body: sending ([ToDo]) throws -> sending Result) async throws -> sending Result {
    try await container.performBackgroundTask { context in try body(try Self.toDos(in: context)) }
  }

  /// Writes all to-dos as another file, of the type that its extension tells.
  func export(to url: URL, replacing: Bool) throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.copyPersistentStore(store, to: url, replacing: replacing)
    }
  }

  private static func toDos(in context: ManagedObjectContext) throws -> [ToDo] {
    try context.fetch(
      ToDo.self,
      sortedBy: FetchSortDescriptor(\ToDo.sortOrder),
      FetchSortDescriptor(\ToDo.creationDate)
    )
  }
}

// MARK: What is done to them

extension ToDoList {
  /// Adds a to-do as the last.
  func add(_ memo: String, due: Date?, priority: Priority) async throws {
    try await write { context, toDos in
      let toDo = try context.insert(ToDo.self)
      toDo.memo = memo
      toDo.due = due
      toDo.priority = priority
      toDo.creationDate = Date()
      // A file that people have edited may have the greatest number that there is.
      if toDos.last?.sortOrder == Int32.max { Self.renumber(toDos) }
      toDo.sortOrder = (toDos.last?.sortOrder ?? 0) + 1
    }
  }

  /// The lines that show the to-dos.
  func lines(includingDone: Bool) async throws -> [String] {
    try await read { toDos in
      toDos.enumerated().filter { includingDone || !$1.done }.map { $1.line(number: $0 + 1) }
    }
  }

  /// Notes that a to-do is done, or that it is not.
  func setDone(_ isDone: Bool, number: Int) async throws {
    try await write { _, toDos in try toDos.at(number).done = isDone }
  }

  /// Gives a to-do another place.
  func move(number: Int, to place: Int) async throws {
    try await write { _, toDos in
      let toDo = try toDos.at(number)
      _ = try toDos.at(place)
      var order = toDos
      order.remove(at: number - 1)
      order.insert(toDo, at: place - 1)
      Self.renumber(order)
    }
  }

  /// Lets the numbers by which to-dos are sorted be those that people count.
  private static func renumber(_ toDos: [ToDo]) {
    for (index, toDo) in toDos.enumerated() where toDo.sortOrder != Int32(index) + 1 {
      toDo.sortOrder = Int32(index) + 1
    }
  }

  /// Deletes a to-do.
  func remove(number: Int) async throws {
    try await write { context, toDos in context.delete(try toDos.at(number)) }
  }
}

/// Why there is nothing to be done.
struct NoSuchToDo: Error, CustomStringConvertible {
  let number: Int
  let count: Int

  var description: String {
    count == 0
      ? "There are no to-dos. Add one with: todo add MEMO"
      : "There is no to-do \(number). Give a number from 1 to \(count), as `todo list --all` shows them."
  }
}

extension [ToDo] {
  fileprivate func at(_ number: Int) throws -> ToDo {
    guard indices.contains(number - 1) else { throw NoSuchToDo(number: number, count: count) }
    return self[number - 1]
  }
}
