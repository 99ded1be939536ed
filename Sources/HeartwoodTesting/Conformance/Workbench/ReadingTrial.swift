import Heartwood

/// A store whose reads may fail, with the contexts that use it.
final class ReadingTrial {
  /// The workbench of the same files, without faults.
  let bench: Workbench
  /// The store whose reads may fail.
  let open: OpenStore
  private var contexts: [ManagedObjectContext] = []
  /// The contents that the store may have if something fails, other than those that it has if nothing fails.
  private(set) var states: [[String]]

  init(_ bench: Workbench, _ faults: ReadFaults) throws {
    self.bench = bench
    states = [try bench.allNames()]
    open = try bench.with(try bench.conformance.failing(by: faults)).openUnread()
  }

  var coordinator: PersistentStoreCoordinator { open.coordinator }
  var store: PersistentStore { open.store }

  func makeContext() -> ManagedObjectContext { keep(open.makeContext()) }

  func makeChild(of context: ManagedObjectContext) -> ManagedObjectContext {
    keep(ManagedObjectContext(parent: context))
  }

  private func keep(_ context: ManagedObjectContext) -> ManagedObjectContext {
    contexts.append(context)
    return context
  }

  /// Changes the store's contents through another coordinator, whose reads do not fail.
  func letOthers(_ change: (ManagedObjectContext) throws -> Void) throws {
    let others = try bench.openUnread()
    let context = others.makeContext()
    try change(context)
    try context.save()
    others.coordinator.close()
    try noteState()
  }

  /// Adds the saved contents to the allowed ones.
  func noteState() throws { states.append(try bench.allNames()) }

  /// The errors of reads in calls that cannot throw.
  var readFailures: [PersistenceError] { contexts.flatMap(\.readFailures) }

  /// Fails unless everything can be read when there are no more faults, in new contexts, and in the old ones after a
  /// reset.
  func expectRecovery(_ when: String) throws {
    guard coordinator.persistentStores.first === store else { return }
    let expected = try bench.allNames()
    for context in contexts {
      context.reset()
      // A pinned context would stay at the data that its coordinator has read by now.
      if context.parent == nil { try context.setQueryGeneration(from: nil) }
      try expect("what is there \(when)", is: expected, found: try open.allNames(in: context))
    }
    try expect("what is there \(when)", is: expected, found: try open.allNames())
  }
}

extension Workbench {
  /// Returns the contents of the store in words, as read by a new coordinator.
  func allNames() throws -> [String] {
    let open = try openUnread()
    defer { open.coordinator.close() }
    return try open.allNames()
  }
}

extension OpenStore {
  /// Returns the names of all records and of the records that they refer to, in words, sorted.
  func allNames(in context: ManagedObjectContext? = nil) throws -> [String] {
    let context = context ?? makeContext()
    return try concreteEntities.flatMap { entity in
      try context.fetch(entityName: entity.name).map { object in
        let parts = try entity.properties.map { property in
          switch try object.value(forKey: property.name) {
          case let objects as [ManagedObject]:
            try objects.map { try $0.read(ReadingModel.name) ?? "-" }.sorted().joined(separator: "+")
          case let other as ManagedObject: try other.read(ReadingModel.name) ?? "-"
          case let value: value.map { "\($0)" } ?? "-"
          }
        }
        return "\(entity.name): \(parts.joined(separator: ", "))"
      }
    }.sorted()
  }
}
