import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Constants of predicates, as values that PostgreSQL compares with a column in the way that predicates do.
enum Constant {
  /// Returns the type of a parameter that is compared with an attribute. PostgreSQL compares integers of any width, and
  /// both real types.
  static func type(_ type: AttributeType) throws(Untranslatable) -> PostgreSQLType {
    switch type {
    case .integer16, .integer32, .integer64: .bigint
    case .double, .float: .double
    case .decimal: .numeric
    case .string, .uri: .text
    case .boolean: .boolean
    case .uuid: .uuid
    case .date, .binary, .transformable, .undefined: throw Untranslatable()
    }
  }

  /// Returns the bytes of the parameter.
  ///
  /// - Throws: `Untranslatable` for a value of another kind, if PostgreSQL would convert one of the two values instead
  ///   of comparing them as they are.
  static func field(_ value: PropertyValue, _ type: AttributeType) throws(Untranslatable) -> [UInt8] {
    switch type {
    case .integer16, .integer32, .integer64: return try integer(value).bigEndianBytes
    case .double, .float: return try double(value).bitPattern.bigEndianBytes
    case .decimal:
      var bytes: [UInt8] = []
      NumericField.append(try decimal(value), to: &bytes)
      return bytes
    case .string:
      guard case .string(let text) = value, !text.utf8.contains(0) else { throw Untranslatable() }
      return Array(text.utf8)
    case .boolean:
      switch value {
      case .boolean(let flag): return [flag ? 1 : 0]
      case .integer(0): return [0]
      case .integer(1): return [1]
      default: throw Untranslatable()
      }
    case .uuid:
      guard case .uuid(let uuid) = value else { throw Untranslatable() }
      return withUnsafeBytes(of: uuid.uuid) { Array($0) }
    case .uri, .date, .binary, .transformable, .undefined: throw Untranslatable()
    }
  }

  private static func integer(_ value: PropertyValue) throws(Untranslatable) -> Int64 {
    let number: Int64? =
      switch value {
      case .integer(let number): number
      case .boolean(let flag): flag ? 1 : 0
      case .double(let number): Int64(exactly: number)
      case .float(let number): Int64(exactly: number)
      default: nil
      }
    guard let number else { throw Untranslatable() }
    return number
  }

  private static func double(_ value: PropertyValue) throws(Untranslatable) -> Double {
    let number: Double? =
      switch value {
      case .double(let number): number
      case .float(let number): Double(number)
      case .integer(let number): Double(exactly: number)
      case .boolean(let flag): flag ? 1 : 0
      default: nil
      }
    guard let number else { throw Untranslatable() }
    return number
  }

  private static func decimal(_ value: PropertyValue) throws(Untranslatable) -> Decimal {
    switch value {
    case .decimal(let number): return number
    case .integer(let number): return Decimal(number)
    default: throw Untranslatable()
    }
  }
}

extension PostgreSQLParameter {
  static func double(_ number: Double) -> PostgreSQLParameter {
    PostgreSQLParameter(.double, number.bitPattern.bigEndianBytes)
  }
}

extension FixedWidthInteger {
  var bigEndianBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: self)
    return bytes
  }
}

// MARK: Sides of comparisons

extension PropertyValue {
  /// Whether it is NaN, which has no order.
  var isNotANumber: Bool {
    switch self {
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    case .decimal(let number): number.isNaN
    default: false
    }
  }
}

extension FetchExpression {
  /// Whether it is one value that is known.
  var isConstant: Bool {
    switch self {
    case .constant, .object: true
    default: false
    }
  }

  /// The value of a constant expression.
  var scalar: PropertyValue {
    get throws(Untranslatable) {
      guard case .constant(let value) = self else { throw Untranslatable() }
      return value
    }
  }

  /// The values of a list of constants.
  var elements: [PropertyValue] {
    get throws(Untranslatable) {
      guard case .aggregate(let elements) = self else { throw Untranslatable() }
      var values: [PropertyValue] = []
      for element in elements { values.append(try element.scalar) }
      return values
    }
  }

  var isNullConstant: Bool {
    get throws(Untranslatable) {
      switch self {
      case .constant(let value): value.isNull
      case .object: false
      default: throw Untranslatable()
      }
    }
  }
}

extension FetchComparison {
  /// The same comparison with its sides exchanged; nil if there is none.
  var mirrored: FetchComparison? {
    let mirror: Comparator
    switch comparator {
    case .equalTo, .notEqualTo: mirror = comparator
    case .lessThan: mirror = .greaterThan
    case .lessThanOrEqualTo: mirror = .greaterThanOrEqualTo
    case .greaterThan: mirror = .lessThan
    case .greaterThanOrEqualTo: mirror = .lessThanOrEqualTo
    default: return nil
    }
    return FetchComparison(right, mirror, left, modifier: modifier, options: options)
  }
}
