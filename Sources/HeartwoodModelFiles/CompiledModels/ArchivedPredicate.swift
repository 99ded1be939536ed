@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodModel

/// Reads archived predicates and expressions.
///
/// They should be trees, but an archive may contain cycles. No more levels are read than a format string may have.
enum ArchivedPredicate {
  /// The modifiers of comparisons, at the indexes that archives use for them.
  static let modifiers: [FetchComparison.Modifier] = [.direct, .all, .any]
  /// The comparators, by the numbers that archives use for them.
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
        // The bits are the same: case-insensitive 1, diacritic-insensitive 2, normalized 4, locale-sensitive 8.
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

// MARK: Writing

/// Something for which Core Data's archived form is not known, so that nothing is written.
struct ArchiveGap: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

// MARK: Predicates

extension ArchivedPredicate {
  /// Archives a predicate as ``predicate(_:)`` reads it; nil gives a null object.
  static func archive(
    _ predicate: FetchPredicate?,
    in archive: inout KeyedArchiveWriter
  ) throws(ArchiveGap) -> ArchiveValue {
    guard let predicate else { return .nothing }
    switch predicate {
    case .not(let term): return try compound(0, [term], &archive)
    case .and(let terms): return try compound(1, terms, &archive)
    case .or(let terms): return try compound(2, terms, &archive)
    case .comparison(let comparison): return try self.comparison(comparison, &archive)
    case .literal: throw ArchiveGap("the predicate \(predicate)")
    }
  }

  private static func compound(
    _ type: Int64,
    _ terms: [FetchPredicate],
    _ archive: inout KeyedArchiveWriter
  ) throws(ArchiveGap) -> ArchiveValue {
    let items = try terms.map { term throws(ArchiveGap) in try self.archive(term, in: &archive) }
    return archive.object(
      .compound,
      ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": archive.list(.array, items)]
    )
  }

  private static func comparison(
    _ comparison: FetchComparison,
    _ archive: inout KeyedArchiveWriter
  ) throws(ArchiveGap) -> ArchiveValue {
    archive.object(
      .comparison,
      [
        "NSLeftExpression": try self.archive(comparison.left, in: &archive),
        "NSRightExpression": try self.archive(comparison.right, in: &archive),
        "NSPredicateOperator": try operation(of: comparison, &archive),
      ]
    )
  }

  private static func operation(
    of comparison: FetchComparison,
    _ archive: inout KeyedArchiveWriter
  ) throws(ArchiveGap) -> ArchiveValue {
    func gap() -> ArchiveGap { ArchiveGap("the comparison \(FetchPredicate.comparison(comparison))") }
    guard let number = comparators.first(where: { $0.value == comparison.comparator })?.key,
      let modifier = modifiers.firstIndex(of: comparison.modifier)
    else { throw gap() }
    let members: [String: ArchiveValue] = [
      "NSOperatorType": .integer(Int64(number)), "NSModifier": .integer(Int64(modifier)),
    ]
    let options = ArchiveValue.integer(Int64(comparison.options.rawValue))
    func object(_ type: ArchivedClass, _ others: [String: ArchiveValue]) -> ArchiveValue {
      archive.object(type, members.merging(others) { own, _ in own })
    }
    switch comparison.comparator {
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      return object(.orderOperator, ["NSVariant": .integer(Int64(number)), "NSOptions": options])
    case .equalTo, .notEqualTo:
      return object(
        .equalityOperator,
        ["NSNegate": .boolean(comparison.comparator == .notEqualTo), "NSOptions": options]
      )
    case .like: return object(.likeOperator, ["NSFlags": options])
    case .matches: return object(.matchingOperator, ["NSFlags": options])
    case .in, .contains: return object(.inOperator, ["NSFlags": options])
    case .between, .beginsWith, .endsWith: throw gap()
    }
  }
}

// MARK: Expressions

extension ArchivedPredicate {
  /// The numbers of the kinds of expressions in archives.
  private enum Kind {
    static let constant = ArchiveValue.integer(0)
    static let selfObject = ArchiveValue.integer(1)
    static let variable = ArchiveValue.integer(2)
    static let keyPath = ArchiveValue.integer(3)
    static let function = ArchiveValue.integer(4)
    static let keyPathSpecifier = ArchiveValue.integer(10)
  }

  /// The class that declares the functions that can be called by name.
  private static let functionOwner = "_NSPredicateUtilities"

  /// Archives an expression as ``expression(_:)`` reads it.
  static func archive(
    _ expression: FetchExpression,
    in archive: inout KeyedArchiveWriter
  ) throws(ArchiveGap) -> ArchiveValue {
    switch expression {
    case .constant(let value):
      let value = try ArchivedValue.archive(value, in: &archive)
      return archive.object(.constant, ["NSExpressionType": Kind.constant, "NSConstantValue": value])
    case .selfObject: return archive.object(.selfExpression, ["NSExpressionType": Kind.selfObject])
    case .variable(let name):
      return archive.object(.variable, ["NSExpressionType": Kind.variable, "NSVariable": archive.text(name)])
    case .keyPath(let base, let keys): return try keyPath(base, keys, &archive)
    case .function(let function, let arguments): return try self.function(function, arguments, &archive)
    default: throw ArchiveGap("the expression \(expression)")
    }
  }

  private static func keyPath(
    _ base: FetchExpression,
    _ keys: [FetchKey],
    _ archive: inout KeyedArchiveWriter
  ) throws(ArchiveGap) -> ArchiveValue {
    let path = keys.map { key in
      switch key {
      case .property(let name): name
      case .collection(let collection): collection.rawValue
      }
    }
    let specifier = archive.object(
      .keyPathSpecifier,
      ["NSExpressionType": Kind.keyPathSpecifier, "NSKeyPath": archive.text(path.joined(separator: "."))]
    )
    let isOfSelf = base == .selfObject
    return archive.object(
      .keyPath,
      [
        "NSExpressionType": isOfSelf ? Kind.keyPath : Kind.function,
        "NSOperand": try self.archive(base, in: &archive),
        "NSSelectorName": archive.text(isOfSelf && keys.count == 1 ? "valueForKey:" : "valueForKeyPath:"),
        "NSArguments": archive.list(.mutableArray, [specifier]),
      ]
    )
  }

  private static func function(
    _ function: FetchFunction,
    _ arguments: [FetchExpression],
    _ archive: inout KeyedArchiveWriter
  ) throws(ArchiveGap) -> ArchiveValue {
    let items = try arguments.map { argument throws(ArchiveGap) in try self.archive(argument, in: &archive) }
    let owner = archive.object(
      .constant,
      ["NSExpressionType": Kind.constant, "NSConstantValueClassName": archive.text(functionOwner)]
    )
    return archive.object(
      .function,
      [
        "NSExpressionType": Kind.function, "NSOperand": owner, "NSSelectorName": archive.text(function.rawValue),
        "NSArguments": archive.list(.array, items),
      ]
    )
  }
}
