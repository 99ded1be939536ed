import Heartwood
import HeartwoodFoundation
import HeartwoodStore

/// A copy of a store and its files, made beside it before it is changed.
struct StoreBackup {
  let path: String
  private let request: StoreManager.Request
  private let storeManager: StoreManager

  /// The number of names that are tried for a copy.
  private static let mostCopies = 10_000

  /// Copies a store to the first unused name: `NAME.backup`, `NAME.2.backup`, and so on. Existing files are not
  /// replaced.
  init(of request: StoreManager.Request, at store: String, _ storeManager: StoreManager) throws {
    for number in 1...Self.mostCopies {
      let path = "\(store)\(number == 1 ? "" : ".\(number)").backup"
      guard try storeManager.fileSystem.status(atPath: path) == nil else { continue }
      do {
        try storeManager.copyStore(request, to: path, replacing: false)
        (self.path, self.request, self.storeManager) = (path, request, storeManager)
        return
      } catch let error as PersistenceError where error.code == .fileExists {
        // Another process has created the file, or the name is that of a broken link.
        continue
      }
    }
    throw ToolError(at: store, "There are \(Self.mostCopies) backups already. Move some away, or give --no-backup.")
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
