import HeartwoodModel

/// Attributes whose values, taken together, no two records of an entity and its subentities may share.
struct UniqueConstraint: Sendable {
  /// The ordinals of the attributes, the same in all the entities.
  let ordinals: [Int]
  let names: [String]
  /// The ordinals of the entities whose records are compared with each other.
  let entityOrdinals: [Int]
  private let types: [AttributeType?]

  /// Returns the constraints of a model, each with the entity that declares it and all its subentities.
  static func all(of model: ManagedObjectModel) -> [UniqueConstraint] {
    model.entities.flatMap { entity in
      entity.uniquenessConstraints.dropFirst(entity.superentity?.uniquenessConstraints.count ?? 0).map {
        UniqueConstraint($0, of: entity)
      }
    }
  }

  private init(_ ordinals: [Int], of entity: EntityDescription) {
    self.ordinals = ordinals
    names = ordinals.map { entity.properties[$0].name }
    types = ordinals.map { entity.traits[$0].attributeType }
    entityOrdinals = [entity.ordinal] + entity.subentityOrdinals
  }

  /// Returns the values of a record; nil if one of them is missing, because then the record is in conflict with none.
  func key(_ row: RowID, of table: NodeTable) -> [PropertyValue]? {
    let group = table.groups[row.group]
    var key: [PropertyValue] = []
    for (ordinal, type) in zip(ordinals, types) {
      let value = group.value(row: row.row, ordinal: ordinal, type: type, scopes: [])
      if value.isNull { return nil }
      key.append(value)
    }
    return key
  }

  static func hash(_ key: [PropertyValue]) -> UInt64 {
    UInt64(bitPattern: Int64(key.hashValue))
  }
}

// MARK: UniqueIndex

/// A record among those of the entities that share a uniqueness constraint.
struct UniqueRow: Sendable, Hashable {
  let entityOrdinal: Int32
  let row: RowID

  init(entityOrdinal: Int, row: RowID) {
    self.entityOrdinal = Int32(truncatingIfNeeded: entityOrdinal)
    self.row = row
  }
}

/// Finds records by the hash of the values that must be unique.
///
/// An entry stays when its record is deleted or gets other values, so a search has to check the record; the entry is
/// replaced when another record with the same hash is added.
struct UniqueIndex: Sendable {
  private var rows: [UInt64: UniqueRow] = [:]
  /// Further records with the same hash as another: there are any only if hashes collide or a file had duplicates.
  private var others: [UInt64: [UniqueRow]] = [:]

  mutating func reserve(_ count: Int) {
    rows.reserveCapacity(count)
  }

  /// Returns the first record of `hash` for which `matches` returns true.
  func first(_ hash: UInt64, where matches: (UniqueRow) -> Bool) -> UniqueRow? {
    guard let row = rows[hash] else { return nil }
    return matches(row) ? row : others[hash]?.first(where: matches)
  }

  /// Adds a record, in place of one for which `isStale` returns true.
  mutating func insert(_ row: UniqueRow, _ hash: UInt64, isStale: (UniqueRow) -> Bool) {
    guard let other = rows[hash], other != row, !isStale(other) else {
      rows[hash] = row
      return
    }
    var rows = others.removeValue(forKey: hash) ?? []
    // Not at each insertion: a file may have very many duplicates, and stale entries do no harm.
    if rows.count.nonzeroBitCount <= 1 { rows.removeAll { $0 == row || isStale($0) } }
    rows.append(row)
    others[hash] = rows
  }

  func forEach(_ body: (UniqueRow, UInt64) -> Void) {
    for (hash, row) in rows { body(row, hash) }
    for (hash, rows) in others { for row in rows { body(row, hash) } }
  }
}
