public import HeartwoodFoundation

/// A value for `%@` and other placeholders in a format string, or for a `$VARIABLE`.
public protocol FetchArgument {
  /// The value as part of a predicate.
  var fetchExpression: FetchExpression { get }
}

extension FetchArgument where Self: BinaryInteger {
  /// The number as a constant; a decimal constant if it does not fit `Int64`.
  public var fetchExpression: FetchExpression {
    if let number = Int64(exactly: self) { return .constant(.integer(number)) }
    return .constant(.decimal(Decimal(string: String(self)) ?? .nan))
  }
}

extension Int: FetchArgument {}
extension Int8: FetchArgument {}
extension Int16: FetchArgument {}
extension Int32: FetchArgument {}
extension Int64: FetchArgument {}
extension UInt: FetchArgument {}
extension UInt8: FetchArgument {}
extension UInt16: FetchArgument {}
extension UInt32: FetchArgument {}
extension UInt64: FetchArgument {}

extension Double: FetchArgument {
  /// The number as a constant.
  public var fetchExpression: FetchExpression { .constant(.double(self)) }
}

extension Float: FetchArgument {
  /// The number as a constant.
  public var fetchExpression: FetchExpression { .constant(.float(self)) }
}

extension Decimal: FetchArgument {
  /// The number as a constant.
  public var fetchExpression: FetchExpression { .constant(.decimal(self)) }
}

extension Bool: FetchArgument {
  /// The flag as a constant.
  public var fetchExpression: FetchExpression { .constant(.boolean(self)) }
}

extension String: FetchArgument {
  /// The string as a constant. For `%K`, it is parsed as a key path.
  public var fetchExpression: FetchExpression { .constant(.string(self)) }
}

extension Substring: FetchArgument {
  /// The string as a constant. For `%K`, it is parsed as a key path.
  public var fetchExpression: FetchExpression { .constant(.string(String(self))) }
}

extension Date: FetchArgument {
  /// The date as a constant.
  public var fetchExpression: FetchExpression { .constant(.date(self)) }
}

extension Data: FetchArgument {
  /// The bytes as a constant.
  public var fetchExpression: FetchExpression { .constant(.binary(self)) }
}

extension UUID: FetchArgument {
  /// The UUID as a constant.
  public var fetchExpression: FetchExpression { .constant(.uuid(self)) }
}

extension URL: FetchArgument {
  /// The URL as a constant.
  public var fetchExpression: FetchExpression { .constant(.uri(self)) }
}

extension PropertyValue: FetchArgument {
  /// The value as an expression; see ``FetchExpression/value(_:)``.
  public var fetchExpression: FetchExpression { .value(self) }
}

extension ManagedObjectID: FetchArgument {
  /// The object as an expression; see ``FetchExpression/value(_:)``.
  public var fetchExpression: FetchExpression { .value(.toOne(self)) }
}

extension ObjectURI: FetchArgument {
  /// The object, if the URI is that of a saved object; otherwise the constant `nil`, which no object equals.
  public var fetchExpression: FetchExpression { storeIdentifier == nil ? .constant(.null) : .object(self) }
}

extension FetchExpression: FetchArgument {
  /// The expression itself.
  public var fetchExpression: FetchExpression { self }
}

extension Optional: FetchArgument where Wrapped: FetchArgument {
  /// The wrapped value, or the constant `nil`.
  public var fetchExpression: FetchExpression { self?.fetchExpression ?? .constant(.null) }
}

extension Array: FetchArgument where Element: FetchArgument {
  /// An aggregate of the elements.
  public var fetchExpression: FetchExpression { .aggregate(map(\.fetchExpression)) }
}

extension Set: FetchArgument where Element: FetchArgument {
  /// An aggregate of the elements.
  public var fetchExpression: FetchExpression { .aggregate(map(\.fetchExpression)) }
}

extension ClosedRange: FetchArgument where Bound: FetchArgument {
  /// An aggregate of both bounds, for `BETWEEN`.
  public var fetchExpression: FetchExpression { .aggregate([lowerBound.fetchExpression, upperBound.fetchExpression]) }
}
