/// What the graph under test does otherwise than the reference.
struct Mismatch: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// - Throws: ``Mismatch`` where `actual` is not `expected`.
func require<Value: Equatable>(
  _ actual: Value,
  equals expected: Value,
  _ what: @autoclosure () -> String
) throws(Mismatch) {
  if actual != expected { throw Mismatch("\(what()) is \(actual), and should be \(expected)") }
}
