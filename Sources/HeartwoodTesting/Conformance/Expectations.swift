import Heartwood
import HeartwoodFoundation
import HeartwoodStore

/// Fails with `message` unless `condition` holds.
func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws(ConformanceFailure) {
  if !condition { throw ConformanceFailure(message()) }
}

/// Fails unless `found` is `expected`.
func expect<Value: Equatable>(
  _ what: @autoclosure () -> String,
  is expected: Value,
  found: Value
) throws(ConformanceFailure) {
  if found != expected {
    throw ConformanceFailure("expected \(what()) to be \(brief(expected)), found \(brief(found))")
  }
}

/// Returns the value of an optional, or fails if it is nil.
func unwrap<Value>(_ value: Value?, _ what: @autoclosure () -> String) throws(ConformanceFailure) -> Value {
  if let value { return value }
  throw ConformanceFailure("expected \(what()), found none")
}

/// Fails unless `body` throws a ``PersistenceError`` with one of `codes`, and returns the error.
@discardableResult
func expectError(
  _ codes: PersistenceError.Code...,
  when what: @autoclosure () -> String,
  _ body: () throws -> Void
) throws(ConformanceFailure) -> PersistenceError {
  let wanted = codes.map(\.description).joined(separator: " or ")
  do {
    try body()
  } catch let error as PersistenceError where codes.contains(error.code) {
    return error
  } catch {
    throw ConformanceFailure("expected the error \(wanted) when \(what()), found \(code(of: error)): \(error)")
  }
  throw ConformanceFailure("expected the error \(wanted) when \(what()), found none")
}

/// Fails unless two stores have the same identifier, application metadata and records, in the same order.
func expectSame(_ found: StoreContents, as expected: StoreContents, _ what: String) throws {
  guard let difference = firstDifference(expected, found) else { return }
  throw ConformanceFailure("expected \(what) to keep what was saved; \(difference)")
}

/// Fails unless a store has the old or the new contents; if the work is done, it must have the new ones.
func expectSame(
  _ found: StoreContents,
  asOld old: StoreContents,
  orNew new: StoreContents,
  isDone: Bool,
  _ when: String
) throws {
  guard let fromNew = firstDifference(new, found) else { return }
  let what = isDone ? "the new content where the save succeeded" : "the old content or the new"
  guard let fromOld = firstDifference(old, found) else {
    return try expect(!isDone, "expected \(what) \(when), found the old: \(fromNew)")
  }
  throw ConformanceFailure("expected \(what) \(when); from the new, \(fromNew); from the old, \(fromOld)")
}

/// Returns the first difference of two stores, with the values.
private func firstDifference(_ expected: StoreContents, _ found: StoreContents) -> String? {
  guard let difference = ContentsComparison.firstDifference(expected, found) else { return nil }
  guard let entity = difference.entity, let property = difference.property, let position = difference.position else {
    return "\(difference)"
  }
  let values = [expected, found].map { value(of: property, entity, position, in: $0) }
  return "\(difference): expected \(values[0]), found \(values[1])"
}

/// Fails unless the bytes are the same, and reports where they begin to differ.
func expectSame(_ found: [UInt8], as expected: [UInt8], _ what: String) throws(ConformanceFailure) {
  if found == expected { return }
  let common = zip(found, expected).prefix { $0 == $1 }.count
  let counts = "there are \(found.count), expected \(expected.count)"
  throw ConformanceFailure("expected \(what) to be the same bytes; they differ from offset \(common) on; \(counts)")
}

/// Fails unless two stores have the same records by their references, in any order.
func expectSameRecords(_ found: StoreContents, as expected: StoreContents, _ what: String) throws {
  try ContentsDifferences(expected, found, matching: .reference).forEach { difference in
    throw ConformanceFailure("expected \(what) to keep what was saved; found a difference: \(brief(difference))")
  }
}

/// Fails unless two stores have the same records with the same versions: saves treat a record with another version as
/// changed.
func expectSameVersions(_ found: StoreContents, as expected: StoreContents, _ what: String) throws {
  for entity in expected.entities {
    for node in expected.nodes(of: entity) {
      let other = try unwrap(try found.node(node.reference, of: entity), "the record \(node.objectID) in \(what)")
      try expect("the version of \(node.objectID) in \(what)", is: node.version, found: other.version)
    }
  }
}

private func value(of property: String, _ entity: String, _ position: Int, in contents: StoreContents) -> String {
  guard let entity = contents.model.entity(named: entity),
    let node = contents.nodes(of: entity).dropFirst(position - 1).first(where: { _ in true })
  else { return "no record" }
  return brief(node[property])
}

extension FaultInjectingFileSystem {
  /// Returns an operation in words, by its number, which begins at 1.
  func operation(_ number: Int) -> String { operations.dropFirst(number - 1).first.map { "\($0)" } ?? "none" }
}

private func code(of error: any Error) -> String {
  (error as? PersistenceError)?.code.description ?? "\(type(of: error))"
}

/// Returns the value as text, and cuts off long text.
func brief(_ value: some Any) -> String {
  let text = "\(value)"
  let longest = 200
  return text.count > longest ? "\(text.prefix(longest))… (\(text.count) characters)" : text
}
