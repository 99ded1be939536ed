import HeartwoodModel
import HeartwoodStore

/// The new records of a batch, and what becomes of those whose values must be unique and are not.
struct BatchUpsert {
  /// Where a new record is: a group, and a row in it.
  private struct Place: Hashable {
    let group: Int
    let row: Int
  }

  /// What takes the values of a new record.
  private enum Target {
    case new(Place)
    case stored(ManagedObjectID)
  }

  /// The records that are still to be inserted.
  private(set) var rows: InsertedRows
  /// The values that records take which are there already, by property ordinal.
  private(set) var updates: [ManagedObjectID: [Int: PropertyValue]] = [:]
  private let policy: MergePolicy
  private let scopes: [ObjectIDScope]

  init(_ rows: InsertedRows, _ policy: MergePolicy, scopes: [ObjectIDScope]) {
    self.rows = rows
    self.policy = policy
    self.scopes = scopes
  }

  /// Whether records that are there already take values.
  var hasUpdates: Bool { updates.contains { !$0.value.isEmpty } }

  /// The new values of records that are there already.
  ///
  /// - Throws: ``PersistenceError/Code/saveConflict`` where one is gone meanwhile.
  func recordUpdates(in tables: QueryTables) throws(PersistenceError) -> [RecordUpdate] {
    var records: [(subject: QueryTables.Subject, update: RecordUpdate)] = []
    for (id, values) in updates where !values.isEmpty {
      guard let subject = tables.subject(id), let table = tables.table(subject.entityOrdinal) else {
        throw .saveConflict([MergeConflict(objectID: id, oldVersion: 0, persisted: nil)])
      }
      let changes = values.sorted { $0.key < $1.key }.map { (ordinal: $0.key, value: $0.value) }
      let update = RecordUpdate(objectID: id, baseVersion: table.version(subject.row), values: changes)
      records.append((subject, update))
    }
    return records.sorted { $0.subject < $1.subject }.map(\.update)
  }
}

// MARK: Conflicts

extension BatchUpsert {
  /// Lets the policy decide what becomes of records that collide.
  ///
  /// - Throws: `error` where the policy fails one of them, and what the policy throws. Nothing has changed then.
  mutating func resolve(_ error: PersistenceError) throws {
    let conflicts = error.context.constraintConflicts
    let resolutions = try conflicts.map { try policy.constraintResolution($0) }
    if conflicts.isEmpty || resolutions.contains(.fail) { throw error }
    let places = places(of: Set(conflicts.flatMap { [$0.objectID, $0.conflictingID] }))
    var changes = Changes()
    for (conflict, resolution) in zip(conflicts, resolutions) {
      guard let place = places[conflict.objectID] else {
        // A record that is there collides by the values that it has taken.
        if resolution == .updateConflicting { throw error }
        drop(conflict.constraint, of: conflict.objectID)
        continue
      }
      guard changes.targets[place] == nil else { continue }
      let target = changes.end(of: places[conflict.conflictingID].map(Target.new) ?? .stored(conflict.conflictingID))
      changes.targets[place] = target
      if resolution == .updateConflicting { give(values(at: place, changes), to: target, &changes) }
    }
    rows = rebuilt(changes)
  }

  /// What is done with the new records of one attempt.
  private struct Changes {
    /// The records that are not inserted, and what has taken their values.
    var targets: [Place: Target] = [:]
    /// New records that have other values.
    var values: [Place: [PropertyValue]] = [:]

    /// What is inserted or there, where `target` itself is not.
    func end(of target: Target) -> Target {
      if case .new(let place) = target, let next = targets[place] { next } else { target }
    }
  }

  /// Where new records are.
  private func places(of ids: Set<ManagedObjectID>) -> [ManagedObjectID: Place] {
    var places: [ManagedObjectID: Place] = [:]
    for (ordinal, group) in rows.groups.enumerated() {
      for row in 0..<group.rowCount {
        let id = ManagedObjectID(scope: scopes[rows.entity.ordinal], reference: group.reference(row))
        if ids.contains(id) { places[id] = Place(group: ordinal, row: row) }
      }
    }
    return places
  }

  private func values(at place: Place, _ changes: Changes) -> [PropertyValue] {
    if let values = changes.values[place] { return values }
    return rows.entity.traits.enumerated().map { ordinal, trait in
      rows.groups[place.group].value(row: place.row, ordinal: ordinal, type: trait.attributeType, scopes: scopes)
    }
  }

  /// Lets a record take values, nil ones left out.
  private mutating func give(_ values: [PropertyValue], to target: Target, _ changes: inout Changes) {
    switch target {
    case .new(let place):
      let own = self.values(at: place, changes)
      changes.values[place] = zip(own, values).map { own, new in new.isNothing ? own : new }
    case .stored(let id):
      for (property, value) in zip(rows.entity.properties, values) where !value.isNothing && !property.isTransient {
        if let ordinal = id.entity.ordinal(ofProperty: property.name) { updates[id, default: [:]][ordinal] = value }
      }
    }
  }

  private mutating func drop(_ names: [String], of id: ManagedObjectID) {
    for name in names {
      if let ordinal = id.entity.ordinal(ofProperty: name) { updates[id]?[ordinal] = nil }
    }
  }

  /// The records that are left, with their new values.
  private func rebuilt(_ changes: Changes) -> InsertedRows {
    var left = RowGroupListBuilder(entity: rows.entity)
    for (ordinal, group) in rows.groups.enumerated() {
      for row in 0..<group.rowCount {
        let place = Place(group: ordinal, row: row)
        if changes.targets[place] != nil { continue }
        let builder = left.next()
        if let values = changes.values[place] {
          builder.append(group.reference(row), version: 1, values: values)
        } else {
          builder.append(row..<(row + 1), of: group)
        }
      }
    }
    return InsertedRows(entity: rows.entity, groups: left.finish(), hasGivenReferences: rows.hasGivenReferences)
  }
}

extension PropertyValue {
  /// Whether there is no value, or no object.
  fileprivate var isNothing: Bool {
    if case .toMany(let ids) = self { ids.isEmpty } else { isNull }
  }
}
