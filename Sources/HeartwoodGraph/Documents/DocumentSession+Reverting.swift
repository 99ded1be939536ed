import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension DocumentSession {
  /// Forgets all changes, and takes what is in the file now.
  func revert(_ context: ManagedObjectContext) throws {
    let store = store
    guard let path = store.path else { throw Self.withoutFile("reverted") }
    switch try noteFileState() {
    case .unchanged where !store.hasUnsavedMetadata:
      context.rollback()
      // Others may have saved to the store by their own contexts.
      context.refreshAllObjects()
    case .unchanged, .changed, .absent: try openAgain(store, path, context)
    case .moved, .removed:
      throw PersistenceError(
        .fileChangedOnDisk,
        "The document's file was moved or removed, so there is nothing to go back to. Nothing was forgotten.",
        context: .init(path: path)
      )
    }
    try noteSaved(self.store, context)
  }

  /// Tells where the file of the document is now.
  func setURL(_ url: URL, _ context: ManagedObjectContext) throws(PersistenceError) {
    let store = store
    guard store.path != nil else { throw Self.withoutFile("moved") }
    try coordinator.setURL(url, for: store)
    try noteSaved(store, context)
  }

  private func openAgain(_ store: PersistentStore, _ path: String, _ context: ManagedObjectContext) throws {
    let request = StoreOpener.Request(
      type: store.type,
      path: path,
      configurationName: store.configurationName,
      options: store.options
    )
    // What cannot be opened leaves everything as it is.
    let new = try coordinator.opener.open(request)
    context.reset()
    try coordinator.remove(store)
    try coordinator.add(new)
    try noteSaved(new, context)
  }
}
