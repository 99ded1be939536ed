package import HeartwoodModel
import Synchronization

/// The tables of one store at one moment, for queries.
package struct QueryTables: Sendable {
  /// The tables, indexed by entity ordinal; nil for entities that the store does not keep.
  package let tables: [NodeTable?]
  /// The scopes that object ids are made with, indexed by entity ordinal.
  package let scopes: [ObjectIDScope]
  /// Notes the records that are not in the tables when they are looked up; nil if they need not be known.
  private let missing: MissingRecords?

  package init(tables: [NodeTable?], scopes: [ObjectIDScope], missing: MissingRecords? = nil) {
    self.tables = tables
    self.scopes = scopes
    self.missing = missing
  }

  package func table(_ entityOrdinal: Int) -> NodeTable? {
    tables.indices.contains(entityOrdinal) ? tables[entityOrdinal] : nil
  }
}

extension QueryTables {
  private static let rowsPerTask = 1 << 12

  /// Returns the values of the expressions for the records in `rows`, record by record; computed on all processors if
  /// there are many.
  package func values(_ plans: [CompiledExpression], of rows: [RowID], entityOrdinal: Int) -> [PropertyValue] {
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
    // try?: a reference that occurs twice identifies no record; reading the table throws the error.
    guard let row = try? table(ordinal)?.row(of: id.reference) else {
      missing?.note(id)
      return nil
    }
    return Subject(entityOrdinal: ordinal, row: row)
  }
}

extension QueryTables.Subject: Comparable {
  /// Orders records by their entities, as in the model, and by their rows.
  package static func < (left: Self, right: Self) -> Bool {
    (left.entityOrdinal, left.row.rawValue) < (right.entityOrdinal, right.row.rawValue)
  }
}

// MARK: MissingRecords

/// The records that were looked up in tables that do not have them: they may be in the store all the same, if it reads
/// records as they are needed.
package final class MissingRecords: Sendable {
  private let noted = Mutex<Set<ManagedObjectID>>([])

  package init() {}

  /// The ids of the records. O(1).
  package var ids: Set<ManagedObjectID> { noted.withLock { $0 } }

  fileprivate func note(_ id: ManagedObjectID) {
    noted.withLock { _ = $0.insert(id) }
  }
}

// MARK: QueryPlan

/// Describes how a fetch finds its objects: the tests in their order, the sort, and the use of indexes.
///
/// It is for people: print it. Its words may change with any version of the library.
public struct QueryPlan: Sendable, Hashable {
  /// The step for the records of one entity in one store.
  public struct Step: Sendable, Hashable {
    /// The name of the entity; subentities have steps of their own.
    public var entityName: String
    /// The number of records.
    public var recordCount: Int
    /// The name of the index that finds the candidates; nil if all records are tested.
    public var indexName: String?
    /// The number of records that are tested.
    public var candidateCount: Int
    /// The tests, the cheapest first. Without the values: they may be private.
    public var tests: [String]
    /// How the results are sorted; nil if they are not.
    public var order: String?
    /// Whether the store does not find the records itself, so that all are read from it first.
    public var readsAll = false
    /// How a store that finds the records itself does it, in its own language, one line for each step; empty if the
    /// framework finds them. The ``tests`` and ``order`` then describe what is done in memory besides, with the records
    /// that the store finds.
    public var storeLines: [String]

    init(entityName: String, recordCount: Int) {
      self.entityName = entityName
      self.recordCount = recordCount
      self.candidateCount = recordCount
      self.tests = []
      self.storeLines = []
    }
  }

  /// The steps, entity by entity and store by store.
  public var steps: [Step]

  package init(steps: [Step]) {
    self.steps = steps
  }
}

extension QueryPlan: CustomStringConvertible {
  /// A few lines for each step.
  public var description: String { steps.map(\.description).joined(separator: "\n") }
}

extension QueryPlan.Step: CustomStringConvertible {
  /// One line for the records that are tested, one for each test, and one for the order.
  public var description: String {
    if !storeLines.isEmpty {
      let rest = tests.map { "then test in memory: \($0)" } + (order.map { ["then sort in memory: by \($0)"] } ?? [])
      return (["\(entityName): found by the store"] + (storeLines + rest).map { "  " + $0 }).joined(separator: "\n")
    }
    let access = indexName.map { "\(candidateCount) of \(recordCount) records by the index \($0)" }
    let all = "all \(recordCount) records" + (readsAll ? ", read from the store and tested in memory" : "")
    let lines = tests.map { "test \($0)" } + (order.map { ["sort by \($0)"] } ?? [])
    return (["\(entityName): \(access ?? all)"] + lines.map { "  " + $0 })
      .joined(separator: "\n")
  }
}
