import HeartwoodModel

/// Reads the archives of predicates and expressions.
///
/// They are trees, but an archive may lead in a circle: no more levels are read than a format string may have.
enum ArchivedPredicate {
  /// Which values of a collection have to compare so, each at the number by which archives tell it.
  static let modifiers: [FetchComparison.Modifier] = [.direct, .all, .any]
  /// The numbers by which archives tell how two values are compared.
  static let comparators: [Int: FetchComparison.Comparator] = [
    0: .lessThan, 1: .lessThanOrEqualTo, 2: .greaterThan, 3: .greaterThanOrEqualTo, 4: .equalTo, 5: .notEqualTo,
    6: .matches, 7: .like, 8: .beginsWith, 9: .endsWith, 10: .in, 99: .contains, 100: .between,
  ]

  static func predicate(_ node: ArchiveNode) -> FetchPredicate? { predicate(node, depth: 0) }

  static func expression(_ node: ArchiveNode) -> FetchExpression? { expression(node, depth: 0) }

  private static func predicate(_ node: ArchiveNode, depth: Int) -> FetchPredicate? {
    guard depth < FetchPredicate.greatestHeight else { return nil }
    switch node.className {
    case "NSTruePredicate": return .literal(true)
    case "NSFalsePredicate": return .literal(false)
    case "NSCompoundPredicate": return compound(node, depth: depth)
    case "NSComparisonPredicate": return comparison(node, depth: depth)
    default: return nil
    }
  }

  private static func compound(_ node: ArchiveNode, depth: Int) -> FetchPredicate? {
    guard let items = node["NSSubpredicates"]?.items else { return nil }
    let terms = items.compactMap { predicate($0, depth: depth + 1) }
    guard terms.count == items.count else { return nil }
    switch node["NSCompoundPredicateType"]?.integer {
    case 0: return terms.first.map(FetchPredicate.not)
    case 1: return .and(terms)
    case 2: return .or(terms)
    default: return nil
    }
  }

  private static func comparison(_ node: ArchiveNode, depth: Int) -> FetchPredicate? {
    guard let operation = node["NSPredicateOperator"],
      let comparator = operation["NSOperatorType"]?.integer.flatMap({ comparators[$0] }),
      let left = node["NSLeftExpression"].flatMap({ expression($0, depth: depth + 1) }),
      let right = node["NSRightExpression"].flatMap({ expression($0, depth: depth + 1) })
    else { return nil }
    let modifier = operation["NSModifier"]?.integer ?? 0
    guard modifiers.indices.contains(modifier) else { return nil }
    let options = (operation["NSOptions"] ?? operation["NSFlags"])?.integer ?? 0
    return .comparison(
      FetchComparison(
        left,
        comparator,
        right,
        modifier: modifiers[modifier],
        // The bits are the same: case 1, marks 2, normalized 4, by the user's language 8.
        options: FetchComparison.Options(rawValue: options & 0xF)
      )
    )
  }

  private static func expression(_ node: ArchiveNode, depth: Int) -> FetchExpression? {
    guard depth < FetchPredicate.greatestHeight else { return nil }
    switch node.className {
    case "NSConstantValueExpression":
      guard let value = node["NSConstantValue"] else { return .constant(.null) }
      return constant(value, depth: depth)
    case "NSSelfExpression": return .selfObject
    case "NSVariableExpression": return node["NSVariable"]?.string.map(FetchExpression.variable)
    case "NSKeyPathExpression": return keyPath(node, depth: depth)
    case "NSFunctionExpression": return function(node, depth: depth)
    case "NSAggregateExpression": return node["NSCollection"].flatMap { aggregate($0, depth: depth) }
    case "NSSubqueryExpression": return subquery(node, depth: depth)
    default: return nil
    }
  }

  private static func constant(_ value: ArchiveNode, depth: Int) -> FetchExpression? {
    guard depth < FetchPredicate.greatestHeight else { return nil }
    if let scalar = ArchivedValue.value(value) { return .constant(scalar) }
    guard value.isList else { return nil }
    let items = value.items
    let elements = items.compactMap { constant($0, depth: depth + 1) }
    return elements.count == items.count ? .aggregate(elements) : nil
  }

  private static func aggregate(_ list: ArchiveNode, depth: Int) -> FetchExpression? {
    guard list.isList else { return nil }
    let items = list.items
    let elements = items.compactMap { expression($0, depth: depth + 1) }
    return elements.count == items.count ? .aggregate(elements) : nil
  }

  private static func keyPath(_ node: ArchiveNode, depth: Int) -> FetchExpression? {
    guard let base = node["NSOperand"].flatMap({ expression($0, depth: depth + 1) }),
      let path = node["NSArguments"]?.items.first?["NSKeyPath"]?.string
    else { return nil }
    let keys = path.split(separator: ".").map { part in
      part.hasPrefix("@")
        ? CollectionOperator(rawValue: String(part)).map(FetchKey.collection) : .property(String(part))
    }
    guard !keys.contains(where: { $0 == nil }) else { return nil }
    if case .keyPath(let inner, let first) = base { return .keyPath(of: inner, first + keys.compactMap(\.self)) }
    return .keyPath(of: base, keys.compactMap(\.self))
  }

  private static func function(_ node: ArchiveNode, depth: Int) -> FetchExpression? {
    guard let name = node["NSSelectorName"]?.string else { return nil }
    let items = node["NSArguments"]?.items ?? []
    let arguments = items.compactMap { expression($0, depth: depth + 1) }
    guard arguments.count == items.count else { return nil }
    if let operation = FetchExpression.operation(named: name, arguments) { return operation }
    guard let function = FetchFunction(rawValue: name), arguments.count == function.argumentCount else { return nil }
    return .function(function, arguments)
  }

  private static func subquery(_ node: ArchiveNode, depth: Int) -> FetchExpression? {
    guard let collection = node["NSCollection"].flatMap({ expression($0, depth: depth + 1) }),
      let variable = (node["NSVariable"]?.string ?? node["NSVariable"]?["NSVariable"]?.string),
      let predicate = node["NSPredicate"].flatMap({ predicate($0, depth: depth + 1) })
    else { return nil }
    return .subquery(collection, variable: variable, predicate)
  }
}
