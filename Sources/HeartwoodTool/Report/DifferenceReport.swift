import Heartwood
import HeartwoodRecordText
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Differences between two stores in words, and as JSON.
struct DifferenceReport {
  /// What the stores are called.
  let first: String
  let second: String

  /// One line, or one for each value that differs below it. What the stores say commands no terminal.
  func text(_ difference: ContentsDifferences.Difference) -> String {
    switch difference {
    case .identifier(let one, let other): "~ identifier of the store: \"\(one)\" → \"\(other)\"\n"
    case .metadata(let key, let one, let other): text(ofMetadata: key, one, other)
    case .entity(let entity, let count, let side):
      "\(sign(side)) \(entity.name): \(Quantity.text(count, "record")); there is no such entity in \(name(other(side)))\n"
    case .property(let property, let entity, let side):
      "\(sign(side)) \(entity.name).\(property): there is no such property in \(name(other(side)))\n"
    case .record(let node, let side): "\(sign(side)) \(title(node))\n"
    case .values(let node, let other, let properties):
      "~ \(title(node))\n" + properties.map { "    \($0): \(json($0, node)) → \(json($0, other))\n" }.joined()
    }
  }

  func json(_ difference: ContentsDifferences.Difference) -> String {
    switch difference {
    case .identifier(let one, let other):
      object(
        change: "identifier",
        [("values", .object([("first", .string(one.uuidString)), ("second", .string(other.uuidString))]))]
      )
    case .metadata(let key, let one, let other): object(ofMetadata: key, one, other)
    case .entity(let entity, let count, let side):
      object(
        change: "entity",
        [("entity", .string(entity.name)), ("records", .integer(count)), ("onlyIn", place(side))]
      )
    case .property(let property, let entity, let side):
      object(
        change: "property",
        [("entity", .string(entity.name)), ("property", .string(property)), ("onlyIn", place(side))]
      )
    case .record(let node, let side): object(change: side == .first ? "removed" : "added", members(node))
    case .values(let node, let other, let properties):
      object(change: "changed", members(node) + [("values", values(properties, node, other))])
    }
  }

  private func text(ofMetadata key: String, _ one: MetadataValue?, _ other: MetadataValue?) -> String {
    let values = [one, other].compactMap { $0.map { DisplayText.safe(JSONValue($0).text) } }
    let mark = values.count == 2 ? "~" : sign(one == nil ? .second : .first)
    return "\(mark) metadata \(DisplayText.safe(key)): \(values.joined(separator: " → "))\n"
  }

  private func object(ofMetadata key: String, _ one: MetadataValue?, _ other: MetadataValue?) -> String {
    var members: [(name: String, value: JSONValue)] = [("key", JSONValue.string(key))]
    var values: [(name: String, value: JSONValue)] = []
    if let one { values.append(("first", JSONValue(one))) }
    if let other { values.append(("second", JSONValue(other))) }
    members.append(("values", JSONValue.object(values)))
    if one == nil || other == nil { members.append(("onlyIn", place(one == nil ? .second : .first))) }
    return object(change: "metadata", members)
  }

  private func values(_ names: [String], _ node: AtomicStoreCacheNode, _ other: AtomicStoreCacheNode) -> JSONValue {
    .object(
      names.map { name in
        (name, .object([("first", .raw(json(name, node))), ("second", .raw(json(name, other)))]))
      }
    )
  }

  private func members(_ node: AtomicStoreCacheNode) -> [(name: String, value: JSONValue)] {
    [("entity", .string(node.entity.name)), ("id", .string(node.reference.text))]
  }

  private func object(change: String, _ members: [(name: String, value: JSONValue)] = []) -> String {
    JSONValue.object([("change", .string(change))] + members).line
  }

  private func place(_ side: ContentsDifferences.Side) -> JSONValue { .string(side == .first ? "first" : "second") }

  private func title(_ node: AtomicStoreCacheNode) -> String {
    "\(node.entity.name) \(DisplayText.safe(node.reference.text))"
  }

  private func json(_ property: String, _ node: AtomicStoreCacheNode) -> String {
    let output = GrowableBytes()
    RecordJSON(entity: node.entity, among: node.entities).append(
      valueOf: property,
      node.row,
      of: node.group,
      to: output
    )
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  private func sign(_ side: ContentsDifferences.Side) -> String { side == .first ? "-" : "+" }

  private func other(_ side: ContentsDifferences.Side) -> ContentsDifferences.Side {
    side == .first ? .second : .first
  }

  private func name(_ side: ContentsDifferences.Side) -> String { DisplayText.safe(side == .first ? first : second) }
}

/// How many differences of each kind there are.
struct DifferenceSummary {
  private var removed = 0
  private var added = 0
  private var changed = 0
  private var others = 0

  var isEmpty: Bool { removed + added + changed + others == 0 }

  mutating func count(_ difference: ContentsDifferences.Difference) {
    switch difference {
    case .record(_, .first): removed += 1
    case .record(_, .second): added += 1
    case .values: changed += 1
    case .identifier, .metadata, .entity, .property: others += 1
    }
  }

  /// Whether these are all records of both stores, each without one that is the same in the other.
  func hasOnly(_ recordCounts: (first: Int, second: Int)) -> Bool {
    removed > 0 && added > 0 && removed == recordCounts.first && added == recordCounts.second
  }

  var text: String {
    if isEmpty { return "no differences\n" }
    var parts: [String] = []
    if removed > 0 { parts.append("\(Quantity.text(removed, "record")) only in the first") }
    if added > 0 { parts.append("\(Quantity.text(added, "record")) only in the second") }
    if changed > 0 { parts.append("\(Quantity.text(changed, "record")) with other values") }
    if others > 0 { parts.append(Quantity.text(others, "other difference")) }
    return parts.joined(separator: ", ") + "\n"
  }
}

// MARK: ModelDifferenceReport

/// What `model diff` tells.
struct ModelDifferenceReport {
  let differences: ModelDifferences

  init(_ differences: ModelDifferences) {
    self.differences = differences
  }

  var json: JSONValue {
    .object([
      (
        "changes",
        .array(
          differences.changes.map { change in
            .object([
              ("kind", .string(change.kind.rawValue)), ("path", .string(change.path)),
              ("detail", .string(change.detail)),
              ("obstacle", .optional(change.obstacle)), ("changesStores", .boolean(change.changesStores)),
            ])
          }
        )
      ),
      ("requiresMigration", .boolean(differences.requiresMigration)),
      ("inferable", .boolean(differences.isInferable)),
    ])
  }

  var text: String {
    differences.changes.map(line).joined() + verdict + "\n"
  }

  /// What the models say breaks no line and commands no terminal.
  private func line(_ change: ModelChange) -> String {
    let marks: [ModelChange.Kind: String] = [.added: "+", .removed: "-", .renamed: ">", .changed: "~"]
    let detail = change.detail.isEmpty ? "" : "  \(change.detail)"
    let obstacle = change.obstacle.map { "  ! \($0)" } ?? ""
    return DisplayText.safe("\(marks[change.kind] ?? "~") \(change.path)\(detail)\(obstacle)") + "\n"
  }

  private var verdict: String {
    if differences.changes.isEmpty { return "The models are the same." }
    if !differences.requiresMigration { return "Stores of the first model can be opened with the second as they are." }
    if differences.isInferable { return "Stores of the first model can be migrated to the second by inference." }
    return
      "Stores of the first model cannot be migrated to the second by inference: see the lines with an exclamation mark."
  }
}
