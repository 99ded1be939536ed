import Heartwood
import HeartwoodFoundation
import HeartwoodStore

/// A copy of a store beside it, with the files that belong to it, made before the store is changed.
struct StoreBackup {
  let path: String
  private let request: StoreOpener.Request
  private let opener: StoreOpener

  /// How many copies of one store are looked past to find a free name.
  private static let mostCopies = 10_000

  /// Copies the store of `request` to the first free name: `NAME.backup`, `NAME.2.backup`, and so on. What has such a name stays as it is.
  init(of request: StoreOpener.Request, at store: String, _ opener: StoreOpener) throws {
    for number in 1...Self.mostCopies {
      let path = "\(store)\(number == 1 ? "" : ".\(number)").backup"
      guard try opener.fileSystem.status(atPath: path) == nil else { continue }
      do {
        try opener.copyStore(request, to: path, replacing: false)
        (self.path, self.request, self.opener) = (path, request, opener)
        return
      } catch let error as PersistenceError where error.code == .fileExists {
        // Somebody else was faster, or a link that leads nowhere has the name.
        continue
      }
    }
    throw ToolError(at: store, "There are \(Self.mostCopies) backups already. Move some away, or give --no-backup.")
  }

  /// Removes the copy, since nothing was written.
  func remove() { opener.removeBackup(of: request, at: path) }

  /// Removes the copy if the store is as it was when the copy was made.
  ///
  /// - Returns: whether it was removed. What cannot be told stays.
  func removeIfUnneeded() -> Bool {
    // try?: a store that differs from its copy is an error here, and so is one that cannot be read; either way the copy stays.
    guard (try? opener.hasBackup(request, at: path)) == true else { return false }
    remove()
    return true
  }

  /// Puts a copy in the place of the store that it was made of, in one step.
  ///
  /// - Throws: ``ToolError`` if it is a copy of another store.
  static func restore(_ request: StoreOpener.Request, from copy: StoreOpener.Request, _ opener: StoreOpener) throws {
    let (own, other) = (try opener.metadata(request), try opener.metadata(copy))
    guard own.identifier == other.identifier else {
      throw ToolError(
        at: copy.path,
        "It is no backup of this store, but the store \(other.identifier). heartwood convert --force puts it there."
      )
    }
    guard let path = request.path else { return }
    try opener.replaceStore(at: path, by: copy)
  }
}
