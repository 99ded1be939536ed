package import HeartwoodModel

/// The tables of one store at one moment, to be queried.
package struct QueryTables: Sendable {
  /// Indexed by entity ordinal; nil for entities that the store does not keep.
  package let tables: [NodeTable?]
  /// What object ids are made with, indexed by entity ordinal.
  package let scopes: [ObjectIDScope]

  package init(tables: [NodeTable?], scopes: [ObjectIDScope]) {
    self.tables = tables
    self.scopes = scopes
  }

  package func table(_ entityOrdinal: Int) -> NodeTable? {
    tables.indices.contains(entityOrdinal) ? tables[entityOrdinal] : nil
  }
}

extension QueryTables {
  private static let rowsPerTask = 1 << 12

  /// The values that the expressions have for the records in `rows`, those of one record after those of the other; on all
  /// processors where they are many.
  package func values(_ plans: [PlanExpression], of rows: [RowID], entityOrdinal: Int) -> [PropertyValue] {
    let tasks = (rows.count + Self.rowsPerTask - 1) / Self.rowsPerTask
    let records = QueryRecords(tables: self, entityOrdinal: entityOrdinal)
    return Parallel.map(tasks) { task in
      rows[(task * Self.rowsPerTask)..<min(rows.count, (task + 1) * Self.rowsPerTask)].flatMap { row in
        plans.map { records.value($0, row) }
      }
    }.flatMap(\.self)
  }
}

extension QueryTables: PredicateSource {
  /// A record: the ordinal of its entity, and its row.
  package struct Subject: Sendable, Hashable {
    package let entityOrdinal: Int
    package let row: RowID

    package init(entityOrdinal: Int, row: RowID) {
      self.entityOrdinal = entityOrdinal
      self.row = row
    }
  }

  package func value(_ ordinal: Int, of subject: Subject) -> PropertyValue {
    guard let table = table(subject.entityOrdinal) else { return .null }
    let type = table.entity.traits[ordinal].attributeType
    return table.groups[subject.row.group].value(row: subject.row.row, ordinal: ordinal, type: type, scopes: scopes)
  }

  package func objectID(of subject: Subject) -> ManagedObjectID? {
    ManagedObjectID(scope: scopes[subject.entityOrdinal], reference: reference(of: subject))
  }

  private func reference(of subject: Subject) -> ReferenceID {
    tables[subject.entityOrdinal]?.reference(subject.row) ?? .integer(0)
  }

  package func subject(_ id: ManagedObjectID) -> Subject? {
    let ordinal = id.entity.ordinal
    guard scopes.indices.contains(ordinal), id.storeIdentifier == scopes[ordinal].storeIdentifier else { return nil }
    // try?: a reference that occurs twice names no record; whoever reads the table is told of it.
    guard let row = try? table(ordinal)?.row(of: id.reference) else { return nil }
    return Subject(entityOrdinal: ordinal, row: row)
  }
}

extension QueryTables.Subject: Comparable {
  /// In the order of the model's entities, and of the rows of each.
  package static func < (left: Self, right: Self) -> Bool {
    (left.entityOrdinal, left.row.rawValue) < (right.entityOrdinal, right.row.rawValue)
  }
}
