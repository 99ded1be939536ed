import GRDB
import HeartwoodModel
import HeartwoodStore

/// The statements of a batch for the records of one entity.
struct BatchTranslation {
  /// Finds the keys of the records.
  let keys: FetchStatement
  /// Each counts records for which SQL and the framework may differ: if there are any, the batch is not carried out.
  private(set) var doubts: [FetchStatement] = []
  /// The changes of records whose relationships refer to deleted records.
  private(set) var unlinkedRecords: [UnlinkedRecords] = []
  /// Updates or deletes the records.
  private(set) var change: FetchStatement

  /// Records with a relationship that refers to deleted records: they get their next version.
  struct UnlinkedRecords {
    /// The entity of all these records; nil if there may be several.
    let entityOrdinal: Int?
    /// The relationship that refers to the deleted records.
    let propertyOrdinal: Int
    let keys: FetchStatement
    let change: FetchStatement
  }

  /// The assignment that gives a row its next version. Versions begin with 1.
  private static let nextVersion = "Z_OPT = max(1, ifnull(Z_OPT, 0)) + 1"

  /// - Parameter isAlone: whether the batch concerns records of this entity only.
  /// - Throws: ``Untranslatable``, or an error for a new value that cannot be kept.
  init(_ action: RecordBatch.Action, _ fetch: RecordFetch, isAlone: Bool, in schema: SQLiteSchema, path: String) throws
  {
    guard let placement = schema.placement(of: fetch.entity) else { throw Untranslatable() }
    if !isAlone, let plan = fetch.compiledPredicate {
      // The records of one entity are changed before those of the next one are selected.
      let change = BatchReading(action, root: placement.rootNumber, in: schema)
      if change.isSeen(by: plan) { throw Untranslatable() }
    }
    let part = BatchPart(fetch: fetch, placement: placement, schema: schema)
    keys = try part.statement { scope, condition in "SELECT \(scope.key) FROM \(scope.source) WHERE \(condition)" }
    switch action {
    case .update(let assignments):
      (change, doubts) = try part.update(assignments, settingVersion: Self.nextVersion, path: path)
    case .delete:
      change = try part.deletion()
      unlinkedRecords = try part.unlinkedRecords(settingVersion: Self.nextVersion)
      if !isAlone, !unlinkedRecords.isEmpty { throw Untranslatable() }
    }
  }
}

/// The records of one entity in a batch.
private struct BatchPart {
  let fetch: RecordFetch
  let placement: EntityPlacement
  let schema: SQLiteSchema

  private var table: String { SQLiteName.quoted(placement.tableName) }

  /// Returns a statement about the rows that meet the condition.
  ///
  /// - Parameter prepare: translates the expressions before the condition.
  func statement<Prepared>(
    preparing prepare: (inout FetchTranslator, QueryScope) throws -> Prepared,
    _ text: (Prepared, QueryScope, _ condition: String) -> String
  ) throws -> FetchStatement {
    var translator = FetchTranslator(schema: schema, strays: .passedOver)
    let scope = QueryScope(placement, alias: translator.alias())
    let prepared = try prepare(&translator, scope)
    // Tables that are joined to the row are not available in a statement that changes it.
    guard scope.joins.isEmpty else { throw Untranslatable() }
    let condition = try translator.condition(fetch.compiledPredicate, ofRecordsIn: scope)
    return try translator.statement(text(prepared, scope, condition))
  }

  func statement(_ text: (QueryScope, _ condition: String) -> String) throws -> FetchStatement {
    try statement(preparing: { _, _ in }, { text($1, $2) })
  }

  /// Returns the condition for a statement that changes the rows of the scope.
  private func condition(_ condition: String, _ scope: QueryScope) -> String {
    scope.joins.isEmpty ? condition : "\(scope.key) IN (SELECT \(scope.key) FROM \(scope.source) WHERE \(condition))"
  }
}

// MARK: Updates

extension BatchPart {
  func update(
    _ assignments: [BatchAssignment],
    settingVersion version: String,
    path: String
  ) throws -> (FetchStatement, doubts: [FetchStatement]) {
    let unique = Set(fetch.entity.uniquenessConstraints.joined())
    if assignments.contains(where: { unique.contains($0.ordinal) }) { throw Untranslatable() }
    let change = try statement { translator, scope in
      try assignments.map { try value($0, &translator, scope, path) }
    } _: { values, scope, condition in
      let terms = [version] + values.map { "\(SQLiteName.quoted($0.column)) = \($0.text)" }
      return "UPDATE \(table) AS \(scope.alias) SET \(terms.joined(separator: ", ")) WHERE "
        + self.condition(condition, scope)
    }
    return (change, try assignments.filter { $0.expression.constant == nil }.map(doubt))
  }

  /// Returns the column of an attribute, and its new value.
  private func value(
    _ assignment: BatchAssignment,
    _ translator: inout FetchTranslator,
    _ scope: QueryScope,
    _ path: String
  ) throws -> (column: String, text: String) {
    guard case .attribute(let place) = placement.properties[assignment.ordinal], !StoredValue.isExternal(place.storage)
    else {
      throw Untranslatable()
    }
    guard let constant = assignment.expression.constant else {
      let text = try number(assignment, &translator, scope)
      return (place.column, assignment.type == .double ? "CAST(\(text) AS REAL)" : text)
    }
    guard let value = constant.scalar.converted(to: assignment.type) else { throw Untranslatable() }
    let stored = StoredValue(fetch.entity.name, fetch.entity.properties[assignment.ordinal].name, path)
    let kept: (any DatabaseValueConvertible)?
    do {
      kept = try stored.value(value, place.storage)
    } catch {
      // A value that the file cannot store is refused only if there is a record that would get it.
      throw Untranslatable()
    }
    let argument = StoredValue.argument(kept)
    guard let value = argument.value else { return (place.column, "NULL") }
    _ = translator.argument(value)
    return (place.column, argument.place)
  }

  /// Returns a number that is computed from the attributes of the record itself.
  private func number(
    _ assignment: BatchAssignment,
    _ translator: inout FetchTranslator,
    _ scope: QueryScope
  ) throws(Untranslatable) -> String {
    let isRuled = fetch.entity.properties[assignment.ordinal].attribute.map { !$0.rules.isEmpty } ?? false
    guard !isRuled, assignment.type == .double || Self.range(assignment.type) != nil,
      assignment.expression.isOfOneRecord
    else { throw Untranslatable() }
    let value = try translator.value(assignment.expression, scope)
    guard value.kind == .number else { throw Untranslatable() }
    return value.text
  }

  /// Counts the records whose new value SQL cannot compute, or that does not fit, or that is computed from a value that
  /// is not a number: the framework decides how to handle these.
  private func doubt(_ assignment: BatchAssignment) throws -> FetchStatement {
    try statement { translator, scope in
      (
        number: try number(assignment, &translator, scope),
        oddity: oddity(of: assignment.expression, scope)
      )
    } _: { prepared, scope, condition in
      let isDoubtful: String
      if let range = Self.range(assignment.type) {
        isDoubtful = "typeof(n) <> 'integer' OR n NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)"
      } else {
        isDoubtful = "n IS NULL"
      }
      let numbers =
        "SELECT \(prepared.number) AS n, \(prepared.oddity) AS odd FROM \(scope.source) WHERE \(condition)"
      return "SELECT count(*) FROM (\(numbers)) WHERE \(isDoubtful) OR odd"
    }
  }

  /// Returns a condition that is true for a record with a value that SQL and reading interpret differently.
  private func oddity(of plan: CompiledExpression, _ scope: QueryScope) -> String {
    switch plan {
    case .property(_, let property):
      guard case .attribute(let place) = placement.properties[property.ordinal], let type = property.attributeType
      else { return "1" }
      return "(\(ValueAnomaly.condition(scope.column(place.column), type, place.storage)))"
    case .arithmetic(let left, _, let right): return "(\(oddity(of: left, scope)) OR \(oddity(of: right, scope)))"
    default: return "0"
    }
  }

  private static func range(_ type: AttributeType) -> ClosedRange<Int64>? {
    switch type {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    case .integer64: .min ... .max
    default: nil
    }
  }
}

extension CompiledExpression {
  /// Whether it is computed from constants and the attributes of the record itself.
  fileprivate var isOfOneRecord: Bool {
    switch self {
    case .constant: true
    case .property(.subject, let property): property.attributeType != nil
    case .arithmetic(let left, _, let right): left.isOfOneRecord && right.isOfOneRecord
    default: false
    }
  }
}

// MARK: Deletions

extension BatchPart {
  func deletion() throws -> FetchStatement {
    try statement { scope, condition in
      "DELETE FROM \(table) AS \(scope.alias) WHERE \(self.condition(condition, scope))"
    }
  }

  /// Returns the changes of the records that relationships refer to.
  func unlinkedRecords(settingVersion version: String) throws -> [BatchTranslation.UnlinkedRecords] {
    try placement.properties.indices.compactMap { ordinal in
      switch placement.properties[ordinal] {
      case nil: return nil
      case .attribute(let place):
        // Files with large data are removed one by one.
        if StoredValue.isExternal(place.storage) { throw Untranslatable() }
        return nil
      case .toOne(let place): return try unlinked(ordinal, place, settingVersion: version)
      // Other rows refer to the deleted ones.
      case .toMany, .join: throw Untranslatable()
      }
    }
  }

  /// Returns nil if there is no inverse relationship.
  private func unlinked(
    _ ordinal: Int,
    _ place: ToOnePlacement,
    settingVersion version: String
  ) throws -> BatchTranslation.UnlinkedRecords? {
    let entity = fetch.entity
    guard let relationship = entity.properties[ordinal].relationship, let target = entity.relationshipTargets[ordinal]
    else { throw Untranslatable() }
    if relationship.deleteRule == .noAction { return nil }
    guard relationship.deleteRule == .nullify else { throw Untranslatable() }
    guard let inverseOrdinal = target.inverseOrdinal else { return nil }
    let destination = schema.model.entities[target.entityOrdinal]
    guard let inverse = destination.properties[inverseOrdinal].relationship, inverse.isToMany, inverse.minCount == 0,
      let other = schema.placement(of: destination)
    else { throw Untranslatable() }
    let keys = try statement { scope, condition in
      "SELECT DISTINCT \(scope.column(place.column)) FROM \(scope.source) WHERE \(condition) "
        + "AND \(scope.column(place.column)) IS NOT NULL"
    }
    let change = "UPDATE \(SQLiteName.quoted(other.tableName)) SET \(version) WHERE Z_PK IN (\(keys.text))"
    let entities = schema.model.concreteEntities(under: destination)
    return BatchTranslation.UnlinkedRecords(
      entityOrdinal: entities.count == 1 ? entities[0].ordinal : nil,
      propertyOrdinal: inverseOrdinal,
      keys: keys,
      change: FetchStatement(text: change, arguments: keys.arguments)
    )
  }
}

// MARK: BatchReading

/// Determines whether the result of a condition for one record may change because a batch has changed or deleted
/// another record of the same table.
struct BatchReading {
  private let schema: SQLiteSchema
  private let rootNumber: Int
  /// The ordinals of the attributes that get values; nil if records are deleted.
  private let ordinals: Set<Int>?

  /// - Parameter root: the number of the root entity of the records in the batch.
  init(_ action: RecordBatch.Action, root: Int, in schema: SQLiteSchema) {
    self.schema = schema
    rootNumber = root
    switch action {
    case .update(let assignments): ordinals = Set(assignments.map(\.ordinal))
    case .delete: ordinals = nil
    }
  }

  func isSeen(by plan: CompiledPredicate) -> Bool {
    switch plan {
    case .literal: false
    case .not(let term): isSeen(by: term)
    case .and(let terms), .or(let terms): terms.contains(where: isSeen)
    case .comparison(let comparison): isSeen(by: comparison.left) || isSeen(by: comparison.right)
    }
  }

  private func isSeen(by plan: CompiledExpression) -> Bool {
    switch plan {
    case .constant, .subject, .variable: false
    case .property(.subject, let property): isGathered(property)
    case .property(let base, let property): isSeen(by: base) || isGathered(property) || isRead(property, of: base)
    case .aggregate(let operands), .function(_, let operands): operands.contains(where: isSeen)
    case .collection(_, let operand), .cast(let operand, _): isSeen(by: operand)
    case .arithmetic(let left, _, let right): isSeen(by: left) || isSeen(by: right)
    case .subquery(let collection, _, let predicate): isSeen(by: collection) || isSeen(by: predicate)
    case .element(let collection, .at(let place)): isSeen(by: collection) || isSeen(by: place)
    case .element(let collection, _): isSeen(by: collection)
    case .conditional(let predicate, let first, let second):
      isSeen(by: predicate) || isSeen(by: first) || isSeen(by: second)
    }
  }

  /// Returns whether a property refers to several records of the table, some of which may be deleted.
  private func isGathered(_ property: CompiledProperty) -> Bool {
    ordinals == nil && property.isToMany && isOfTable(property.destination)
  }

  /// Returns whether a property is read from another record that may have a new value for it, or be deleted.
  private func isRead(_ property: CompiledProperty, of base: CompiledExpression) -> Bool {
    isOfTable(base.reachedEntity) && ordinals?.contains(property.ordinal) != false
  }

  /// Returns whether the records of an entity are in the table; true if the entity is not known.
  private func isOfTable(_ ordinal: Int?) -> Bool {
    guard let ordinal else { return true }
    return schema.entities[ordinal]?.rootNumber == rootNumber
  }
}

extension CompiledExpression {
  /// The ordinal of the entity at the end of a path; nil if it is not a path.
  fileprivate var reachedEntity: Int? {
    if case .property(_, let property) = self { property.destination } else { nil }
  }
}
