import Heartwood
import HeartwoodFoundation
import HeartwoodStore

/// A copy of a store beside it, with the files that belong to it, made before the store is changed.
struct StoreBackup {
  let path: String
  private let request: StoreManager.Request
  private let storeManager: StoreManager

  /// Copies the store of `request` to the first free name: `NAME.backup`, `NAME.2.backup`, and so on. What has such a name stays as it is.
  init(of request: StoreManager.Request, _ storeManager: StoreManager) throws {
    path = try storeManager.makeBackup(of: request)
    (self.request, self.storeManager) = (request, storeManager)
  }

  /// Removes the copy, since nothing was written.
  func remove() { storeManager.removeBackup(of: request, at: path) }

  /// Removes the copy if the store is as it was when the copy was made.
  ///
  /// - Returns: whether it was removed. What cannot be told stays.
  func removeIfUnneeded() -> Bool {
    // try?: a store that differs from its copy is an error here, and so is one that cannot be read; either way the copy stays.
    guard (try? storeManager.hasBackup(request, at: path)) == true else { return false }
    remove()
    return true
  }

  /// Puts a copy in the place of the store that it was made of, in one step.
  ///
  /// - Throws: ``ToolError`` if it is a copy of another store.
  static func restore(_ request: StoreManager.Request, from copy: StoreManager.Request, _ storeManager: StoreManager)
    throws
  {
    let (own, other) = (try storeManager.metadata(request), try storeManager.metadata(copy))
    guard own.identifier == other.identifier else {
      throw ToolError(
        at: copy.path,
        "It is no backup of this store, but the store \(other.identifier). heartwood convert --force puts it there."
      )
    }
    guard let path = request.path else { return }
    try storeManager.replaceStore(at: .file(path: path), by: copy)
  }
}
