import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

extension DocumentSession {
  /// The place to which a document is written, with its type and options.
  struct Destination: Sendable {
    let url: URL
    let type: StoreType?
    /// The options of the new store; nil means those of the open one.
    let options: StoreOptions?
    let isReplacing: Bool
  }

  /// Writes the changes to the document's file.
  func save(_ context: ManagedObjectContext) throws {
    let store = store
    guard store.path != nil else { throw Self.withoutFile("saved") }
    try checkFile()
    try write(context, to: store)
    try noteSaved(store, context)
  }

  /// Writes the changes to the document's file on another thread.
  func saveAsynchronously(_ context: ManagedObjectContext, isolation: isolated (any Actor)? = #isolation) async throws {
    let store = store
    guard store.path != nil else { throw Self.withoutFile("saved") }
    try await WaitingWork.run { try self.checkFile() }
    try await context.saveAsynchronously(isolation: isolation)
    let origin = context.saveOrigin
    try await WaitingWork.run { try Self.writeRest(of: store, origin) }
    // The document may have been saved as another file meanwhile.
    if store === self.store { try noteSaved(store, context) }
  }

  /// Writes the document to another file or as another type, which it uses from then on. If it throws, the document
  /// keeps its file.
  func save(_ context: ManagedObjectContext, as destination: Destination) throws {
    let old = store
    let request = try request(destination)
    let isOwnPlace = request.type == old.type && coordinator.persistentStore(for: destination.url) === old
    var isOwnFile = false
    if isOwnPlace {
      let fileState = try noteFileState()
      if try isPlainSave(old, destination, fileState) { return try save(context) }
      // The document's own file may be replaced.
      isOwnFile = fileState == .unchanged
    }
    let (new, number) = try exchange(old, request, replacing: destination.isReplacing || isOwnFile, isOwnFile)
    do {
      try write(context, to: new)
    } catch {
      let isReplaced = isOwnPlace && hasReplaced(old, new)
      // Unless another context has saved to the new store, it has not been used.
      let isUnseen = !isReplaced && new.engine.close(unlessSavedSince: number)
      if isUnseen { try putBack(old, for: new) } else { try noteSaved(new, context) }
      throw error
    }
    try noteSaved(new, context)
  }

  /// Returns whether the file of `new` has replaced that of `old`: only the flush of the folder has failed.
  private func hasReplaced(_ old: PersistentStore, _ new: PersistentStore) -> Bool {
    // try?: the save has thrown already.
    (try? new.fileState()) == .unchanged && (try? old.fileState()) != .unchanged
  }

  /// Returns whether saving the document as itself is an ordinary save: the file is in its place, and its options do
  /// not change.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if a store that is saved record by record would get other
  ///   options.
  private func isPlainSave(
    _ store: PersistentStore,
    _ destination: Destination,
    _ fileState: StoreFileState
  ) throws(PersistenceError) -> Bool {
    if store.engine.readsAsNeeded {
      guard destination.options == nil else { throw Self.keepsItsOptions(store) }
      return true
    }
    switch fileState {
    case .absent, .unchanged: return destination.options == nil
    // Saving reports what has become of the file.
    case .changed: return !destination.isReplacing
    case .moved, .removed: return false
    }
  }

  /// Writes a copy of the document, with its unsaved changes, to another file. The document keeps its file, and its
  /// changes stay unsaved.
  func saveCopy(_ context: ManagedObjectContext, to destination: Destination) throws {
    let store = store
    let request = try request(destination)
    guard coordinator.persistentStore(for: destination.url) == nil else {
      throw PersistenceError(
        .storeAlreadyOpen,
        "A copy cannot be written over the document itself.",
        recovery: .chooseAnotherName,
        context: .init(path: request.path)
      )
    }
    let changes = try context.changesForCopy(of: store)
    let copy = try coordinator.storeManager.prepare(store, as: request, replacing: destination.isReplacing)
    _ = try copy.engine.save(changes, origin: context.saveOrigin)
  }

  /// Saves the document if it has unsaved changes, and returns whether it had.
  func autosave(_ context: ManagedObjectContext) throws -> Bool {
    do {
      guard hasUnsavedChanges(context) else { return try noteNothingToSave() }
      try save(context)
      return true
    } catch {
      throw noteFailedAutosave(error)
    }
  }

  /// Saves the document on another thread if it has unsaved changes, and returns whether it had.
  func autosaveAsynchronously(
    _ context: ManagedObjectContext,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Bool {
    do {
      guard hasUnsavedChanges(context) else { return try await WaitingWork.run { try self.noteNothingToSave() } }
      try await saveAsynchronously(context, isolation: isolation)
      return true
    } catch {
      throw noteFailedAutosave(error)
    }
  }

  private func noteNothingToSave() throws(PersistenceError) -> Bool {
    try noteFileState()
    noteAutosave(nil)
    return false
  }

  private func noteFailedAutosave(_ error: any Error) -> any Error {
    noteAutosave(.of(error, .fileWriteFailed, "The document was not saved."))
    return error
  }
}

// MARK: Writing

extension DocumentSession {
  private func write(_ context: ManagedObjectContext, to store: PersistentStore) throws {
    try context.save()
    try Self.writeRest(of: store, context.saveOrigin)
  }

  /// Writes metadata that were not saved with a change of an object, and the file if it does not exist yet.
  private static func writeRest(of store: PersistentStore, _ origin: SaveOrigin) throws {
    let isUnwritten = store.hasUnsavedMetadata ? true : try store.fileState() == .absent
    if isUnwritten { _ = try store.engine.save(ChangeSet(), origin: origin) }
  }

  /// - Throws: ``PersistenceError/Code/fileChangedOnDisk`` if the document's file is not the one that was opened or
  ///   saved.
  private func checkFile() throws(PersistenceError) {
    let recovery: PersistenceError.Recovery
    let story: String
    var context = PersistenceError.Context(path: store.path)
    switch try noteFileState() {
    case .absent, .unchanged: return
    case .changed:
      story = "Another process has written the document"
      recovery = "Revert to what is there, or save somewhere else."
    case .moved(let newPath):
      story = "The document was moved"
      recovery = "Take it from its new place by setURL(_:), or save somewhere else."
      context.relatedPaths = [.init("now at", newPath)]
    case .removed:
      story = "The document's file was removed"
      recovery = "Save it as a new one to keep it."
    }
    throw PersistenceError(.fileChangedOnDisk, story + "; nothing was written.", recovery: recovery, context: context)
  }

  private func request(_ destination: Destination) throws(PersistenceError) -> StoreManager.Request {
    let store = store
    // If several types use the file's extension, the document keeps its type.
    let isOwn = coordinator.registry.types(forFileName: destination.url.path).contains(store.type)
    return try coordinator.request(
      type: destination.type ?? (isOwn ? store.type : nil),
      configuration: store.configurationName,
      at: destination.url,
      options: destination.options ?? store.options
    )
  }

  /// Opens an unwritten store with the contents of `old` in place of `old`, and returns it with the number of its last
  /// save.
  private func exchange(
    _ old: PersistentStore,
    _ request: StoreManager.Request,
    replacing: Bool,
    _ isOwnFile: Bool
  ) throws -> (PersistentStore, UInt64) {
    while true {
      // Saves that others have made before do not count as saves in between.
      try old.engine.followOthers()
      let number = old.engine.saves.current
      let new = try coordinator.storeManager.prepare(old, as: request, replacing: replacing, isOwnFile: isOwnFile)
      guard old.engine.close(unlessSavedSince: number) else { continue }
      let newNumber = new.engine.saves.current
      try coordinator.replace(old, by: new)
      return (new, newNumber)
    }
  }

  private func putBack(_ old: PersistentStore, for new: PersistentStore) throws(PersistenceError) {
    old.engine.reopen()
    old.setSuccessor(nil)
    try coordinator.replace(new, by: old)
  }

  private static func keepsItsOptions(_ store: PersistentStore) -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "A document of type \(store.type) is saved record by record, with the options that it was opened with.",
      recovery: "Save it as another file, or open it with other options.",
      context: .init(path: store.path, storeType: store.type)
    )
  }

  static func withoutFile(_ action: String) -> PersistenceError {
    PersistenceError(
      .documentWithoutFile,
      "The document has no file yet, so it cannot be \(action).",
      recovery: "Save it as one first."
    )
  }
}
