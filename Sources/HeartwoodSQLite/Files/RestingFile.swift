import GRDB
import HeartwoodStore

/// A file that was at rest when it was opened, and is read as one that nobody writes: without locks and without files beside it.
struct RestingFile: Sendable {
  private let location: SQLiteLocation
  private let identity: FileIdentity

  /// Nil where the file is not at rest.
  init?(_ location: SQLiteLocation) throws(PersistenceError) {
    guard let identity = try location.identity(), SQLiteLocation.readsURIs, try location.isAtRest() else { return nil }
    (self.location, self.identity) = (location, identity)
  }

  /// Calls `body`, which reads the file.
  ///
  /// - Throws: ``PersistenceError/Code/fileChangedOnDisk`` where somebody writes after all, so that what was read may be of several moments,
  ///   or where the file is not at its place any more.
  static func reading<Value>(_ file: RestingFile?, _ body: () throws -> Value) throws -> Value {
    guard let file else { return try body() }
    let result = Result { try body() }
    try file.check()
    return try result.get()
  }

  func check() throws(PersistenceError) {
    guard let found = try location.identity(), found.isSameFile(as: identity) else {
      throw changed(
        "The file was moved, removed or replaced since it was opened.",
        recovery: "Open the store again where it is now."
      )
    }
    if found == identity, try location.isAtRest() { return }
    throw changed(
      "Somebody has written to the file since it was opened. It was at rest then, and is read as a file that nobody writes, since it or its "
        + "folder must not be written here.",
      recovery: .openAgain
    )
  }

  private func changed(_ problem: String, recovery: PersistenceError.Recovery) -> PersistenceError {
    PersistenceError(
      .fileChangedOnDisk,
      problem,
      recovery: recovery,
      context: .init(path: location.path, storeType: .sqlite)
    )
  }
}

extension SQLiteLocation {
  /// Calls `open`, which opens the file for reading: as one that nobody writes where that is better, or where nothing else can be done and no file
  /// beside it is needed.
  ///
  /// - Returns: what `open` gives, and the file where it is read so.
  func reading<Result>(_ open: (Access) throws -> Result) throws -> (Result, resting: RestingFile?) {
    // Who closes the file may be removing its log.
    try checkReadable()
    if try shouldBeReadAsUnchanging(), let resting = try RestingFile(self) { return (try open(.unchanging), resting) }
    do {
      return (try open(.read), nil)
    } catch {
      guard try canBeReadAsUnchanging(after: error), let resting = try RestingFile(self) else { throw error }
      return (try open(.unchanging), resting)
    }
  }
}

extension SQLiteConnections {
  /// Two connections that read, also where no file can be made beside this one and none is needed.
  func readers() throws(PersistenceError) -> (first: DatabaseQueue, second: DatabaseQueue, resting: RestingFile?) {
    do {
      let (readers, resting) = try location.reading { access in (try reader(access), try reader(access)) }
      return (readers.0, readers.1, resting)
    } catch {
      throw SQLiteFailure.error(error, path: location.path)
    }
  }
}
