#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The value of one property of one record.
///
/// It is what snapshots, change sets and stores exchange. Hot paths read columns instead and never make one.
///
/// Two values are equal when a store that keeps one may give back the other: a NaN equals a NaN.
public enum PropertyValue: Sendable {
  /// No value.
  case null
  /// The value of an attribute of type `integer16`, `integer32` or `integer64`.
  case integer(Int64)
  case decimal(Decimal)
  case double(Double)
  case float(Float)
  case string(String)
  case boolean(Bool)
  case date(Date)
  /// The value of an attribute of type `binary`, or the transformed bytes of a `transformable` one.
  case binary(Data)
  case uuid(UUID)
  case uri(URL)
  /// The object that a to-one relationship leads to.
  case toOne(ManagedObjectID)
  /// The objects that a to-many relationship leads to. Their order has a meaning only where the relationship is ordered.
  case toMany([ManagedObjectID])
}

extension PropertyValue {
  /// Whether there is no value.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Whether an attribute of `type` can hold the value. Any attribute can hold `null` here: optionality is validated apart.
  public func fits(_ type: AttributeType) -> Bool {
    switch (self, type) {
    case (.null, _): true
    case (.toOne, .undefined), (.toMany, .undefined): false
    case (_, .undefined): true
    case (.integer(let number), _): type.integerRange?.contains(number) ?? false
    case (.decimal, .decimal), (.double, .double), (.float, .float), (.string, .string), (.boolean, .boolean),
      (.date, .date), (.binary, .binary), (.binary, .transformable), (.uuid, .uuid), (.uri, .uri):
      true
    default: false
    }
  }

  /// What kind of value it is, in words for an error text: the value itself may be private.
  public var kindDescription: String {
    switch self {
    case .null: "nil"
    case .integer: "an integer"
    case .decimal: "a decimal number"
    case .double: "a double"
    case .float: "a float"
    case .string: "a string"
    case .boolean: "a boolean"
    case .date: "a date"
    case .binary: "binary data"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .toOne: "an object"
    case .toMany: "a collection of objects"
    }
  }
}

extension PropertyValue: Hashable {
  /// Whether a store that keeps one value may give back the other.
  public static func == (left: PropertyValue, right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.decimal(let a), .decimal(let b)): a == b
    case (.double(let a), .double(let b)): a == b || (a.isNaN && b.isNaN)
    case (.float(let a), .float(let b)): a == b || (a.isNaN && b.isNaN)
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.boolean(let a), .boolean(let b)): a == b
    case (.date(let a), .date(let b)): a == b || (a.isNaN && b.isNaN)
    case (.binary(let a), .binary(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.uri(let a), .uri(let b)): a == b
    case (.toOne(let a), .toOne(let b)): a == b
    case (.toMany(let a), .toMany(let b)): a == b
    default: false
    }
  }

  /// Hashes the value, and every NaN alike.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.isNaN ? .nan : value)
    case .float(let value): hasher.combine(value.isNaN ? .nan : value)
    case .string(let value): value.hashBytes(into: &hasher)
    case .boolean(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value.isNaN ? Date(timeIntervalSinceReferenceDate: .nan) : value)
    case .binary(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .uri(let value): hasher.combine(value)
    case .toOne(let value): hasher.combine(value)
    case .toMany(let value): hasher.combine(value)
    }
  }
}

extension Date {
  fileprivate var isNaN: Bool { timeIntervalSinceReferenceDate.isNaN }
}

extension PropertyValue {
  /// The ids of a relationship's value.
  package var objectIDs: [ManagedObjectID] {
    switch self {
    case .toOne(let id): [id]
    case .toMany(let ids): ids
    default: []
    }
  }
}
