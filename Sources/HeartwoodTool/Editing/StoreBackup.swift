import Heartwood
import HeartwoodFoundation
import HeartwoodStore

/// A copy of a store and its files, made beside it before it is changed.
struct StoreBackup {
  let path: String
  private let request: StoreManager.Request
  private let storeManager: StoreManager

  /// Copies the store of `request` to the first unused name: `NAME.backup`, `NAME.2.backup`, and so on. Existing files are not
  /// replaced.
  init(of request: StoreManager.Request, _ storeManager: StoreManager) throws {
    path = try storeManager.makeBackup(of: request)
    (self.request, self.storeManager) = (request, storeManager)
  }

  /// Removes the copy if nothing was written.
  func remove() { storeManager.removeBackup(of: request, at: path) }

  /// Removes the copy if the store is the same as when it was made.
  ///
  /// - Returns: whether the copy was removed. It is kept if the store cannot be compared with it.
  func removeIfUnneeded() -> Bool {
    // try?: an error means that the store differs or cannot be read. In both cases the copy is kept.
    guard (try? storeManager.hasBackup(request, at: path)) == true else { return false }
    remove()
    return true
  }

  /// Replaces a store by a copy, in one step.
  ///
  /// - Throws: ``ToolError`` if the copy is that of another store.
  static func restore(_ request: StoreManager.Request, from copy: StoreManager.Request, _ storeManager: StoreManager)
    throws
  {
    let (own, other) = (try storeManager.metadata(request), try storeManager.metadata(copy))
    guard own.identifier == other.identifier else {
      throw ToolError(
        at: copy.path,
        "It is not a backup of this store, but the store \(other.identifier). heartwood convert --force replaces this store by it."
      )
    }
    guard let path = request.path else { return }
    try storeManager.replaceStore(at: .file(path: path), by: copy)
  }
}
