import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Makes a context that reads from another one and saves to it.
  ///
  /// It sees the parent's records with the parent's unsaved changes, as they are whenever it looks. A save makes its changes
  /// unsaved changes of the parent. Chains may be of any depth. The parent is held.
  ///
  /// - Parameter parent: a context of the same isolation. For others see ``init(parent:)-(BackgroundContext)`` and
  ///   ``ViewContext``.
  public convenience init(parent: ManagedObjectContext) {
    self.init(.context(parent, parent.beginStaging()), parent.persistentStoreCoordinator)
  }

  /// Makes a context of the caller's isolation that reads from the context of a background one and saves to it.
  ///
  /// It sees the parent's changes as they were at the end of the parent's last
  /// ``BackgroundContext/perform(_:)``, or when it last saved. Saving does not wait for the parent: the parent takes the changes in at the beginning of its
  /// next `perform`, or when the context saves with ``saveToPersistentStore(isolation:)``.
  public convenience init(parent: BackgroundContext) {
    self.init(host: parent)
  }

  /// Makes a context of the caller's isolation, in the background say, that reads from the main actor's view context and saves to
  /// it.
  ///
  /// It sees the view context's changes as they were when that was last published: by a save, a fetch, or
  /// ``publishChanges()``.
  public convenience init(parent: ViewContext) {
    self.init(host: parent)
  }

  private convenience init(host: any ContextHost) {
    host.stagingArea.noteDistantChild()
    self.init(.host(host), host.persistentStoreCoordinator)
  }

  /// The context that this one reads from and saves to, where that is one of the same isolation; see ``parentHost``.
  public var parent: ManagedObjectContext? {
    if case .context(let parent, _) = sources.upstream { parent } else { nil }
  }

  /// The keeper of the context that this one reads from and saves to, where that is of another isolation: a ``BackgroundContext``
  /// or a ``ViewContext``.
  public var parentHost: (any Sendable & AnyObject)? {
    if case .host(let host) = sources.upstream { host } else { nil }
  }

  /// Lets there be children.
  @discardableResult
  func beginStaging() -> StagingArea {
    if let area = children.stagingArea { return area }
    let area = StagingArea(persistentStoreCoordinator, upstream: sources.upstream.stagingArea)
    children.begin(area)
    // What has been changed so far was not published.
    notes.noteChange()
    return area
  }
}

// MARK: Saving to a parent

extension ManagedObjectContext {
  /// Makes sure that changes can be given to the parent: new objects have the names that they keep, and what changes are based on is
  /// compared with the newest.
  func prepareForParent() throws {
    try obtainPermanentIDs(for: pending.inserted.objects)
    for binding in savedBindings { try binding.synchronize() }
  }

  /// Whether records that conflict with a save have the values that they were read with after all: a parent of another isolation
  /// has put them together anew between the look and the save.
  func hasMerelyMoved(_ error: PersistenceError) throws -> Bool {
    let ids = error.context.objectIDs
    guard sources.upstream.stagingArea != nil, error.code == .saveConflict, !ids.isEmpty else { return false }
    return try ids.allSatisfy { id in
      guard let object = registeredObject(for: id) else { return false }
      try object.binding.synchronize()
      let newest = object.binding.liveGroup(of: object.rowID)
      return newest?.versions[object.rowID.row] == object.baseVersion
    }
  }

  /// Saves this context and all its parents, up to the stores.
  ///
  /// - Throws: what ``save()`` throws, of the first context that cannot be saved: those before it have been, and their changes
  ///   are changes of that one. ``PersistenceError/Code/isolationCrossed`` where a parent is of another isolation, before anything
  ///   is saved: call ``saveToPersistentStore(isolation:)`` there.
  public func saveToPersistentStore() throws {
    var context = self
    while true {
      switch context.sources.upstream {
      case .stores: return try saveChain()
      case .context(let parent, _): context = parent
      case .host: throw Self.isolationCrossed()
      }
    }
  }

  /// Saves this context and its parents of the same isolation.
  func saveChain() throws {
    var context: ManagedObjectContext? = self
    while let current = context {
      try current.save()
      context = current.parent
    }
  }

  /// Saves this context and all its parents, up to the stores, whatever their isolation. Where the caller's isolation is that of the context
  /// which saves to the stores, it is not held up while they write: see ``saveAsynchronously(isolation:)``.
  ///
  /// - Throws: what ``save()`` throws, of the first context that cannot be saved: those before it have been, and their changes
  ///   are changes of that one.
  public func saveToPersistentStore(isolation: isolated (any Actor)? = #isolation) async throws {
    var context = self
    while case .context(let parent, _) = context.sources.upstream {
      try context.save()
      context = parent
    }
    try await context.saveAsynchronously(isolation: isolation)
    try await context.topHost?.saveToPersistentStore()
  }

  /// The keeper of the first parent of another isolation; nil where this context and its parents save to the stores.
  var topHost: (any ContextHost)? {
    var context = self
    while case .context(let parent, _) = context.sources.upstream { context = parent }
    if case .host(let host) = context.sources.upstream { return host }
    return nil
  }

  private static func isolationCrossed() -> PersistenceError {
    PersistenceError(
      .isolationCrossed,
      "A parent of the context is of another isolation, which cannot be waited for here.",
      recovery: "Use `try await saveToPersistentStore()`."
    )
  }
}

// MARK: ContextUpstream

/// What a context reads from and saves to.
enum ContextUpstream {
  /// The stores of the coordinator.
  case stores
  /// A parent of the same isolation.
  case context(ManagedObjectContext, StagingArea)
  /// A parent of another isolation, by the one who may touch it.
  case host(any ContextHost)
}

extension ContextUpstream {
  /// The parent's view of the stores; nil where there is no parent.
  var stagingArea: StagingArea? {
    switch self {
    case .stores: nil
    case .context(_, let area): area
    case .host(let host): host.stagingArea
    }
  }
}

/// Who keeps a context in an isolation of its own. It is Sendable, so contexts of other isolations can be its children.
protocol ContextHost: AnyObject, Sendable {
  var persistentStoreCoordinator: PersistentStoreCoordinator { get }
  var stagingArea: StagingArea { get }

  /// Saves the context and all above it.
  func saveToPersistentStore() async throws
}

// MARK: Saves of children

// What children have saved becomes changes of the parent.

extension ManagedObjectContext {
  /// Whether nothing is under way that must be alone: what may be taken back as a whole, a validation, in which objects can be neither
  /// changed nor renamed, or a save, which the context is to learn of first.
  var mayBeDisturbed: Bool { !undoRecording.isWhole && !notes.isValidating && saveProgress.underWay == nil }

  /// Takes in what children have saved since the last time, unless something is under way that it would disturb.
  func takeWaitingChildSaves() {
    if mayBeDisturbed { takeChildSaves() }
  }

  /// Takes in what children have saved since the last time. What cannot be taken in, since the records that it changes cannot be read, waits
  /// for the next time; see ``checkChildSavesAreTaken()``.
  func takeChildSaves() {
    // What children have saved is called by the names that the context has for it.
    if children.takeSaves(followConversions, takeChildSaves) { notes.noteChange() }
  }

  /// - Returns: why not all could be taken in, if it could not.
  private func takeChildSaves(from staged: StagedStore) -> PersistenceError? {
    let names = ChildSaveNames(staged, persistentStoreCoordinator.unsavedNames)
    while let childSave = staged.nextChildSave {
      do throws(PersistenceError) {
        var pass = try ChildSaveMerge(self, childSave, names)
        staged.takeNextChildSave()
        pass.run()
      } catch {
        noteReadFailure(error)
        return error
      }
    }
    return nil
  }

  /// Throws why what children have saved could not be taken in.
  func checkChildSavesAreTaken() throws(PersistenceError) {
    if let error = children.waitingSaveFailure { throw error }
  }

  /// Tells once, before a save, where a child's changes could not be taken in.
  func checkChildSaves() throws(PersistenceError) {
    let ids = children.takeConflicts()
    if ids.isEmpty { return }
    throw PersistenceError(
      .saveConflict,
      "A child context saved changes of objects that this context had changed too, or deleted, without the "
        + "child being able to see it. This context's own changes stand.",
      recovery: "Save again to keep them.",
      context: .init(objectIDs: ids)
    )
  }
}
