import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodStore

/// Another process that uses a store, for tests: it says on a line of its own what it has done, and may be killed at any moment.
@main struct SQLiteWorker {
  private let context: ManagedObjectContext

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 2 else { throw Misuse() }
    if arguments[0] == "unprivileged" {
      // The superuser may write everything, which is not what is to be seen.
      if getuid() == 0 { guard setuid(65_534) == 0 else { throw Misuse() } }
      return try report { try run(Array(arguments.dropFirst())) }
    }
    try run(arguments)
  }

  struct Misuse: Error {}

  /// Says something at once, whoever listens.
  private static func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }

  private static func run(_ arguments: [String]) throws {
    var options = StoreOptions()
    options[.sqliteBusyTimeout] = .seconds(60)
    if ["read", "watch"].contains(arguments[0]) { options[.isReadOnly] = true }
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try WorkerModel.model(),
      registry: StoreRegistry([SQLiteStore.self])
    )
    if ["replace", "copy"].contains(arguments[0]) { return try replace(arguments, coordinator) }
    if arguments[0] == "backup" { return try backUp(arguments) }
    try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: arguments[1]), options: options)
    let worker = SQLiteWorker(context: ManagedObjectContext(coordinator))
    switch arguments[0] {
    case "insert": try worker.insert(prefix: arguments[2], count: Int(arguments[3]) ?? 0)
    case "rename": try worker.rename(arguments[2], to: arguments[3])
    case "delete": try worker.delete(arguments[2])
    case "rewrite": try worker.rewrite(seed: UInt64(arguments[2]) ?? 0)
    case "read": say("\(try worker.items().count)")
    case "watch": try worker.watch()
    default: throw Misuse()
    }
    coordinator.close()
  }

  /// Puts what another store keeps in the place of a store: through memory, or as it is copied.
  private static func replace(_ arguments: [String], _ coordinator: PersistentStoreCoordinator) throws {
    var options = StoreOptions()
    options[.isReadOnly] = true
    let source = try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: arguments[2]), options: options)
    let url = URL(filePath: arguments[1])
    if arguments[0] == "copy" {
      try coordinator.copyPersistentStore(source, to: url, replacing: true)
    } else {
      try coordinator.convert(source, to: url, replacing: true)
      say("\(try SQLiteWorker(context: ManagedObjectContext(coordinator)).items().count)")
    }
    coordinator.close()
  }

  /// Copies a store to another file.
  private static func backUp(_ arguments: [String]) throws {
    try SQLiteStore.backUp(storeAt: URL(filePath: arguments[1]), to: URL(filePath: arguments[2]))
    say("copied")
  }

  /// Prints the code of an error instead of ending with it.
  private static func report(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as HeartwoodStore.PersistenceError {
      say("\(error.code)")
    }
  }
}

extension SQLiteWorker {
  private func items(named name: String? = nil) throws -> [ManagedObject] {
    let predicate = try name.map { try FetchPredicate(format: "name == %@", $0) }
    return try context.fetch(
      FetchRequest<ManagedObject>(entityName: "Item", where: predicate, sortedBy: [FetchSortDescriptor("name")])
    )
  }

  /// Reads until there is something else to be read.
  private func watch() throws {
    let first = try items().count
    Self.say("\(first)")
    for _ in 0..<3000 {
      let count = try items().count
      if count != first { return Self.say("\(count)") }
      usleep(10_000)
    }
  }

  private func insert(prefix: String, count: Int) throws {
    for index in 0..<count {
      let item = try context.insert(entityName: "Item")
      try item.setValue("\(prefix) \(index)", forKey: "name")
      try item.setValue(
        [try context.insert(entityName: "Part"), try context.insert(entityName: "Part")],
        forKey: "parts"
      )
      try context.save()
      Self.say("\(index)")
    }
  }

  private func rename(_ name: String, to newName: String) throws {
    for item in try items(named: name) { try item.setValue(newName, forKey: "name") }
    try context.save()
    Self.say("renamed")
  }

  private func delete(_ name: String) throws {
    for item in try items(named: name) { context.delete(item) }
    try context.save()
    Self.say("deleted")
  }

  /// Gives items large and small data for ever, and lets some go.
  private func rewrite(seed: UInt64) throws {
    var state = seed
    func random(below limit: UInt64) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % limit)
    }
    while true {
      let item = try context.insert(entityName: "Item")
      try item.setValue(UUID().uuidString, forKey: "name")
      for item in try items() where random(below: 3) == 0 {
        let byte = UInt8(random(below: 256))
        try item.setValue(Data(repeating: byte, count: [10, 150_000, 400_000][random(below: 3)]), forKey: "data")
      }
      for item in try items().dropFirst(4) { context.delete(item) }
      try context.save()
      Self.say("saved")
    }
  }
}
