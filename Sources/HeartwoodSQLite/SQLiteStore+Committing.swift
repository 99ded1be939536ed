import GRDB
import HeartwoodModel
import HeartwoodStore
import Synchronization

// In write-ahead mode readers need not wait for a writer: until its transaction is in the log, they see the file as it was. The disk is what a
// save waits for longest, so it is then that others are let in.

extension SQLiteStore: ReadableWhileSavingStore {
  package func saving<Result>(
    _ body: () throws -> Result,
    release: () -> Void,
    retake: () -> Void
  ) throws -> Result {
    try saving(body) { transaction in
      guard let commit = commit(of: transaction) else { return }
      connection.withLock { $0?.commit = commit }
      release()
    } afterCommit: {
      if commit == nil { return }
      retake()
      connection.withLock { $0?.commit = nil }
    }
  }

  /// What readers have to know of a transaction that is about to be committed; nil where they have to wait for it.
  private func commit(of transaction: Transaction) -> Commit? {
    // try?: if it cannot be known, readers wait for the commit.
    guard let file = try? file(), isLogged(transaction.database),
      // Nobody can save between this and the commit.
      let readerMark = try? file.readerMark()
    else { return nil }
    return Commit(mark: transaction.mark, readerMark: readerMark)
  }

  /// Whether the file has a write-ahead log. It stays so as long as the file is open.
  private func isLogged(_ db: Database) -> Bool {
    if let known = connection.withLock({ $0?.isLogged }) { return known }
    // try?: if it cannot be known, readers wait for the commit.
    let mode = try? String.fetchOne(db, sql: "PRAGMA journal_mode")
    let isLogged = mode?.lowercased() == SQLiteJournalMode.writeAheadLog.rawValue.lowercased()
    connection.withLock { $0?.isLogged = isLogged }
    return isLogged
  }

  /// The transaction that waits for the disk, where there is one that others read beside.
  var commit: Commit? { connection.withLock { $0?.commit } }

  /// Reads the file as it was before a transaction that waits for the disk.
  ///
  /// - Throws: `SaveIsVisible` where that has come there meanwhile.
  func beside<Value>(_ commit: Commit, _ body: (Database) throws -> Value) throws -> Value {
    let value: Value? = try file().read(atReaderMark: commit.readerMark, body)
    guard let value else { throw SaveIsVisible() }
    return value
  }
}
