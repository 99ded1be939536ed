import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Creates a child of another context: it reads from the parent and saves to it.
  ///
  ///     let child = ManagedObjectContext(parent: context)
  ///     let book = try child.insert(Book.self)
  ///     try child.save()    // context has the new book, unsaved
  ///
  /// It sees the parent's records with the parent's unsaved changes, always in their current state. A save makes its
  /// changes unsaved changes of the parent. Chains may be of any depth. The parent is retained.
  ///
  /// - Parameter parent: a context of the same isolation. For others see ``init(parent:)-(BackgroundContext)`` and
  ///   ``ViewContext``.
  public convenience init(parent: ManagedObjectContext) {
    self.init(.context(parent, parent.beginStaging()), parent.persistentStoreCoordinator)
  }

  /// Creates a child of a background context, in the caller's isolation.
  ///
  /// It sees the parent's changes as of the end of the parent's last ``BackgroundContext/perform(_:)``, or of its last
  /// save. Saving does not wait for the parent: the parent merges the changes at the beginning of its next `perform`,
  /// or when the context saves with ``saveToPersistentStore(isolation:)``.
  public convenience init(parent: BackgroundContext) {
    self.init(host: parent)
  }

  /// Creates a child of the main actor's view context, in the caller's isolation, for example in the background.
  ///
  /// It sees the view context's changes as of the last time that they were published: by a save, a fetch, or
  /// ``publishChanges()``.
  public convenience init(parent: ViewContext) {
    self.init(host: parent)
  }

  private convenience init(host: any ContextHost) {
    host.stagingArea.noteDistantChild()
    self.init(.host(host), host.persistentStoreCoordinator)
  }

  /// The parent context, if it is of the same isolation; see ``parentHost``.
  public var parent: ManagedObjectContext? {
    if case .context(let parent, _) = sources.upstream { parent } else { nil }
  }

  /// The host of the parent context, if that is of another isolation: a ``BackgroundContext`` or a ``ViewContext``.
  public var parentHost: (any Sendable & AnyObject)? {
    if case .host(let host) = sources.upstream { host } else { nil }
  }

  /// Prepares the context for children.
  @discardableResult
  func beginStaging() -> StagingArea {
    if let area = children.stagingArea { return area }
    let area = StagingArea(persistentStoreCoordinator, upstream: sources.upstream.stagingArea)
    children.begin(area)
    // Changes up to here were not published.
    notes.noteChange()
    return area
  }
}

// MARK: Saving to a parent

extension ManagedObjectContext {
  /// Prepares a save to the parent: new objects get permanent ids, and the records on which changes are based are
  /// compared with the newest ones.
  func prepareForParent() throws {
    try obtainPermanentIDs(for: pending.inserted.objects)
    for binding in savedBindings { try binding.synchronize() }
  }

  /// Returns whether records that conflict with a save still have the values that they were read with: a parent of
  /// another isolation has assembled them again between the check and the save.
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
  /// - Throws: what ``save()`` throws for the first context that cannot be saved: those before it have been saved, and
  ///   their changes are changes of that context. ``PersistenceError/Code/isolationCrossed`` if a parent is of another
  ///   isolation, before anything is saved: then call ``saveToPersistentStore(isolation:)``.
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

  /// Saves this context and all its parents, up to the stores, whatever their isolation. If the context that saves to
  /// the stores is of the caller's isolation, this isolation is not blocked while they write: see
  /// ``saveAsynchronously(isolation:)``.
  ///
  /// - Throws: what ``save()`` throws for the first context that cannot be saved: those before it have been saved, and
  ///   their changes are changes of that context.
  public func saveToPersistentStore(isolation: isolated (any Actor)? = #isolation) async throws {
    var context = self
    while case .context(let parent, _) = context.sources.upstream {
      try context.save()
      context = parent
    }
    try await context.saveAsynchronously(isolation: isolation)
    try await context.topHost?.saveToPersistentStore()
  }

  /// The host of the first parent of another isolation; nil if this context and its parents save to the stores.
  var topHost: (any ContextHost)? {
    var context = self
    while case .context(let parent, _) = context.sources.upstream { context = parent }
    if case .host(let host) = context.sources.upstream { return host }
    return nil
  }

  private static func isolationCrossed() -> PersistenceError {
    PersistenceError(
      .isolationCrossed,
      "A parent of the context belongs to another isolation, for which this call cannot wait.",
      recovery: "Use `try await saveToPersistentStore()`."
    )
  }
}

// MARK: ContextUpstream

/// The source of a context's records, to which it also saves.
enum ContextUpstream {
  /// The stores of the coordinator.
  case stores
  /// A parent of the same isolation.
  case context(ManagedObjectContext, StagingArea)
  /// A parent of another isolation, through its host.
  case host(any ContextHost)
}

extension ContextUpstream {
  /// The parent's view of the stores; nil if there is no parent.
  var stagingArea: StagingArea? {
    switch self {
    case .stores: nil
    case .context(_, let area): area
    case .host(let host): host.stagingArea
    }
  }
}

/// The owner of a context in an isolation of its own. It is Sendable, so that contexts of other isolations can be its
/// children.
protocol ContextHost: AnyObject, Sendable {
  var persistentStoreCoordinator: PersistentStoreCoordinator { get }
  var stagingArea: StagingArea { get }

  /// Saves the context and all its parents.
  func saveToPersistentStore() async throws
}

// MARK: Saves of children

// Saves of children become changes of the parent.

extension ManagedObjectContext {
  /// Whether nothing is under way that must be exclusive: changes that may be reverted as a whole, a validation, in
  /// which objects can be neither changed nor renamed, or a save, whose end the context must process first.
  var mayBeDisturbed: Bool { !undoRecording.isWhole && !notes.isValidating && saveProgress.underWay == nil }

  /// Merges the saves of children since the last call, unless something is under way that it would disturb.
  func takeWaitingChildSaves() {
    if mayBeDisturbed { takeChildSaves() }
  }

  /// Merges the saves of children since the last call. If records of a save cannot be read, the save waits for the next
  /// call; see ``checkChildSavesAreTaken()``.
  func takeChildSaves() {
    // The saves of children are merged under the ids that the context has for their records.
    if children.takeSaves(followConversions, takeChildSaves) { notes.noteChange() }
  }

  /// - Returns: the reason if not all could be merged.
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

  /// Throws the reason why saves of children could not be merged.
  func checkChildSavesAreTaken() throws(PersistenceError) {
    if let error = children.waitingSaveFailure { throw error }
  }

  /// Throws once, before a save, if changes of a child could not be merged.
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
