import ArgumentParser
import BenchmarkSupport
import Foundation
import Heartwood

/// Opens a store whose records are all read when it is opened; the objects are read afterwards, which does not count.
struct LoadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "load", abstract: "Open a store and read all records.")

  @Argument var path: String

  func run() throws {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ToDoObject.makeModel(),
      registry: .default,
      objectClasses: [ToDoObject.self]
    )
    let clock = ContinuousClock()
    let duration = try clock.measure { try coordinator.addPersistentStore(at: URL(filePath: path)) }
    var checksum = ToDoChecksum()
    for object in try ManagedObjectContext(coordinator).fetch(ToDoObject.self) { try checksum.add(object) }
    try CaseReport(seconds: duration.seconds, rows: checksum.rows, checksum: checksum.value).print()
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
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ToDoObject.makeModel(),
      registry: .default,
      objectClasses: [ToDoObject.self]
    )
    let store = try coordinator.addPersistentStore(at: URL(filePath: source))
    let rows = try ManagedObjectContext(coordinator).fetch(ToDoObject.self).count
    let type = StoreRegistry.default.types(forFileName: destination).first ?? .binary
    let clock = ContinuousClock()
    let duration = try clock.measure {
      _ = try coordinator.migratePersistentStore(store, to: URL(filePath: destination), type: type)
    }
    try CaseReport(seconds: duration.seconds, rows: rows).print()
  }
}
