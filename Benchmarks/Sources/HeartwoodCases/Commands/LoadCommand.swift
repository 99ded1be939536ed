import ArgumentParser
import BenchmarkSupport
import ColumnFile
import Foundation
import Heartwood

/// Opens a store whose records are all read when it is opened; the objects are read afterwards, which counts neither for the time nor
/// for the growth of memory.
struct LoadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "load", abstract: "Open a store and read all records.")

  @Argument var path: String
  @Flag(help: "Let the first look at a record count too: what lies in a mapped file is checked then.") var checked =
    false

  func run() throws {
    try StoreRegistry.default.register(ColumnFileStore.self)
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ToDoObject.makeModel(),
      registry: .default,
      objectClasses: [ToDoObject.self]
    )
    let clock = ContinuousClock()
    let memory = MemoryWatch()
    let start = clock.now
    let store = try coordinator.addPersistentStore(at: URL(filePath: path))
    let opened = clock.now
    // A mapped file is read, and checked, before the first record is looked at.
    try ManagedObjectContext(coordinator).fetchFirst()
    let duration = (checked ? clock.now : opened) - start
    let growth = memory.growth
    var checksum = ToDoChecksum()
    for object in try ManagedObjectContext(coordinator).fetch(ToDoObject.self) { try checksum.add(object) }
    try CaseReport(
      seconds: duration.seconds,
      rows: checksum.rows,
      checksum: checksum.value,
      tableBytes: store.recordByteCount,
      growth: growth
    ).print()
  }
}

/// Writes what a store holds as another, durably; opening the first does not count.
struct SaveAsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "save-as",
    abstract: "Write a store's records as another."
  )

  @Argument var source: String
  @Argument var destination: String

  func run() throws {
    try StoreRegistry.default.register(ColumnFileStore.self)
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ToDoObject.makeModel(),
      registry: .default,
      objectClasses: [ToDoObject.self]
    )
    let memory = MemoryWatch()
    let store = try coordinator.addPersistentStore(at: URL(filePath: source))
    try ManagedObjectContext(coordinator).fetchFirst()
    let type = StoreRegistry.default.types(forFileName: destination).first ?? .binary
    let clock = ContinuousClock()
    let start = clock.now
    let saved = try coordinator.convert(store, to: URL(filePath: destination), type: type)
    let duration = clock.now - start
    let growth = memory.growth
    let rows = try ManagedObjectContext(coordinator).count(ToDoObject.self)
    try CaseReport(
      seconds: duration.seconds,
      rows: rows,
      tableBytes: saved.recordByteCount,
      growth: growth
    ).print()
  }
}

extension ManagedObjectContext {
  /// Looks at one record.
  fileprivate func fetchFirst() throws {
    _ = try fetch(FetchRequest<ToDoObject>(limit: 1)).first?.memo
  }
}
