import Heartwood
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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

/// The value where there is one; fails otherwise.
func unwrap<Value>(_ value: Value?, _ what: @autoclosure () -> String) throws(ConformanceFailure) -> Value {
  if let value { return value }
  throw ConformanceFailure("expected \(what()), found none")
}

/// Fails unless `body` throws a ``PersistenceError`` with one of `codes`, and returns that.
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

/// Fails unless two stores keep the same identifier, user's metadata and records, in order.
func expectSame(_ found: StoreContents, as expected: StoreContents, _ what: String) throws {
  guard let difference = ContentsComparison.firstDifference(expected, found) else { return }
  var message = "expected \(what) to keep what was saved; \(difference)"
  if let entity = difference.entity, let property = difference.property, let position = difference.position {
    let values = [expected, found].map { value(of: property, entity, position, in: $0) }
    message += ": expected \(values[0]), found \(values[1])"
  }
  throw ConformanceFailure(message)
}

/// Fails unless two stores keep the same records by their references, in whatever order.
func expectSameRecords(_ found: StoreContents, as expected: StoreContents, _ what: String) throws {
  try ContentsDifferences(expected, found, matching: .reference).forEach { difference in
    throw ConformanceFailure("expected \(what) to keep what was saved; found a difference: \(brief(difference))")
  }
}

/// Fails unless two stores have the same records in the same versions: what has another version is another record to whoever saves.
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

private func code(of error: any Error) -> String {
  (error as? PersistenceError)?.code.description ?? "\(type(of: error))"
}

/// The value as text, cut short where it is long.
func brief(_ value: some Any) -> String {
  let text = "\(value)"
  let longest = 200
  return text.count > longest ? "\(text.prefix(longest))… (\(text.count) characters)" : text
}
