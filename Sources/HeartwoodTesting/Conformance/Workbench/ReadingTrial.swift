import Heartwood

/// What is done with a store whose reads may fail.
final class ReadingTrial {
  /// The same place, where nothing fails.
  let bench: Workbench
  /// The store whose reads may fail.
  let open: OpenStore
  private var contexts: [ManagedObjectContext] = []
  /// What the store may be left with, beside what it has in the end if nothing fails.
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

  /// Lets somebody else, whose reads do not fail, change what is there.
  func letOthers(_ change: (ManagedObjectContext) throws -> Void) throws {
    let others = try bench.openUnread()
    let context = others.makeContext()
    try change(context)
    try context.save()
    others.coordinator.close()
    try noteState()
  }

  /// Notes that what has been saved by now may stay as it is.
  func noteState() throws { states.append(try bench.allNames()) }

  /// What could not be read by calls that cannot throw.
  var readFailures: [PersistenceError] { contexts.flatMap(\.readFailures) }

  /// Fails unless all is well again once nothing fails: new contexts see what is there, and the old ones do once they have been reset.
  func expectRecovery(_ when: String) throws {
    guard coordinator.persistentStores.first === store else { return }
    let expected = try bench.allNames()
    for context in contexts {
      context.reset()
      // A pinned one would stay at what its coordinator has noticed by now.
      if context.parent == nil { try context.setQueryGeneration(from: nil) }
      try expect("what is there \(when)", is: expected, found: try open.allNames(in: context))
    }
    try expect("what is there \(when)", is: expected, found: try open.allNames())
  }
}

extension Workbench {
  /// What the store has in words, as somebody finds it who opens it.
  func allNames() throws -> [String] {
    let open = try openUnread()
    defer { open.coordinator.close() }
    return try open.allNames()
  }
}

extension OpenStore {
  /// The names of all records and of what they lead to, in words, sorted.
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
