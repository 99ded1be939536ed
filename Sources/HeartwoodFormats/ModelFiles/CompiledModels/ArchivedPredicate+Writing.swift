import HeartwoodModel

/// What archives of Core Data's are not known to say, so that none is written.
struct ArchiveGap: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

// MARK: Predicates

extension ArchivedPredicate {
  /// Puts a predicate into an archive, as ``predicate(_:)`` reads it; where there is none, nothing.
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
  /// The numbers by which archives tell what an expression is.
  private enum Kind {
    static let constant = ArchiveValue.integer(0)
    static let selfObject = ArchiveValue.integer(1)
    static let variable = ArchiveValue.integer(2)
    static let keyPath = ArchiveValue.integer(3)
    static let function = ArchiveValue.integer(4)
    static let keyPathSpecifier = ArchiveValue.integer(10)
  }

  /// The class whose functions are those that expressions know by name.
  private static let functionOwner = "_NSPredicateUtilities"

  /// Puts an expression into an archive, as ``expression(_:)`` reads it.
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
