import Heartwood
import HeartwoodRecordText
import HeartwoodModel
import HeartwoodStore

/// The changes of a save: the numbers of records by entity, and the first records with their values before and after.
struct EditChanges {
  /// The numbers of changed records of an entity.
  struct Count {
    var inserted = 0
    var updated = 0
    var deleted = 0
  }

  enum Kind: String {
    case added, changed, removed
  }

  /// The change of one record.
  struct Change {
    let kind: Kind
    let entity: EntityDescription
    /// The reference; nil for a new record that is not saved.
    fileprivate(set) var reference: String?
    /// The properties that differ, in the order of the model.
    fileprivate(set) var values: [(name: String, before: JSONValue, after: JSONValue)] = []
    fileprivate let object: ManagedObject
    fileprivate let before: [String: PropertyValue]
  }

  /// The numbers of changed records, by entity.
  private(set) var counts: [String: Count] = [:]
  private(set) var shown: [Change] = []
  private let entities: [EntityDescription]

  /// Collects the unsaved changes of a context.
  ///
  /// - Parameter shownCount: the number of changes to collect one by one.
  init(of context: ManagedObjectContext, shownCount: Int) {
    entities = context.persistentStoreCoordinator.managedObjectModel.entities
    for object in context.insertedObjects { note(.added, object, shownCount, \.inserted) }
    for object in context.updatedObjects where Self.differs(object) { note(.changed, object, shownCount, \.updated) }
    for object in context.deletedObjects { note(.removed, object, shownCount, \.deleted) }
  }

  var isEmpty: Bool { counts.isEmpty }
  var total: Count {
    counts.values.reduce(into: Count()) { total, count in
      total.inserted += count.inserted
      total.updated += count.updated
      total.deleted += count.deleted
    }
  }
  /// The number of changes that are not shown.
  var hiddenCount: Int { total.inserted + total.updated + total.deleted - shown.count }

  private mutating func note(
    _ kind: Kind,
    _ object: ManagedObject,
    _ shownCount: Int,
    _ count: WritableKeyPath<Count, Int>
  ) {
    counts[object.entity.name, default: Count()][keyPath: count] += 1
    guard shown.count < shownCount else { return }
    shown.append(
      Change(
        kind: kind,
        entity: object.entity,
        reference: kind == .added ? nil : object.objectID.reference.text,
        object: object,
        before: kind == .changed ? Self.before(object) : [:]
      )
    )
  }

  /// Returns whether a property differs from the record.
  private static func differs(_ object: ManagedObject) -> Bool {
    let before = before(object)
    return object.changedValues().contains { name, value in
      object.entity.property(named: name)?.isTransient == false && before[name] != value
    }
  }

  /// Returns the old values of changed properties, and of properties that the save may compute.
  private static func before(_ object: ManagedObject) -> [String: PropertyValue] {
    let derived = object.entity.attributes.filter { $0.derivationExpression != nil }.map(\.name)
    let names = Array(object.changedValues().keys) + derived
    // try?: the call throws only for unknown properties, and all names are those of properties.
    return (try? object.committedValues(forKeys: names)) ?? [:]
  }

  /// Adds the values that were saved.
  mutating func noteSaved() throws {
    for index in shown.indices where shown[index].kind != .removed {
      shown[index].reference = shown[index].object.objectID.reference.text
      shown[index].values = try values(of: shown[index])
    }
  }

  private func values(of change: Change) throws -> [(name: String, before: JSONValue, after: JSONValue)] {
    var values: [(name: String, before: JSONValue, after: JSONValue)] = []
    for (ordinal, property) in change.entity.properties.enumerated() where !property.isTransient {
      guard change.kind == .added || change.before[property.name] != nil else { continue }
      let after = try change.object.propertyValue(forKey: property.name)
      let before = change.before[property.name] ?? .null
      guard change.kind == .added || before != after else { continue }
      let destination = change.entity.relationshipTargets[ordinal].map { entities[$0.entityOrdinal] }
      values.append(
        (property.name, JSONValue(before, destination: destination), JSONValue(after, destination: destination))
      )
    }
    return values
  }
}

// MARK: EditReport

/// The output of `edit`.
struct EditReport {
  let path: String
  let isDry: Bool
  let outcome: EditOutcome

  /// The maximum number of characters of a value in text output.
  private static let mostCharacters = 200
  private static let marks: [EditChanges.Kind: String] = [.added: "+", .changed: "~", .removed: "-"]

  var text: String {
    let name = DisplayText.safe(path)
    guard let changes = outcome.changes else { return "\(name): No record was found. Nothing was written.\n" }
    guard !changes.isEmpty else { return "\(name): The records have these values already. Nothing was written.\n" }
    let hidden = changes.hiddenCount > 0 ? "… and \(Quantity.text(changes.hiddenCount, "record")) more\n" : ""
    let counts = LabelledLines.text(changes.counts.sorted { $0.key < $1.key }.map { ($0.key, Self.text($0.value)) })
    let backup = outcome.backup.map { "backup: \(DisplayText.safe($0))\n" } ?? ""
    let verb = isDry ? "would be edited" : "edited"
    return changes.shown.map(lines).joined() + hidden + counts + backup
      + "\(name): \(verb), \(Self.text(changes.total))\n"
  }

  /// How to undo the edit; nil if nothing was written or there is no backup.
  var advice: String? {
    outcome.backup.map { "To undo it: heartwood edit \(path) --restore \($0)" }
  }

  private func lines(_ change: EditChanges.Change) -> String {
    let reference = isDry && change.kind == .added ? "(new)" : change.reference ?? ""
    let title = "\(Self.marks[change.kind] ?? "~") \(change.entity.name) \(DisplayText.safe(reference))\n"
    return title
      + change.values.map { value in
        let after = Self.shortened(value.after)
        let isNew = change.kind == .added
        return "    \(value.name): \(isNew ? after : "\(Self.shortened(value.before)) → \(after)")\n"
      }.joined()
  }

  private static func shortened(_ value: JSONValue) -> String {
    let text = value.text
    let short = text.count > mostCharacters ? text.prefix(mostCharacters) + "…" : text[...]
    return DisplayText.safe(String(short))
  }

  private static func text(_ count: EditChanges.Count) -> String {
    let parts = [(count.inserted, "inserted"), (count.updated, "updated"), (count.deleted, "deleted")]
    let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    return "\(words)"
  }

  var json: JSONValue {
    let total = outcome.changes?.total ?? EditChanges.Count()
    let counts = outcome.changes?.counts ?? [:]
    return .object([
      ("written", .boolean(!isDry && outcome.hasChanges)),
      ("backup", .optional(outcome.backup)),
      ("inserted", .integer(total.inserted)), ("updated", .integer(total.updated)),
      ("deleted", .integer(total.deleted)),
      (
        "entities",
        .array(
          counts.sorted { $0.key < $1.key }.map { name, count in
            .object([
              ("name", .string(name)), ("inserted", .integer(count.inserted)), ("updated", .integer(count.updated)),
              ("deleted", .integer(count.deleted)),
            ])
          }
        )
      ),
      ("changes", .array((outcome.changes?.shown ?? []).map(object))),
      ("hasMoreChanges", .boolean(outcome.changes.map { $0.hiddenCount > 0 } ?? false)),
    ])
  }

  private func object(_ change: EditChanges.Change) -> JSONValue {
    let isUnsaved = isDry && change.kind == .added
    let values = change.values.map { value in
      let members = change.kind == .added ? [] : [(name: "before", value: value.before)]
      return (name: value.name, value: JSONValue.object(members + [(name: "after", value: value.after)]))
    }
    return .object([
      ("change", .string(change.kind.rawValue)), ("entity", .string(change.entity.name)),
      ("id", isUnsaved ? .null : .optional(change.reference)), ("values", .object(values)),
    ])
  }
}
