import HeartwoodModel
import HeartwoodStore

/// Where an object's values come from.
enum ObjectContent {
  /// They have not been read since the object was registered or refreshed.
  case fault
  /// The group of rows that the object reads from: the version of the record that it will keep seeing.
  case read(RowGroup)
  /// The same with changes on top.
  case changed(ObjectChanges)
}

/// What differs between an object and the record that it was read from.
///
/// Exclusivity is checked by eye: no method calls another's code while it uses the values.
final class ObjectChanges {
  /// The id of an object that no store has: temporary, or the one that a store will have it under.
  @exclusivity(unchecked) var newID: ManagedObjectID?
  /// The store that a new object was given to, and is to be given to again where it comes back; nil while the context has the object.
  @exclusivity(unchecked) var formerStore: PersistentStore?
  /// The version of the record that the changes are based on; nil where no store has one.
  @exclusivity(unchecked) var group: RowGroup? {
    didSet { forgetCommittedLinks() }
  }
  /// Whether the record has become another since the changes were made, though ``group`` is its newest version.
  @exclusivity(unchecked) var isOutdated = false
  /// The ordinals of the properties by which it has become another, where that is known.
  @exclusivity(unchecked) var outdatedOrdinals: Set<Int> = []
  /// The new values of attributes and to-one relationships, indexed by property ordinal; nil for what is as it was. A new object
  /// has its default values here.
  @exclusivity(unchecked) private var values: [PropertyValue?]
  /// The new objects of to-many relationships, by property ordinal.
  @exclusivity(unchecked) private var links: [Int: ObjectIDList] = [:]
  /// The ordinals of those new values that no save has to write: transient ones that a save has left in place, and what was set
  /// while the object awoke.
  @exclusivity(unchecked) private var settled: Set<Int> = []

  init(newID: ManagedObjectID? = nil, group: RowGroup?, values: [PropertyValue?]) {
    self.newID = newID
    self.group = group
    self.values = values
  }
}

extension ObjectChanges {
  var isEmpty: Bool { links.isEmpty && values.allSatisfy { $0 == nil } }

  /// Lets the changes be of the newest version of the record.
  func forgetOutdated() {
    isOutdated = false
    outdatedOrdinals = []
  }

  /// Whether there is something to save.
  var hasUnsettled: Bool {
    if settled.isEmpty { return !isEmpty }
    return values.indices.contains { values[$0] != nil && !settled.contains($0) }
      || links.keys.contains { !settled.contains($0) }
  }

  /// The ordinals of the properties whose new values are to be saved, ascending.
  var unsettledOrdinals: [Int] {
    values.indices.filter(isUnsettled)
  }

  /// Whether a property has a new value that is to be saved.
  func isUnsettled(_ ordinal: Int) -> Bool {
    (values[ordinal] != nil || links[ordinal] != nil) && !settled.contains(ordinal)
  }

  /// Calls `body` with the new values that are to be saved, by ordinal.
  @inline(__always)
  func forEachUnsettled(_ body: (Int, PropertyValue) -> Void) {
    for ordinal in values.indices {
      guard let value = value(at: ordinal), settled.isEmpty || !settled.contains(ordinal) else { continue }
      body(ordinal, value)
    }
  }

  @inline(__always)
  func value(at ordinal: Int) -> PropertyValue? {
    if let value = values[ordinal] { return value }
    return links.isEmpty ? nil : links[ordinal].map { .toMany($0.ids) }
  }

  func setValue(_ value: PropertyValue?, at ordinal: Int) {
    values[ordinal] = value
    unsettle(ordinal)
  }

  /// Lets the value of a property be one that is to be saved. Most objects have no others, and then nothing is hashed.
  @inline(__always)
  private func unsettle(_ ordinal: Int) {
    if !settled.isEmpty { settled.remove(ordinal) }
  }

  /// Takes the new objects of a to-many relationship out, for them to be changed in place.
  func takeLinks(at ordinal: Int) -> ObjectIDList? {
    unsettle(ordinal)
    return links.removeValue(forKey: ordinal)
  }

  func setLinks(_ list: ObjectIDList?, at ordinal: Int) {
    links[ordinal] = list
    unsettle(ordinal)
  }

  /// Lets relationships be held anew against what they were read with, which is something else now, or has other names.
  private func forgetCommittedLinks() {
    for ordinal in links.keys { links[ordinal]?.forgetCommitted() }
  }

  /// Lets relationships name objects by other ids.
  func replaceIDs(_ ids: [ManagedObjectID: ManagedObjectID], relationships: [RelationshipTarget?]) {
    forgetCommittedLinks()
    for ordinal in relationships.indices where relationships[ordinal] != nil {
      if case .toOne(let old) = values[ordinal], let new = ids[old] { values[ordinal] = .toOne(new) }
      if let list = links[ordinal], list.ids.contains(where: { ids[$0] != nil }) {
        links[ordinal] = ObjectIDList(list.ids.map { ids[$0] ?? $0 })
      }
    }
  }

  /// Whether the new objects of a to-many relationship have `id` among them; nil where there are no new ones. O(1).
  func isLinked(_ id: ManagedObjectID, at ordinal: Int) -> Bool? { links[ordinal]?.contains(id) }

  func isSettled(_ ordinal: Int) -> Bool { settled.contains(ordinal) }

  /// Lets the value of a property be seen, but not saved.
  func settle(_ ordinal: Int) {
    if values[ordinal] != nil || links[ordinal] != nil { settled.insert(ordinal) }
  }

  /// What is left of the changes once they are in `group`: the transient values, with permanent ids; nil where there are none.
  ///
  /// - Parameter group: nil where the record is gone, and the object keeps its name.
  func saved(
    in group: RowGroup?,
    keeping transientOrdinals: [Int],
    permanentID: (ManagedObjectID) -> ManagedObjectID
  ) -> ObjectChanges? {
    let rest = ObjectChanges(
      newID: group == nil ? newID : nil,
      group: group,
      values: Array(repeating: nil, count: values.count)
    )
    for ordinal in transientOrdinals {
      if case .toOne(let id) = values[ordinal] {
        rest.values[ordinal] = .toOne(permanentID(id))
      } else {
        rest.values[ordinal] = values[ordinal]
      }
      rest.links[ordinal] = links[ordinal].map { ObjectIDList($0.ids.map(permanentID)) }
      rest.settle(ordinal)
    }
    return rest.isEmpty ? nil : rest
  }
}
