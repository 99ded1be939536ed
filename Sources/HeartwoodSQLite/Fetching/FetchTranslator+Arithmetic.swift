import HeartwoodModel
import HeartwoodStore

// SQLite computes as predicates do: integers stay integers and become reals where they are too large, and reals are of IEEE 754. What is
// divided by zero is NULL in SQL, and infinite in predicates where a real is; so reals are not divided here. A result that is no
// number is NULL in SQL, and is not compared with `nil`.

extension FetchTranslator {
  /// So many integers, multiplied with each other, are far from infinite.
  private static let greatestTermCount = 8

  /// A number in SQL, and how many values it is computed of.
  private struct Operand {
    let text: String
    let isInteger: Bool
    let termCount: Int
  }

  /// The sum, the difference, the product or the quotient of numbers; or what dates are apart, or a date some seconds away.
  mutating func arithmetic(_ plan: PlanExpression, _ scope: QueryScope) throws(Untranslatable) -> TranslatedValue {
    if case .arithmetic(let left, let symbol, let right) = plan, left.isDate {
      let seconds = try "\(seconds(left, scope)) \(symbol.rawValue) \(seconds(right, scope))"
      return TranslatedValue(text: "(\(seconds))", kind: right.isDate ? .number : .date, mayBeNaN: true)
    }
    let operand = try operand(plan, scope)
    return TranslatedValue(text: operand.text, kind: .number, mayBeNaN: !operand.isInteger)
  }

  /// A date, or a number of seconds, as a real: a file may hold it as an integer, which SQLite would go on to compute with.
  private mutating func seconds(_ plan: PlanExpression, _ scope: QueryScope) throws(Untranslatable) -> String {
    switch plan {
    case .constant(.one(let value)): "CAST(\(try constant(value, plan.isDate ? .date : .number)) AS REAL)"
    case _ where plan.isDate: "CAST(\(try value(plan, scope).text) AS REAL)"
    default: "CAST(\(try operand(plan, scope).text) AS REAL)"
    }
  }

  private mutating func operand(_ plan: PlanExpression, _ scope: QueryScope) throws(Untranslatable) -> Operand {
    switch plan {
    case .constant(.one(let value)): return try constantOperand(value)
    case .property(_, let property):
      let value = try value(plan, scope)
      guard case .number = value.kind, let type = property.attributeType else { throw Untranslatable() }
      return Operand(text: value.text, isInteger: type != .double && type != .float, termCount: 1)
    case .arithmetic(let left, let symbol, let right):
      let (left, right) = (try operand(left, scope), try operand(right, scope))
      return try result(left, symbol, right)
    case .function, .collection, .conditional, .cast, .variable:
      let value = try value(plan, scope)
      guard value.kind == .number else { throw Untranslatable() }
      return Operand(text: value.text, isInteger: false, termCount: 1)
    default: throw Untranslatable()
    }
  }

  private mutating func constantOperand(_ value: PropertyValue) throws(Untranslatable) -> Operand {
    let text = try constant(value, .number)
    switch value {
    case .integer, .boolean: return Operand(text: text, isInteger: true, termCount: 1)
    default: return Operand(text: text, isInteger: false, termCount: 1)
    }
  }

  private func result(
    _ left: Operand,
    _ symbol: FetchExpression.ArithmeticOperator,
    _ right: Operand
  ) throws(Untranslatable) -> Operand {
    let (isInteger, count) = (left.isInteger && right.isInteger, left.termCount + right.termCount)
    guard symbol != .power, count <= Self.greatestTermCount else { throw Untranslatable() }
    // What is computed may have become a real.
    if symbol == .divide, !isInteger || count > 2 { throw Untranslatable() }
    return Operand(text: "(\(left.text) \(symbol.rawValue) \(right.text))", isInteger: isInteger, termCount: count)
  }
}

extension PlanExpression {
  /// Whether it gives a date.
  fileprivate var isDate: Bool {
    switch self {
    case .property(_, let property): property.attributeType == .date
    case .constant(.one(.date)): true
    case .arithmetic(let left, _, let right): left.isDate && !right.isDate
    default: false
    }
  }
}
