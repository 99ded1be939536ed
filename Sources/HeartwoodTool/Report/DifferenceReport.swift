import Heartwood
import HeartwoodRecordText
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Formats differences between two stores as text and as JSON.
struct DifferenceReport {
  /// The names of the stores.
  let first: String
  let second: String

  /// Returns one line, or, for changed values, one more line for each value. Control characters in values are escaped.
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
      "~ \(title(node))\n"
        + properties.map {
          "    \($0): \(DifferenceJSON.text(of: $0, in: node)) → \(DifferenceJSON.text(of: $0, in: other))\n"
        }.joined()
    }
  }

  func json(_ difference: ContentsDifferences.Difference) -> String { DifferenceJSON.value(difference).line }

  private func text(ofMetadata key: String, _ one: MetadataValue?, _ other: MetadataValue?) -> String {
    let values = [one, other].compactMap { $0.map { DisplayText.safe(JSONValue($0).text) } }
    let mark = values.count == 2 ? "~" : sign(one == nil ? .second : .first)
    return "\(mark) metadata \(DisplayText.safe(key)): \(values.joined(separator: " → "))\n"
  }

  private func title(_ node: AtomicStoreCacheNode) -> String {
    "\(node.entity.name) \(DisplayText.safe(node.reference.text))"
  }

  private func sign(_ side: ContentsDifferences.Side) -> String { side == .first ? "-" : "+" }

  private func other(_ side: ContentsDifferences.Side) -> ContentsDifferences.Side {
    side == .first ? .second : .first
  }

  private func name(_ side: ContentsDifferences.Side) -> String { DisplayText.safe(side == .first ? first : second) }
}

/// The numbers of differences of each kind.
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

  /// Returns whether these are all records of both stores, so that no record is the same in both.
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

/// The output of `model diff`.
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

  /// Returns one line. Control characters in names are escaped.
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
