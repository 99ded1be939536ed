import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A condition on the objects that a relationship leads to, which has been tested on them first: what is left is to see where each row
/// leads.
struct RelatedTest: Sendable {
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
  func apply(to rows: inout RowBitmap, _ column: Column) {
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

extension ColumnTestBuilder {
  /// A comparison whose left side leads over a relationship: it is made for the objects there once, and not for each row.
  func relatedTest(_ comparison: PlanComparison) -> ColumnTest? {
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
      RelatedTest(
        quantifier: isToMany ? comparison.modifier.quantifier : .one,
        references: references,
        passesIfContained: !passesMissing
      )
    )
  }

  /// The objects of an entity and its subentities that meet a condition, or those that do not.
  private func references(
    _ entityOrdinal: Int,
    where plan: PlanPredicate,
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

extension PlanComparison {
  /// The same comparison for an object that the relationship leads to.
  fileprivate func applied(to inner: PlanExpression, isOverMany: Bool) -> PlanComparison {
    // Of what several objects lead to in turn, each counts; of one value of an object, there is that.
    let innerModifier: FetchComparison.Modifier =
      !isOverMany ? modifier : !inner.leadsToMany ? .direct : modifier == .none ? .any : modifier
    return replacing(left: inner, modifier: innerModifier)
  }

  /// Whether an object that is not there passes, which has `missing`.
  fileprivate func holds(
    _ missing: PlanValue,
    _ right: PlanValue,
    _ meaning: ScalarComparison,
    isOverMany: Bool
  ) -> Bool {
    func holds(_ value: PlanValue) -> Bool { meaning.holds(value, comparator, right, pattern: pattern) }
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

extension PlanExpression {
  /// Whether the path leads through a relationship to many.
  fileprivate var leadsToMany: Bool {
    if case .property(let base, let property) = self { property.isToMany || base.leadsToMany } else { false }
  }
}

extension FetchComparison.Modifier {
  var quantifier: RelatedTest.Quantifier {
    switch self {
    case .direct: .one
    case .any: .any
    case .all: .all
    case .none: .none
    }
  }
}
