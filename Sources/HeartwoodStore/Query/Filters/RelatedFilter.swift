import HeartwoodFoundation
package import HeartwoodModel

/// A condition on the objects of a relationship, which has been tested on them first: only the destination of each row
/// is left to check.
struct RelatedFilter: Sendable {
  /// How many of the objects have to pass.
  enum Quantifier: Sendable {
    /// The object of a to-one relationship.
    case one
    case any, all, none
  }

  let quantifier: Quantifier
  /// The objects that pass, or those that do not, by the ordinals of their entities.
  let references: [Int: Set<ReferenceID>]
  /// Whether objects in `references` pass, or the others; a deleted object is not in it.
  let passesIfContained: Bool

  /// Keeps the rows that pass.
  func apply(to rows: inout RowBitmap, _ column: RecordColumn) {
    guard let targets = column.references else {
      if !passesWithout { rows.removeAll() }
      return
    }
    if quantifier == .one {
      rows.filter { row in column.validity?[row] ?? true ? passes(targets, row) : passesWithout }
    } else {
      rows.filter { row in passes(targets, column.range(row)) }
    }
  }

  /// Whether a row without a destination passes.
  private var passesWithout: Bool {
    switch quantifier {
    case .one: !passesIfContained
    case .any: false
    case .all, .none: true
    }
  }

  private func passes(_ targets: ReferenceColumn, _ places: Range<Int>) -> Bool {
    switch quantifier {
    case .one, .any: places.contains { passes(targets, $0) }
    case .all: places.allSatisfy { passes(targets, $0) }
    case .none: !places.contains { passes(targets, $0) }
    }
  }

  @inline(__always)
  private func passes(_ targets: ReferenceColumn, _ place: Int) -> Bool {
    let isContained = references[targets.entityOrdinal(place)]?.contains(targets[place]) ?? false
    return isContained == passesIfContained
  }
}

extension ColumnFilterBuilder {
  /// Returns a test for a comparison whose left side follows a relationship: it is evaluated once for the objects
  /// there, and not for each row.
  func relatedTest(_ comparison: CompiledComparison) -> ColumnFilter? {
    guard comparison.right.constant != nil, let related = comparison.left.related,
      let destination = related.relationship.destination
    else { return nil }
    let isToMany = related.relationship.isToMany
    guard !isToMany || comparison.modifier != .direct else { return nil }
    let meaning = ScalarComparison(comparison.options)
    guard let right = comparison.right.constant else { return nil }
    let inner = comparison.applied(to: related.inner, isOverMany: isToMany)
    let passesMissing = comparison.holds(related.missing, right, meaning, isOverMany: isToMany)
    let references = references(destination, where: .comparison(inner), passing: !passesMissing)
    return .related(
      related.relationship.ordinal,
      RelatedFilter(
        quantifier: isToMany ? comparison.modifier.quantifier : .one,
        references: references,
        passesIfContained: !passesMissing
      )
    )
  }

  /// Returns the objects of an entity and its subentities that meet a condition, or those that do not.
  private func references(
    _ entityOrdinal: Int,
    where plan: CompiledPredicate,
    passing wanted: Bool
  ) -> [Int: Set<ReferenceID>] {
    var references: [Int: Set<ReferenceID>] = [:]
    for case let table? in tables.tables where table.entity.isOrInherits(entityOrdinal) {
      let query = TableQuery(tables, table, where: plan)
      let perGroup = Parallel.map(table.groups.count) { ordinal in
        let passing = query.passing(inGroup: ordinal)
        var chosen = passing
        if !wanted {
          chosen = RowBitmap(liveRowsOf: table.groups[ordinal])
          chosen.subtract(passing)
        }
        var found: [ReferenceID] = []
        chosen.forEach { found.append(table.groups[ordinal].reference($0)) }
        return found
      }
      references[table.entity.ordinal] = Set(perGroup.joined())
    }
    return references
  }
}

extension EntityDescription {
  /// Returns whether it is the entity of that ordinal or inherits from it.
  func isOrInherits(_ ordinal: Int) -> Bool {
    var entity: EntityDescription? = self
    while let current = entity {
      if current.ordinal == ordinal { return true }
      entity = current.superentity
    }
    return false
  }
}

extension CompiledComparison {
  /// Returns the same comparison for an object of the relationship.
  fileprivate func applied(to inner: CompiledExpression, isOverMany: Bool) -> CompiledComparison {
    // If the objects have several values in turn, the modifier applies to these; a single value is compared directly.
    let innerModifier: FetchComparison.Modifier =
      !isOverMany ? modifier : !inner.leadsToMany ? .direct : modifier == .none ? .any : modifier
    return replacing(left: inner, modifier: innerModifier)
  }

  /// Returns whether a missing object passes, which has the value `missing`.
  fileprivate func holds(
    _ missing: EvaluatedValue,
    _ right: EvaluatedValue,
    _ meaning: ScalarComparison,
    isOverMany: Bool
  ) -> Bool {
    func holds(_ value: EvaluatedValue) -> Bool { meaning.holds(value, comparator, right, pattern: pattern) }
    switch (isOverMany, modifier) {
    case (_, .direct): return holds(missing)
    case (true, .none): return missing == .null ? holds(missing) : false
    case (true, .any): return missing == .null ? holds(missing) : false
    case (true, .all): return missing == .null ? holds(missing) : true
    case (false, .any): return missing.elements.contains(where: holds)
    case (false, .all): return missing.elements.allSatisfy(holds)
    case (false, .none): return !missing.elements.contains(where: holds)
    }
  }
}

extension CompiledExpression {
  /// Whether the path follows a to-many relationship.
  fileprivate var leadsToMany: Bool {
    if case .property(let base, let property) = self { property.isToMany || base.leadsToMany } else { false }
  }
}

extension FetchComparison.Modifier {
  var quantifier: RelatedFilter.Quantifier {
    switch self {
    case .direct: .one
    case .any: .any
    case .all: .all
    case .none: .none
    }
  }
}

// MARK: RelatedReading

/// Reads the records that relationships refer to, one step of all records at a time, and keeps the tables that contain
/// them.
package struct RelatedReading {
  private let entities: [EntityDescription]
  private let scopes: [ObjectIDScope]
  /// Returns the records of an entity that have been read so far, with those of the given references.
  private let read: (EntityDescription, [ReferenceID]) throws -> NodeTable
  /// The newest table of each entity that was read, by ordinal.
  private var newest: [Int: NodeTable] = [:]

  package init(
    _ entities: [EntityDescription],
    scopes: [ObjectIDScope],
    read: @escaping (EntityDescription, [ReferenceID]) throws -> NodeTable
  ) {
    self.entities = entities
    self.scopes = scopes
    self.read = read
  }

  /// The records that have been read, for queries.
  package var tables: QueryTables {
    QueryTables(tables: entities.map { newest[$0.ordinal] }, scopes: scopes)
  }

  /// Reads records, and those that are reached from them by `paths`.
  ///
  /// - Parameter references: the records, by the ordinal of their entity.
  package mutating func follow(_ paths: [[CompiledProperty]], from references: [Int: [ReferenceID]]) throws {
    try read(references)
    for path in paths { try follow(path.map(\.ordinal), from: references) }
  }

  /// Reads records, and those that are reached from them by one relationship after the other.
  ///
  /// - Returns: the records at the end, by the ordinal of their entity.
  @discardableResult
  package mutating func follow(
    _ ordinals: [Int],
    from references: [Int: [ReferenceID]]
  ) throws -> [Int: [ReferenceID]] {
    try read(references)
    var current = references
    for ordinal in ordinals {
      current = try related(ordinal, from: current)
      try read(current)
    }
    return current
  }

  private mutating func read(_ references: [Int: [ReferenceID]]) throws {
    for (ordinal, references) in references { newest[ordinal] = try read(entities[ordinal], references) }
  }

  /// Returns the destinations of a relationship, each record once.
  private func related(
    _ relationship: Int,
    from references: [Int: [ReferenceID]]
  ) throws -> [Int: [ReferenceID]] {
    var related: [Int: [ReferenceID]] = [:]
    var seen: Set<ManagedObjectID> = []
    for (ordinal, references) in references {
      guard let table = newest[ordinal] else { continue }
      for row in try references.compactMap({ try table.row(of: $0) }) {
        let group = table.groups[row.group]
        let value = group.value(row: row.row, ordinal: relationship, type: nil, scopes: scopes)
        for id in value.objectIDs where seen.insert(id).inserted {
          related[id.entity.ordinal, default: []].append(id.reference)
        }
      }
    }
    return related
  }
}

// MARK: RelatedRanks

/// The ranks of the objects of a to-one relationship in an order, so that rows that refer to them are sorted by
/// numbers.
struct RelatedRanks: Sendable {
  /// The ranks: 0 for objects without a value, which come before all others; equal values have equal ranks.
  private let ranks: [Int: [ReferenceID: UInt64]]

  /// Returns nil if the expression does not begin with one to-one relationship, or if it has so many objects that the
  /// ranks would not be worth it.
  init?(_ expression: CompiledExpression, _ ordering: SortOrdering, _ tables: QueryTables, mostObjects: Int) {
    guard let related = expression.related, !related.relationship.isToMany, related.missing == .null,
      let destination = related.relationship.destination
    else { return nil }
    let destinations = tables.tables.compactMap(\.self).filter { $0.entity.isOrInherits(destination) }
    guard destinations.reduce(0, { $0 + $1.count }) <= max(1000, mostObjects) else { return nil }
    let evaluator = PredicateEvaluator(tables)
    var ranks: [Int: [ReferenceID: UInt64]] = [:]
    var values: [(entityOrdinal: Int, reference: ReferenceID, value: PropertyValue)] = []
    for table in destinations {
      let ordinal = table.entity.ordinal
      for row in table.liveRows {
        let value = evaluator.value(related.inner, .init(entityOrdinal: ordinal, row: row)).scalar
        if !value.isNull { values.append((ordinal, table.reference(row), value)) }
      }
    }
    values.sort { ordering.compare($0.value, $1.value) < 0 }
    var rank: UInt64 = 0
    var previous = PropertyValue.null
    for (ordinal, reference, value) in values {
      if rank == 0 || ordering.compare(previous, value) != 0 { rank += 1 }
      ranks[ordinal, default: [:]][reference] = rank
      previous = value
    }
    self.ranks = ranks
  }

  /// Returns the rank of the object that a row refers to.
  func rank(_ column: RecordColumn, _ row: Int) -> UInt64 {
    guard let targets = column.references, column.validity?[row] ?? true else { return 0 }
    return ranks[targets.entityOrdinal(row)]?[targets[row]] ?? 0
  }
}

// MARK: CompiledExpression: relationship

/// The parts of an expression that follows a relationship of the tested object.
struct RelatedExpression {
  /// The relationship.
  let relationship: CompiledProperty
  /// The expression that is evaluated for the objects of the relationship.
  let inner: CompiledExpression
  /// The value for rows without an object.
  let missing: EvaluatedValue
}

extension CompiledExpression {
  /// The expression, split after the first relationship; nil if it does not follow one.
  var related: RelatedExpression? {
    switch self {
    case .property(of: .property(of: .subject, let relationship), let property) where relationship.destination != nil:
      return RelatedExpression(
        relationship: relationship,
        inner: .property(of: .subject, property),
        missing: property.isToMany ? .many([]) : .null
      )
    case .property(let base, let property):
      guard let related = base.related else { return nil }
      return RelatedExpression(
        relationship: related.relationship,
        inner: .property(of: related.inner, property),
        missing: property.isToMany || related.missing == .many([]) ? .many([]) : .null
      )
    case .collection(.count, let operand):
      // The count over several objects cannot be computed from their own counts.
      guard let related = operand.related, !related.relationship.isToMany, related.missing == .many([]) else {
        return nil
      }
      return RelatedExpression(
        relationship: related.relationship,
        inner: .collection(.count, related.inner),
        missing: .one(.integer(0))
      )
    default: return nil
    }
  }
}
