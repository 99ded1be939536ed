import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

/// The choice of a person between changes here and those that others have saved to the same record.
///
/// In a request it is `"mine"`, `"theirs"`, or an object with one of these for each property that was changed here.
enum EditChoice: Decodable, Sendable, Hashable {
  /// A choice for a whole record, or for one property.
  enum Side: String, Decodable, Sendable {
    case mine, theirs
  }

  /// The values that were changed here are saved, on top of what others have saved.
  case mine
  /// The changes of the record are dropped.
  case theirs
  /// The changes of some properties are dropped, and those of the others are saved on top of what others have saved.
  case mineExcept([String])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // try?: a choice that is no object is one for the whole record.
    guard let sides = try? container.decode([String: Side].self) else {
      self = try container.decode(Side.self) == .mine ? .mine : .theirs
      return
    }
    let theirs = sides.filter { $0.value == .theirs }.keys.sorted()
    self = theirs.isEmpty ? .mine : .mineExcept(theirs)
  }
}

// MARK: EditConflict

/// A record that was changed here, and that others have changed or deleted since it was read.
struct EditConflict {
  /// A property that was changed by one side or by both.
  private struct Difference {
    let name: String
    let start: PropertyValue
    /// Nil if the record is deleted here.
    let here: PropertyValue?
    /// Nil if the record was deleted in the store.
    let stored: PropertyValue?
  }

  let objectID: ManagedObjectID
  private let isDeletedHere: Bool
  private let isDeletedInStore: Bool
  private var differences: [Difference] = []

  var uri: String { objectID.uriRepresentation().absoluteString }

  /// Compares the values of a record, which are indexed by property ordinal.
  ///
  /// - Parameters:
  ///   - here: nil if the record is deleted here.
  ///   - stored: nil if the record was deleted in the store.
  init(_ objectID: ManagedObjectID, start: [PropertyValue], here: [PropertyValue]?, stored: [PropertyValue]?) {
    self.objectID = objectID
    (isDeletedHere, isDeletedInStore) = (here == nil, stored == nil)
    for (ordinal, property) in objectID.entity.properties.enumerated() {
      guard !property.isTransient, property.attribute?.derivationExpression == nil, ordinal < start.count else {
        continue
      }
      let difference = Difference(
        name: property.name,
        start: start[ordinal],
        here: here?[ordinal],
        stored: stored?[ordinal]
      )
      let values = [difference.here, difference.stored].compactMap(\.self)
      let trait = objectID.entity.traits[ordinal]
      if values.contains(where: { !$0.isSame(as: difference.start, trait) }) { differences.append(difference) }
    }
  }

  init(_ conflict: MergeConflict) {
    self.init(
      conflict.objectID,
      start: conflict.cachedSnapshot?.values ?? [],
      here: conflict.objectSnapshot?.values,
      stored: conflict.persistedSnapshot?.values
    )
  }

  /// Returns whether the values of two versions of a record differ in more than unordered to-many relationships: the
  /// destinations that both sides have added and removed are put together, so these need no choice.
  static func differ(_ one: [PropertyValue], _ other: [PropertyValue], _ entity: EntityDescription) -> Bool {
    zip(entity.properties.indices, zip(one, other)).contains { ordinal, values in
      !isMerged(entity.properties[ordinal]) && !values.0.isSame(as: values.1, entity.traits[ordinal])
    }
  }

  /// Whether the changes of both sides are merged without a choice, or the property cannot be changed.
  private static func isMerged(_ property: PropertyDescription) -> Bool {
    switch property {
    case .attribute(let attribute): attribute.isTransient || attribute.derivationExpression != nil
    case .relationship(let relationship):
      relationship.isTransient || relationship.isToMany && !relationship.isOrdered
    }
  }

  /// Returns the resolution of a conflict for which nothing was chosen.
  static func resolution(of conflict: MergeConflict) -> MergePolicy.Resolution {
    guard let start = conflict.cachedSnapshot?.values, let stored = conflict.persistedSnapshot?.values else {
      return .fail
    }
    return differ(stored, start, conflict.objectID.entity) ? .fail : .mergePreferringObject
  }

  private func isChangedHere(_ difference: Difference) -> Bool {
    guard let here = difference.here, let ordinal = objectID.entity.ordinal(ofProperty: difference.name) else {
      return false
    }
    return !here.isSame(as: difference.start, objectID.entity.traits[ordinal])
  }

  /// - Parameter context: a context in which the labels of records are read.
  func json(in context: ManagedObjectContext) -> JSONValue {
    func text(_ value: PropertyValue?) -> JSONValue { value.map { CellText(value: $0, in: context).short } ?? .null }
    return .object([
      ("record", CellText.link(to: objectID, in: context)),
      ("isDeletedHere", .boolean(isDeletedHere)), ("isDeletedInStore", .boolean(isDeletedInStore)),
      (
        "values",
        .array(
          differences.map { difference in
            .object([
              ("name", .string(difference.name)), ("start", text(difference.start)), ("here", text(difference.here)),
              ("stored", text(difference.stored)), ("isChangedHere", .boolean(isChangedHere(difference))),
            ])
          }
        )
      ),
    ])
  }

  /// Returns the response that shows conflicts, so that the person chooses. Nothing is saved.
  static func response(_ conflicts: [EditConflict], in context: ManagedObjectContext) -> BrowserResponse {
    .json(
      .object([
        ("error", .string("Others have changed the same records. Nothing was saved: choose what to keep.")),
        ("conflicts", .array(conflicts.map { $0.json(in: context) })),
      ]),
      status: 409
    )
  }
}

// MARK: EditFault

/// The reasons why the rules of the model refuse a value or a save.
enum EditFault {
  /// Returns the errors of records, with the URI and the property of each, so that the page can link to the field.
  static func refusal(_ error: PersistenceError) -> JSONValue {
    let faults = error.context.validationFaults.map { fault in
      value(fault.objectID, fault.property, fault.message)
    }
    let conflicts = error.context.constraintConflicts.map { conflict in
      let names = conflict.constraint.joined(separator: ", ")
      let other = conflict.conflictingID
      let problem = "must be unique, and \(other.entity.name) \(other.reference.text) has the same."
      return value(
        conflict.objectID,
        conflict.constraint.first ?? "",
        "\(conflict.objectID.entity.name).\(names) \(problem)"
      )
    }
    let all = faults + conflicts
    let count = all.count == 1 ? "a rule" : "\(all.count) rules"
    let text = "The model does not allow this, by \(count). Nothing was saved."
    return .object([("error", .string(text)), ("faults", .array(all))])
  }

  private static func value(_ id: ManagedObjectID, _ property: String, _ message: String) -> JSONValue {
    .object([
      ("uri", .string(id.uriRepresentation().absoluteString)), ("entity", .string(id.entity.name)),
      ("reference", .string(id.isTemporaryID ? "new" : id.reference.text)), ("property", .string(property)),
      ("message", .string(message)),
    ])
  }
}
