import CoreData
import Testing

@Suite struct ContextTests {
  @Test func performAndWaitMayBeNested() throws {
    let stack = try Stack(NSInMemoryStoreType)
    let value = stack.context.performAndWait {
      stack.context.performAndWait { stack.insert("Milk").memo }
    }
    #expect(value == "Milk")
  }

  @Test func performReturnsResultsAndErrors() async throws {
    let stack = try Stack(NSSQLiteStoreType)
    let context = stack.context
    let count = try await context.perform {
      let toDo = ToDo(context: context)
      toDo.memo = "Milk"
      try context.save()
      return try context.count(for: toDoRequest())
    }
    #expect(count == 1)
    await #expect(throws: CocoaError.self) {
      try await context.perform {
        _ = List(context: context)
        try context.save()
      }
    }
  }

  @Test func performRunsBlocksInTheirOrder() async throws {
    let stack = try Stack(NSInMemoryStoreType)
    let context = stack.context
    await withCheckedContinuation { continuation in
      context.perform { ToDo(context: context).sortOrder = 1 }
      context.perform { ToDo(context: context).sortOrder = 2 }
      context.perform { continuation.resume() }
    }
    context.performAndWait {
      #expect(Set(context.insertedObjects.compactMap { ($0 as? ToDo)?.sortOrder }) == [1, 2])
    }
  }

  @Test(arguments: Stack.types) func childContextsSaveToTheirParents(type: String) throws {
    let stack = try Stack(type)
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = stack.context
    #expect(child.persistentStoreCoordinator === stack.coordinator)
    try child.performAndWait {
      let list = List(context: child)
      list.title = "Shopping"
      let toDo = ToDo(context: child)
      toDo.memo = "Milk"
      toDo.list = list
      try child.save()
    }
    try stack.context.performAndWait {
      let toDo = try #require(try stack.context.fetch(toDoRequest()).first)
      #expect(toDo.memo == "Milk" && toDo.list?.title == "Shopping")
      #expect(stack.context.hasChanges)
      try stack.context.save()
      toDo.memo = "Bread"
    }
    // A child sees the unsaved changes of its parent.
    child.performAndWait { child.reset() }
    #expect(try child.performAndWait { try child.fetch(toDoRequest()).first?.memo } == "Bread")
  }

  @Test func savesAreAnnouncedWithTheirObjects() throws {
    let stack = try Stack(NSSQLiteStoreType)
    let heard = Heard(stack.context)
    try stack.context.performAndWait {
      let kept = stack.insert("Milk")
      let gone = stack.insert("Bread")
      stack.context.processPendingChanges()
      #expect(heard.names == ["change"])
      #expect(heard.sets("inserted") == [kept, gone])
      try stack.context.save()
      #expect(heard.names == ["change", "will", "did"])
      #expect(heard.sets("inserted") == [kept, gone])
      kept.memo = "Cheese"
      stack.context.delete(gone)
      try stack.context.save()
      #expect(heard.sets("updated") == [kept] && heard.sets("deleted") == [gone])
      #expect(heard.sets("inserted").isEmpty)
      #expect(heard.names.suffix(3) == ["will", "change", "did"])
    }
  }

  @Test func changesAreMergedFromNotifications() throws {
    let stack = try Stack(NSSQLiteStoreType)
    let other = Stack.context(of: stack.coordinator)
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave,
      object: other,
      queue: nil
    ) { notification in
      stack.context.perform { stack.context.mergeChanges(fromContextDidSave: notification) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try seesWhatAnotherSaves(stack, other)
  }

  /// Saves an object, changes it in another context, and expects the change in the first one.
  private func seesWhatAnotherSaves(_ stack: Stack, _ other: NSManagedObjectContext) throws {
    let toDo = try stack.context.performAndWait {
      let toDo = stack.insert("Milk")
      try stack.context.save()
      return Handed(toDo)
    }
    try Stack.changeFirst(in: other, to: "Bread")
    stack.context.performAndWait { #expect(toDo.object.memo == "Bread") }
  }

  @Test func changesAreMergedAutomatically() throws {
    let stack = try Stack(NSSQLiteStoreType)
    stack.context.automaticallyMergesChangesFromParent = true
    let other = Stack.context(of: stack.coordinator)
    try seesWhatAnotherSaves(stack, other)
  }

  @Test func changedObjectsAreRetained() throws {
    let stack = try Stack(NSSQLiteStoreType)
    try stack.context.performAndWait {
      stack.insert("Milk")
      try stack.context.save()
      weak var object: ToDo?
      try {
        let toDo = try #require(try stack.context.fetch(toDoRequest()).first)
        toDo.events.append("own")
        toDo.memo = "Bread"
        object = toDo
      }()
      #expect(object?.events.contains("own") == true)
      try stack.context.save()
      #expect(object == nil)
    }
  }

  @Test func observersWithSelectorsAreNotRetained() throws {
    let stack = try Stack(NSInMemoryStoreType)
    let center = NotificationCenter.default
    var observer: Observer? = Observer()
    weak let weakObserver = observer
    try stack.context.performAndWait {
      // What heartwood-coredata makes of `#selector(Observer.didSave(_:))`.
      let selector = Selector("didSave(_:)", Observer.didSave(_:))
      #expect(selector == Selector("didSave(_:)", Observer.didSave(_:)) && "\(selector)" == "didSave(_:)")
      center.addObserver(
        observer as Any,
        selector: selector,
        name: .NSManagedObjectContextDidSave,
        object: stack.context
      )
      center.addObserver(
        observer as Any,
        selector: Selector("count", Observer.count),
        name: .NSManagedObjectContextWillSave,
        object: stack.context
      )
      stack.insert("Milk")
      try stack.context.save()
      #expect(observer?.insertions == 1 && observer?.calls == 1)
      center.removeSelectorObserver(observer as Any, name: .NSManagedObjectContextDidSave, object: nil)
      stack.insert("Bread")
      try stack.context.save()
      #expect(observer?.insertions == 1 && observer?.calls == 2)
      center.removeSelectorObserver(observer as Any)
      stack.insert("Cheese")
      try stack.context.save()
      #expect(observer?.calls == 2)
      center.addObserver(observer as Any, selector: selector, name: .NSManagedObjectContextDidSave, object: nil)
    }
    observer = nil
    #expect(weakObserver == nil)
  }

  private final class Observer {
    private(set) var insertions = 0
    private(set) var calls = 0

    func didSave(_ notification: NSNotification) {
      insertions += (notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
    }

    func count() { calls += 1 }
  }

  @Test func resettingForgetsObjects() throws {
    let stack = try Stack(NSSQLiteStoreType)
    stack.context.performAndWait {
      let toDo = stack.insert("Milk")
      stack.context.reset()
      #expect(toDo.managedObjectContext == nil && !stack.context.hasChanges)
    }
  }

  @Test func mergingTellsOfNewObjects() throws {
    let stack = try Stack(NSInMemoryStoreType)
    let other = Stack.context(of: stack.coordinator)
    final class Told: @unchecked Sendable {
      // `@unchecked Sendable`: one thread runs the test.
      var memos: [String?] = []
      var saved: Notification?
      var savedIDs: [AnyHashable: Any]?
      var mergedIDs: [AnyHashable: Any]?
      var invalidated = 0
    }
    let told = Told()
    let center = NotificationCenter.default
    let observers = [
      center.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: other, queue: nil) { note in
        let inserted = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        told.invalidated += (note.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObject])?.count ?? 0
        told.memos += inserted.map { $0.value(forKey: "memo") as? String }
      },
      center.addObserver(forName: .NSManagedObjectContextDidSave, object: stack.context, queue: nil) {
        told.saved = $0
      },
      center.addObserver(
        forName: NSManagedObjectContext.didSaveObjectIDsNotification,
        object: stack.context,
        queue: nil
      ) { told.savedIDs = $0.userInfo },
      center.addObserver(
        forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification,
        object: other,
        queue: nil
      ) { told.mergedIDs = $0.userInfo },
    ]
    try stack.context.performAndWait {
      stack.insert("Milk")
      try stack.context.save()
    }
    let saved = try #require(told.saved)
    other.performAndWait { other.mergeChanges(fromContextDidSave: saved) }
    #expect(told.memos == ["Milk"])
    let ids = try #require(told.savedIDs?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)
    #expect(ids.count == 1 && told.mergedIDs?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == ids)
    try other.performAndWait {
      let found = try other.fetch(toDoRequest())
      other.reset()
      withExtendedLifetime(found) {}
    }
    #expect(told.invalidated == 1)
    for observer in observers { center.removeObserver(observer) }
  }
}

/// An object on its way between blocks of its own context.
private final class Handed: @unchecked Sendable {
  let object: ToDo

  init(_ object: ToDo) { self.object = object }
}

/// What a context announces.
private final class Heard: @unchecked Sendable {
  private(set) var names: [String] = []
  private var last: [AnyHashable: Any] = [:]
  private var observers: [any NSObjectProtocol] = []

  init(_ context: NSManagedObjectContext) {
    let names: [(NSNotification.Name, String)] = [
      (.NSManagedObjectContextWillSave, "will"), (.NSManagedObjectContextDidSave, "did"),
      (.NSManagedObjectContextObjectsDidChange, "change"),
    ]
    for (name, short) in names {
      observers.append(
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] notification in
          self?.names.append(short)
          if short != "will" { self?.last = notification.userInfo ?? [:] }
        }
      )
    }
  }

  deinit {
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  func sets(_ key: String) -> Set<NSManagedObject> { last[key] as? Set<NSManagedObject> ?? [] }
}
