/// Whether a query uses indexes.
package enum IndexUse: Sendable {
  /// Where they make it faster.
  case automatic
  /// Wherever there is one, for tests.
  case always
  case never
}
