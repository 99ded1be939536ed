import HeartwoodFoundation
import HeartwoodModel
package import HeartwoodStore

/// A difference between two stores as a JSON object.
///
/// The members are `change` (`identifier`, `metadata`, `entity`, `property`, `removed`, `added` or `changed`), the
/// names of what differs, `onlyIn` (`first` or `second`), and `values` with the values in the `first` and the `second`
/// store.
package enum DifferenceJSON {
  /// Returns the value of the member `change`.
  package static func kind(_ difference: ContentsDifferences.Difference) -> String {
    switch difference {
    case .identifier: "identifier"
    case .metadata: "metadata"
    case .entity: "entity"
    case .property: "property"
    case .record(_, let side): side == .first ? "removed" : "added"
    case .values: "changed"
    }
  }

  package static func value(_ difference: ContentsDifferences.Difference) -> JSONValue {
    switch difference {
    case .identifier(let one, let other):
      object(
        difference,
        [("values", .object([("first", .string(one.uuidString)), ("second", .string(other.uuidString))]))]
      )
    case .metadata(let key, let one, let other): object(difference, members(ofMetadata: key, one, other))
    case .entity(let entity, let count, let side):
      object(
        difference,
        [("entity", .string(entity.name)), ("records", .integer(count)), ("onlyIn", place(side))]
      )
    case .property(let property, let entity, let side):
      object(
        difference,
        [("entity", .string(entity.name)), ("property", .string(property)), ("onlyIn", place(side))]
      )
    case .record(let node, _): object(difference, members(node))
    case .values(let node, let other, let properties):
      object(difference, members(node) + [("values", values(properties, node, other))])
    }
  }

  /// Returns a record's value of a property, as JSON.
  package static func text(of property: String, in node: AtomicStoreCacheNode) -> String {
    let output = GrowableBytes()
    RecordJSON(entity: node.entity, among: node.entities).append(
      valueOf: property,
      node.row,
      of: node.group,
      to: output
    )
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  private static func members(
    ofMetadata key: String,
    _ one: MetadataValue?,
    _ other: MetadataValue?
  ) -> [(name: String, value: JSONValue)] {
    var members: [(name: String, value: JSONValue)] = [("key", JSONValue.string(key))]
    var values: [(name: String, value: JSONValue)] = []
    if let one { values.append(("first", JSONValue(one))) }
    if let other { values.append(("second", JSONValue(other))) }
    members.append(("values", JSONValue.object(values)))
    if one == nil || other == nil { members.append(("onlyIn", place(one == nil ? .second : .first))) }
    return members
  }

  private static func values(
    _ names: [String],
    _ node: AtomicStoreCacheNode,
    _ other: AtomicStoreCacheNode
  ) -> JSONValue {
    .object(
      names.map { name in
        (name, .object([("first", .raw(text(of: name, in: node))), ("second", .raw(text(of: name, in: other)))]))
      }
    )
  }

  private static func members(_ node: AtomicStoreCacheNode) -> [(name: String, value: JSONValue)] {
    [("entity", .string(node.entity.name)), ("id", .string(node.reference.text))]
  }

  private static func object(
    _ difference: ContentsDifferences.Difference,
    _ members: [(name: String, value: JSONValue)]
  ) -> JSONValue {
    .object([("change", .string(kind(difference)))] + members)
  }

  private static func place(_ side: ContentsDifferences.Side) -> JSONValue {
    .string(side == .first ? "first" : "second")
  }
}
