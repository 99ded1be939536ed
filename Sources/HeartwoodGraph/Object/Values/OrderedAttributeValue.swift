#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A Swift type of attributes whose values have a least and a greatest one.
///
/// An enumeration whose raw values mean an order may say so: `enum Priority: Int, OrderedAttributeValue { … }`.
public protocol OrderedAttributeValue: AttributeValue {
  /// The type of the least and the greatest value: the type itself, without an `Optional`.
  associatedtype Extreme: AttributeValue = Self
}

extension String: OrderedAttributeValue {}
extension Date: OrderedAttributeValue {}
extension Optional: OrderedAttributeValue where Wrapped: OrderedAttributeValue {
  /// The least and the greatest value are there or not, whether the attribute is optional or not.
  public typealias Extreme = Wrapped.Extreme
}

/// A Swift type of attributes whose values are numbers.
public protocol NumericAttributeValue: OrderedAttributeValue {
  /// The type of a sum, wide enough for the sum of many: sums of integers are integers.
  associatedtype Sum: AttributeValue = Int
  /// The type of an average, which has a fraction.
  associatedtype Average: AttributeValue = Double
}

extension Int: NumericAttributeValue {}
extension Int16: NumericAttributeValue {}
extension Int32: NumericAttributeValue {}
extension Int64: NumericAttributeValue {}

extension Double: NumericAttributeValue {
  /// Sums are as exact as the numbers.
  public typealias Sum = Double
}

extension Float: NumericAttributeValue {
  /// Sums are taken in double precision.
  public typealias Sum = Double
}

extension Decimal: NumericAttributeValue {
  /// Sums of decimal numbers are decimal.
  public typealias Sum = Decimal
  /// Averages of decimal numbers are decimal.
  public typealias Average = Decimal
}

extension Optional: NumericAttributeValue where Wrapped: NumericAttributeValue {
  /// `nil` values are skipped.
  public typealias Sum = Wrapped.Sum
  /// `nil` values are skipped.
  public typealias Average = Wrapped.Average
}
