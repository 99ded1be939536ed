import HeartwoodFoundation
package import HeartwoodModel

/// A condition on the objects that a relationship leads to, which has been tested on them first: what is left is to see where each row
/// leads.
struct RelatedFilter: Sendable {
  /// How many of the objects have to pass.
  enum Quantifier: Sendable {
    /// The one that a to-one relationship leads to.
    case one
    case any, all, none
  }

  let quantifier: Quantifier
  /// The objects that pass, or those that do not, by the ordinals of their entities.
  let references: [Int: Set<ReferenceID>]
  /// Whether an object passes that is among them; one that is gone is not.
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

  /// Whether a row passes that leads nowhere.
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
  /// A comparison whose left side leads over a relationship: it is made for the objects there once, and not for each row.
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

  /// The objects of an entity and its subentities that meet a condition, or those that do not.
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
  /// Whether it is the entity of that ordinal or inherits from it.
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
  /// The same comparison for an object that the relationship leads to.
  fileprivate func applied(to inner: CompiledExpression, isOverMany: Bool) -> CompiledComparison {
    // Of what several objects lead to in turn, each counts; of one value of an object, there is that.
    let innerModifier: FetchComparison.Modifier =
      !isOverMany ? modifier : !inner.leadsToMany ? .direct : modifier == .none ? .any : modifier
    return replacing(left: inner, modifier: innerModifier)
  }

  /// Whether an object that is not there passes, which has `missing`.
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
  /// Whether the path leads through a relationship to many.
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

/// Reads the records to which relationships lead, a step of all records at a time, and keeps the tables that they are in.
package struct RelatedReading {
  private let entities: [EntityDescription]
  private let scopes: [ObjectIDScope]
  /// The records of an entity that have been read so far, with those that references name.
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

  /// What has been read, to be queried.
  package var tables: QueryTables {
    QueryTables(tables: entities.map { newest[$0.ordinal] }, scopes: scopes)
  }

  /// Reads records, and those that `paths` lead to from there.
  ///
  /// - Parameter references: the records, by the ordinal of their entity.
  package mutating func follow(_ paths: [[CompiledProperty]], from references: [Int: [ReferenceID]]) throws {
    try read(references)
    for path in paths { try follow(path.map(\.ordinal), from: references) }
  }

  /// Reads records, and those that one relationship after the other leads to.
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

  /// What a relationship leads to, each record once.
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

/// The places that the objects at the end of a to-one relationship take in an order, so that rows that lead to them are sorted by numbers.
struct RelatedRanks: Sendable {
  /// 0 for objects without a value, which come before all others; equal values have equal places.
  private let ranks: [Int: [ReferenceID: UInt64]]

  /// Nil where the expression does not lead over one to-one relationship first, or to so many objects that it would not be worth it.
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

  /// The place of the object that a row leads to.
  func rank(_ column: RecordColumn, _ row: Int) -> UInt64 {
    guard let targets = column.references, column.validity?[row] ?? true else { return 0 }
    return ranks[targets.entityOrdinal(row)]?[targets[row]] ?? 0
  }
}

// MARK: CompiledExpression: relationship

/// An expression that leads over a relationship of the tested object, taken apart.
struct RelatedExpression {
  /// The relationship.
  let relationship: CompiledProperty
  /// What is evaluated for the objects that it leads to.
  let inner: CompiledExpression
  /// What is evaluated where it leads nowhere.
  let missing: EvaluatedValue
}

extension CompiledExpression {
  /// The expression taken apart behind the first relationship; nil where it is not of that kind.
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
      // The count of what several objects lead to is not made of their own counts.
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
