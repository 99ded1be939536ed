/// Makes sure of records that were taken from a file as they lie there, before one of them is read.
package protocol TableVerifier: Sendable {
  /// Checks checksums and bounds; after the first success it returns at once.
  func verify() throws(PersistenceError)
}
