import Foundation
import HeartwoodModel
import HeartwoodTesting

extension FetchPredicate {
  /// A random tree of at most `depth` levels, as a format string can describe it.
  static func random(depth: Int, _ generator: inout SeededGenerator) -> FetchPredicate {
    let terms = { (generator: inout SeededGenerator) in
      (0..<Int.random(in: 2...4, using: &generator)).map { _ in random(depth: depth - 1, &generator) }
    }
    switch Int.random(in: depth > 1 ? 0...9 : 3...9, using: &generator) {
    case 0: return .not(random(depth: depth - 1, &generator))
    case 1: return .and(terms(&generator))
    case 2: return .or(terms(&generator))
    case 3: return .literal(generator.chance(oneIn: 2))
    default: return .comparison(.random(depth: depth - 1, &generator))
    }
  }
}

extension FetchComparison {
  static func random(depth: Int, _ generator: inout SeededGenerator) -> FetchComparison {
    FetchComparison(
      .random(depth: depth, &generator),
      Comparator.allCases.randomElement(using: &generator) ?? .equalTo,
      .random(depth: depth, &generator),
      modifier: generator.chance(oneIn: 3) ? Modifier.allCases.randomElement(using: &generator) ?? .direct : .direct,
      options: Options(rawValue: generator.chance(oneIn: 2) ? 0 : Int.random(in: 0..<16, using: &generator))
    )
  }
}

extension FetchExpression {
  static func random(depth: Int, _ generator: inout SeededGenerator) -> FetchExpression {
    guard depth > 0 else { return leaf(&generator) }
    func next(_ generator: inout SeededGenerator) -> FetchExpression { random(depth: depth - 1, &generator) }
    switch Int.random(in: 0...13, using: &generator) {
    case 0: return .aggregate((0..<Int.random(in: 0...3, using: &generator)).map { _ in next(&generator) })
    case 1, 2:
      let symbol = ArithmeticOperator.allCases.randomElement(using: &generator) ?? .add
      return .arithmetic(next(&generator), symbol, next(&generator))
    case 3, 4:
      let function = FetchFunction.allCases.randomElement(using: &generator) ?? .now
      // The grammar has no way to negate a number but to write it so.
      return .function(function, (0..<function.argumentCount).map { _ in next(&generator) })
    case 5: return .subquery(next(&generator), variable: "x", .random(depth: depth - 1, &generator))
    case 6: return .element(of: next(&generator), [.first, .last, .size].randomElement(using: &generator) ?? .first)
    case 7: return .element(of: next(&generator), .at(next(&generator)))
    case 8: return .cast(next(&generator), CastType.allCases.randomElement(using: &generator) ?? .date)
    case 9: return .conditional(.random(depth: depth - 1, &generator), next(&generator), next(&generator))
    case 10, 11: return path(from: next(&generator), &generator)
    default: return leaf(&generator)
    }
  }

  private static func path(from base: FetchExpression, _ generator: inout SeededGenerator) -> FetchExpression {
    let names = ["name", "in", "SIZE", "my key", "", "é", "x\"y\\", "1a", "self"]
    let keys = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
      generator.chance(oneIn: 4)
        ? FetchKey.collection(CollectionOperator.allCases.randomElement(using: &generator) ?? .count)
        : .property(names.randomElement(using: &generator) ?? "name")
    }
    if case .keyPath(let root, let first) = base { return .keyPath(of: root, first + keys) }
    return .keyPath(of: base, keys)
  }

  private static func leaf(_ generator: inout SeededGenerator) -> FetchExpression {
    switch Int.random(in: 0...6, using: &generator) {
    case 0: return .selfObject
    case 1: return .variable("x_1")
    case 2, 3: return path(from: .selfObject, &generator)
    case 4:
      let reference = ReferenceID.string(generator.nextString())
      return .object(ObjectURI(storeIdentifier: UUID(), entityName: "E\(generator.next())é", reference: reference))
    default:
      let type = AttributeType.allCases.randomElement(using: &generator) ?? .string
      return .constant(generator.chance(oneIn: 8) ? .null : .random(of: type, using: &generator))
    }
  }
}
