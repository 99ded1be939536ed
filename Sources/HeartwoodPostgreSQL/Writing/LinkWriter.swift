import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Collects the changes of the to-many relationships of a save, and writes them with a few statements for each
/// relationship.
///
/// The column of a to-one relationship contains the owner, so its inverse only writes the positions. The changes of a
/// many-to-many relationship are computed from the records before the save: another client may have added pairs that
/// this one has not seen.
struct LinkWriter {
  /// The distance between the positions of ordered records, so that records can be inserted between them.
  private static let gap: Int64 = 1024

  private let writer: RecordWriter
  private var joins: [Place: JoinChanges] = [:]
  private var positions: [Place: Positions] = [:]

  /// A relationship as one table and column.
  private struct Place: Hashable, Comparable {
    let table: String
    let ownColumn: String

    static func < (left: Place, right: Place) -> Bool {
      (left.table, left.ownColumn) < (right.table, right.ownColumn)
    }
  }

  private struct JoinChanges {
    let placement: JoinPlacement
    var removed = Pairs()
    var added = Pairs()
  }

  private struct Pairs {
    var owners: [UUID] = []
    var others: [UUID] = []

    mutating func append(_ owner: UUID, _ other: UUID) {
      owners.append(owner)
      others.append(other)
    }
  }

  private struct Positions {
    let statement: String
    var pairs = Pairs()
    var numbers: [Int64] = []
  }

  init(_ writer: RecordWriter) {
    self.writer = writer
  }

  /// Adds the destinations of a new record.
  mutating func add(_ record: ObjectSnapshot) throws {
    let placement = try writer.schema.placement(of: record.objectID.entity)
    for (ordinal, property) in placement.properties.enumerated() where Self.isToMany(property) {
      let new = try keys(record.values[ordinal])
      if new.isEmpty { continue }
      try replace([], by: new, of: property, owner: try writer.key(record.objectID))
    }
  }

  /// Adds the destinations of a record, in place of its previous ones.
  mutating func add(_ update: RecordUpdate, _ contents: StoreContents) throws {
    let placement = try writer.schema.placement(of: update.objectID.entity)
    for (ordinal, value) in update.values where Self.isToMany(placement.properties[ordinal]) {
      let before = try contents.node(update.objectID.reference, of: update.objectID.entity)
      let old = try before.map { try keys($0[ordinal]) } ?? []
      try replace(
        old,
        by: try keys(value),
        of: placement.properties[ordinal],
        owner: try writer.key(update.objectID)
      )
    }
  }

  private static func isToMany(_ property: PropertyPlacement?) -> Bool {
    switch property {
    case .toMany, .join: true
    case .attribute, .toOne, nil: false
    }
  }

  private func keys(_ value: PropertyValue) throws -> [UUID] {
    guard case .toMany(let ids) = value else { return [] }
    return try ids.map { try writer.key($0) }
  }

  private mutating func replace(
    _ old: [UUID],
    by new: [UUID],
    of property: PropertyPlacement?,
    owner: UUID
  ) throws {
    switch property {
    case .toMany(let placement):
      guard let column = placement.positionColumn else { return }
      number(
        new,
        owner,
        placement.destination.table,
        key: "id",
        owner: placement.column,
        position: column
      )
    case .join(let placement):
      let place = Place(table: placement.table, ownColumn: placement.ownColumn)
      var changes = joins[place] ?? JoinChanges(placement: placement)
      let (before, after) = (Set(old), Set(new))
      for key in old where !after.contains(key) { changes.removed.append(owner, key) }
      for key in new where !before.contains(key) { changes.added.append(owner, key) }
      joins[place] = changes
      guard let column = placement.positionColumn else { return }
      number(
        new,
        owner,
        placement.table,
        key: placement.otherColumn,
        owner: placement.ownColumn,
        position: column
      )
    case .attribute, .toOne, nil: return
    }
  }

  /// Numbers the destinations of an owner. A record that has moved to another owner keeps its position there.
  private mutating func number(
    _ keys: [UUID],
    _ owner: UUID,
    _ table: String,
    key keyColumn: String,
    owner ownerColumn: String,
    position: String
  ) {
    let quoted = PostgreSQLName.quoted
    let statement =
      "UPDATE \(writer.schema.qualified(table)) AS r SET \(quoted(position)) = u.place"
      + " FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS u(owner, id, place)"
      + " WHERE r.\(quoted(keyColumn)) = u.id AND r.\(quoted(ownerColumn)) = u.owner"
    let place = Place(table: table, ownColumn: position)
    var positions = positions[place] ?? Positions(statement: statement)
    for (index, key) in keys.enumerated() {
      positions.pairs.append(owner, key)
      positions.numbers.append(Int64(index + 1) * Self.gap)
    }
    self.positions[place] = positions
  }

  /// Writes all changes: first removals, then additions, then positions.
  func write() throws {
    let joins = joins.sorted { $0.key < $1.key }.map(\.value)
    for changes in joins where !changes.removed.owners.isEmpty { try remove(changes) }
    for changes in joins where !changes.added.owners.isEmpty { try add(changes) }
    for (_, positions) in positions.sorted(by: { $0.key < $1.key }) where !positions.numbers.isEmpty {
      try writer.connection.queue(
        positions.statement,
        [
          .uuids(positions.pairs.owners), .uuids(positions.pairs.others),
          .bigints(positions.numbers),
        ]
      )
    }
  }

  private func remove(_ changes: JoinChanges) throws {
    let placement = changes.placement
    let (own, other) = (
      PostgreSQLName.quoted(placement.ownColumn), PostgreSQLName.quoted(placement.otherColumn)
    )
    var condition = "r.\(own) = u.owner AND r.\(other) = u.other"
    if placement.isReflexive {
      condition = "(\(condition)) OR (r.\(own) = u.other AND r.\(other) = u.owner)"
    }
    let text =
      "DELETE FROM \(writer.schema.qualified(placement.table)) AS r"
      + " USING unnest($1::uuid[], $2::uuid[]) AS u(owner, other) WHERE \(condition)"
    try run(text, changes.removed)
  }

  private func add(_ changes: JoinChanges) throws {
    let placement = changes.placement
    let (own, other) = (
      PostgreSQLName.quoted(placement.ownColumn), PostgreSQLName.quoted(placement.otherColumn)
    )
    // The inverse adds the same pairs.
    let pairs = "SELECT u.owner, u.other FROM unnest($1::uuid[], $2::uuid[]) AS u(owner, other)"
    let reversed =
      placement.isReflexive
      ? " UNION \(pairs.replacing("u.owner, u.other", with: "u.other, u.owner"))" : ""
    let text =
      "INSERT INTO \(writer.schema.qualified(placement.table)) (\(own), \(other)) \(pairs)\(reversed)"
      + " ON CONFLICT DO NOTHING"
    try run(text, changes.added)
  }

  private func run(_ text: String, _ pairs: Pairs) throws {
    try writer.connection.queue(text, [.uuids(pairs.owners), .uuids(pairs.others)])
  }
}
