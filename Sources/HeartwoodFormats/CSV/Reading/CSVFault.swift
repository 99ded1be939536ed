import HeartwoodStore

/// What is wrong with a file, at a byte of it. The line is counted only when a person is told.
struct CSVFault: Error, Sendable {
  /// The byte in the file.
  var offset: Int
  var reason: String
  var recovery: PersistenceError.Recovery?
  var property: String?
  var code = PersistenceError.Code.fileMalformed
}
