public import CoreData
import HeartwoodModel
import Synchronization

/// What a save does besides.
public struct MRSaveOptions: OptionSet, Sendable {
  /// The number of the options.
  public let rawValue: UInt

  /// Creates options of a number.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The parents are saved too, up to the store.
  public static let parentContexts = MRSaveOptions(rawValue: 1 << 1)
  /// The save has ended when the function returns.
  public static let synchronously = MRSaveOptions(rawValue: 1 << 2)
}

extension NSManagedObjectContext {
  /// Makes the contexts of the stack.
  static func mr_initializeDefaultContext(with coordinator: NSPersistentStoreCoordinator) {
    let root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    root.persistentStoreCoordinator = coordinator
    root.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    root.name = "MagicalRecord Root Saving Context"
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.parent = root
    main.automaticallyMergesChangesFromParent = true
    main.name = "MagicalRecord Default Context"
    MagicalRecord.stack.withLock { ($0.coordinator, $0.rootSaving, $0.main) = (coordinator, root, main) }
  }

  private static func part(_ part: (MagicalRecord.Stack) -> NSManagedObjectContext?) -> NSManagedObjectContext {
    if let context = MagicalRecord.stack.withLock({ part($0) }) { return context }
    ProgrammerError.stop("No stack is set up. Call MagicalRecord.setupCoreDataStack() first.")
  }

  // MARK: Contexts

  /// The context of the main queue. A stack must be set up.
  public static func mr_default() -> NSManagedObjectContext { part { $0.main } }

  /// The context that writes to the store, the parent of the others. A stack must be set up.
  public static func mr_rootSaving() -> NSManagedObjectContext { part { $0.rootSaving } }

  /// Makes a context with a queue of its own, whose parent is the default context.
  public static func mr_context() -> NSManagedObjectContext { mr_context(withParent: mr_default()) }

  /// Makes a context with a queue of its own.
  public static func mr_context(withParent parentContext: NSManagedObjectContext) -> NSManagedObjectContext {
    let context = mr_newPrivateQueue()
    context.parent = parentContext
    return context
  }

  /// Makes a context with a queue of its own that saves to the stores of a coordinator.
  public static func mr_context(with coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = mr_newPrivateQueue()
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Makes a context with a queue of its own, which is not connected yet.
  public static func mr_newPrivateQueue() -> NSManagedObjectContext {
    NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  }

  /// Makes a context of the main queue, which is not connected yet.
  public static func mr_newMainQueue() -> NSManagedObjectContext {
    NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  }

  // MARK: Saving

  /// Saves the context, and its parents up to the store, and waits for it.
  public func mr_saveToPersistentStoreAndWait() {
    mr_save(options: [.parentContexts, .synchronously], completion: nil)
  }

  /// Saves the context, and its parents up to the store, later, and calls `completion` on the main queue.
  public func mr_saveToPersistentStore(completion: ((Bool, (any Error)?) -> Void)?) {
    mr_save(options: .parentContexts, completion: completion)
  }

  /// Saves the context to its parent, or to the store if it has none, and waits for it.
  public func mr_saveOnlySelfAndWait() { mr_save(options: .synchronously, completion: nil) }

  /// Saves the context to its parent, or to the store if it has none, later, and calls `completion` on the main queue.
  public func mr_saveOnlySelf(completion: ((Bool, (any Error)?) -> Void)?) {
    mr_save(options: [], completion: completion)
  }

  /// Saves the context. An error is given to ``MagicalRecord/MagicalRecord/errorHandler`` and to `completion`, whose
  /// first argument is whether anything was saved.
  public func mr_save(options saveOptions: MRSaveOptions, completion: ((Bool, (any Error)?) -> Void)?) {
    if saveOptions.contains(.synchronously) {
      let result = performAndWait { saving(saveOptions) }
      completion?(result.didSave, result.error)
      return
    }
    perform {
      let result = self.saving(saveOptions)
      guard let completion else { return }
      NSManagedObjectContext.mr_newMainQueue().perform { completion(result.didSave, result.error) }
    }
  }

  private func saving(_ options: MRSaveOptions) -> (didSave: Bool, error: (any Error)?) {
    do {
      return (try saveChain(options.contains(.parentContexts)), nil)
    } catch {
      MagicalRecord.handleErrors(error)
      return (false, error)
    }
  }

  /// Saves the context, and its parents if they are to be saved; returns whether there was anything to save.
  private func saveChain(_ withParents: Bool) throws -> Bool {
    let hadChanges = hasChanges
    if hadChanges { try save() }
    guard withParents, let parent else { return hadChanges }
    return try parent.performAndWait { try parent.saveChain(true) } || hadChanges
  }

  /// Calls `block` with a child of this context, later, and saves it up to the store.
  public func mr_save(
    _ block: @escaping (NSManagedObjectContext) -> Void,
    completion: ((Bool, (any Error)?) -> Void)? = nil
  ) {
    let context = NSManagedObjectContext.mr_context(withParent: self)
    context.perform {
      block(context)
      context.mr_saveToPersistentStore(completion: completion)
    }
  }

  /// Calls `block` with a child of this context, saves it up to the store, and waits for it.
  public func mr_save(blockAndWait block: (NSManagedObjectContext) -> Void) {
    let context = NSManagedObjectContext.mr_context(withParent: self)
    context.performAndWait {
      block(context)
      context.mr_saveToPersistentStoreAndWait()
    }
  }
}
