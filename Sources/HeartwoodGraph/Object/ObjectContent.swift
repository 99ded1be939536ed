import HeartwoodModel
import HeartwoodStore

/// The source of an object's values.
enum ObjectContent {
  /// The values have not been read since the object was registered or refreshed.
  case fault
  /// The group of rows that the object reads from: the version of the record that it keeps.
  case read(RowGroup)
  /// A group of rows, or none for a new object, with changes on top.
  case changed(ObjectChanges)
}

/// The differences between an object and the record that it was read from.
///
/// Exclusivity is checked by review: no method calls foreign code while it uses the values.
final class ObjectChanges {
  /// The id of an unsaved object: temporary, or the one that its store will use.
  @exclusivity(unchecked) var newID: ManagedObjectID?
  /// The store that a new object was assigned to, and will be again if the object is restored; nil while the context
  /// has the object.
  @exclusivity(unchecked) var formerStore: PersistentStore?
  /// The version of the record that the changes are based on; nil if no store has one.
  @exclusivity(unchecked) var group: RowGroup? {
    didSet { forgetCommittedLinks() }
  }
  /// Whether the record has changed since the changes were made, although ``group`` is its newest version.
  @exclusivity(unchecked) var isOutdated = false
  /// The ordinals of the properties of the record that have changed since, if they are known.
  @exclusivity(unchecked) var outdatedOrdinals: Set<Int> = []
  /// The new values of attributes and to-one relationships, indexed by property ordinal; nil for unchanged ones. A new
  /// object has its default values here.
  @exclusivity(unchecked) private var values: [PropertyValue?]
  /// The new destinations of to-many relationships, by property ordinal.
  @exclusivity(unchecked) private var links: [Int: ObjectIDList] = [:]
  /// The ordinals of those new values that no save has to write: transient ones that a save has left in place, and
  /// values that were set while the object awoke.
  @exclusivity(unchecked) private var settled: Set<Int> = []

  init(newID: ManagedObjectID? = nil, group: RowGroup?, values: [PropertyValue?]) {
    self.newID = newID
    self.group = group
    self.values = values
  }
}

extension ObjectChanges {
  var isEmpty: Bool { links.isEmpty && values.allSatisfy { $0 == nil } }

  /// Makes the changes count as based on the newest version of the record.
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

  /// Returns whether a property has a new value that is to be saved.
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

  /// Makes the value of a property one that is to be saved. Most objects have no others, and then nothing is hashed.
  @inline(__always)
  private func unsettle(_ ordinal: Int) {
    if !settled.isEmpty { settled.remove(ordinal) }
  }

  /// Removes the new destinations of a to-many relationship and returns them, so that they can be changed in place.
  func takeLinks(at ordinal: Int) -> ObjectIDList? {
    unsettle(ordinal)
    return links.removeValue(forKey: ordinal)
  }

  func setLinks(_ list: ObjectIDList?, at ordinal: Int) {
    links[ordinal] = list
    unsettle(ordinal)
  }

  /// Makes relationships be compared again with their stored values, which are others now or have other ids.
  private func forgetCommittedLinks() {
    for ordinal in links.keys { links[ordinal]?.forgetCommitted() }
  }

  /// Replaces ids in relationships.
  func replaceIDs(_ ids: [ManagedObjectID: ManagedObjectID], relationships: [RelationshipTarget?]) {
    forgetCommittedLinks()
    for ordinal in relationships.indices where relationships[ordinal] != nil {
      if case .toOne(let old) = values[ordinal], let new = ids[old] { values[ordinal] = .toOne(new) }
      if let list = links[ordinal], list.ids.contains(where: { ids[$0] != nil }) {
        links[ordinal] = ObjectIDList(list.ids.map { ids[$0] ?? $0 })
      }
    }
  }

  /// Returns whether the new destinations of a to-many relationship contain `id`; nil if there are no new ones. O(1).
  func isLinked(_ id: ManagedObjectID, at ordinal: Int) -> Bool? { links[ordinal]?.contains(id) }

  func isSettled(_ ordinal: Int) -> Bool { settled.contains(ordinal) }

  /// Makes the value of a property visible, but not saved.
  func settle(_ ordinal: Int) {
    if values[ordinal] != nil || links[ordinal] != nil { settled.insert(ordinal) }
  }

  /// Returns the part of the changes that stays once they are saved in `group`: the transient values, with permanent
  /// ids; nil if there are none.
  ///
  /// - Parameter group: nil if the record is gone, and the object keeps its id.
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
