public import HeartwoodFoundation

/// The value of one property of one record.
///
/// Snapshots, change sets and stores exchange values in this form. Hot paths read columns instead and make no such
/// values.
///
///     let title: PropertyValue = .string("Buy milk")
///     title.fits(.string)                                  // true
///     PropertyValue.integer(3).converted(to: .double)      // double 3.0
///     PropertyValue.double(2.5).converted(to: .integer16)  // nil
///
/// Two values are equal if a store that keeps one of them may return the other: a NaN equals a NaN, and strings are
/// compared by their UTF-8 bytes, so that canonically equivalent strings may differ. An integer never equals a double.
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
  /// The object of a to-one relationship.
  case toOne(ManagedObjectID)
  /// The objects of a to-many relationship. Their order is significant only if the relationship is ordered.
  case toMany([ManagedObjectID])
}

extension PropertyValue {
  /// Whether this is ``null``.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Returns whether an attribute of `type` can hold the value. Every attribute can hold ``null`` here: whether a value
  /// is required is validated separately. O(1).
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

  /// The kind of the value in words, for error messages, which must not show the value itself.
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
  /// Returns whether a store that keeps one of the values may return the other; see ``PropertyValue``.
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

  /// Hashes the value. All NaNs of a type have the same hash.
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
  /// The ids of the objects in a relationship's value; empty for other values.
  package var objectIDs: [ManagedObjectID] {
    switch self {
    case .toOne(let id): [id]
    case .toMany(let ids): ids
    default: []
    }
  }
}

// MARK: Conversion

extension PropertyValue {
  /// Returns the same value in the form that an attribute of `type` holds, or nil if there is none. Numbers are
  /// converted to other numbers: to integers if the value is exactly an integer, and to other types even if digits are
  /// lost. O(1).
  public func converted(to type: AttributeType) -> PropertyValue? {
    if fits(type) { return self }
    guard let number = NumericValue(self) else { return nil }
    let value: PropertyValue
    switch type {
    case .integer16, .integer32, .integer64:
      guard let exact = number.exactInteger else { return nil }
      value = .integer(exact)
    case .boolean:
      guard let exact = number.exactInteger, exact == 0 || exact == 1 else { return nil }
      value = .boolean(exact == 1)
    case .double: value = Computation.cast(self, to: .double)
    case .float: value = Computation.cast(self, to: .float)
    case .decimal: value = Computation.cast(self, to: .decimal)
    case .string, .date, .binary, .uuid, .uri, .transformable, .undefined: return nil
    }
    return value.isNull || value.isInfinite && number.isFinite || !value.fits(type) ? nil : value
  }

  /// Whether this is an infinite number. A finite number becomes one if the type has no room for it.
  private var isInfinite: Bool {
    switch self {
    case .double(let number): number.isInfinite
    case .float(let number): number.isInfinite
    default: false
    }
  }
}

// MARK: Order

extension PropertyValue {
  /// Returns whether this value comes before `other`. Both must be numbers of the same type, or dates, and not NaN;
  /// other values have no order.
  package func isLess(than other: PropertyValue) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a < b
    case (.decimal(let a), .decimal(let b)): a < b
    case (.double(let a), .double(let b)): a < b
    case (.float(let a), .float(let b)): a < b
    case (.date(let a), .date(let b)): a < b
    default: false
    }
  }

  /// Whether this is a number or a date that is NaN.
  package var isNaN: Bool {
    switch self {
    case .decimal(let number): number.isNaN
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }
}

// MARK: Description

extension PropertyValue: CustomStringConvertible {
  /// The value for debuggers and tests; error messages do not show values.
  ///
  /// A date is printed as its seconds since 2001: Foundation's own description traps for dates that are infinite or far
  /// away.
  public var description: String {
    switch self {
    case .null: "nil"
    case .integer(let number): "\(number)"
    case .decimal(let number): "decimal \(number)"
    case .double(let number): "double \(number)"
    case .float(let number): "float \(number)"
    case .string(let string): string.debugDescription
    case .boolean(let flag): "\(flag)"
    case .date(let date): "date \(date.timeIntervalSinceReferenceDate)"
    case .binary(let data): "\(data.count) bytes"
    case .uuid(let uuid): uuid.uuidString
    case .uri(let url): "<\(url.absoluteString)>"
    case .toOne(let object): object.description
    case .toMany(let objects): "\(objects)"
    }
  }
}

// MARK: Migration

extension AttributeType {
  /// Returns whether a migration may convert values of this type to `type`. The conversion of a single value may still
  /// fail: a number may be too large, and a text may not be a number.
  ///
  /// Numbers and booleans convert to each other. Every type but dates and data converts to text, and text to every type
  /// but those. Binary and transformable attributes hold the same bytes. Dates do not convert to numbers: a mapping
  /// model must say which number is meant.
  public func converts(to type: AttributeType) -> Bool {
    if self == type || (isNumeric && type.isNumeric) { return true }
    if self == .undefined || type == .undefined { return false }
    switch (self, type) {
    case (.binary, .transformable), (.transformable, .binary): return true
    case (.string, .binary), (.string, .transformable), (.binary, .string), (.transformable, .string): return false
    case (.string, .date), (.date, .string): return false
    case (.string, _), (_, .string): return true
    default: return false
    }
  }

  private var isNumeric: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: true
    default: false
    }
  }
}

extension PropertyValue {
  /// Returns the value as one of another type; see ``AttributeType/converts(to:)``. Returns nil if this value cannot be
  /// converted.
  package func migrated(to type: AttributeType) -> PropertyValue? {
    if isNull || fits(type) { return self }
    switch self {
    case .string(let text): return PropertyValue(text: text, type: type)
    case .binary: return nil
    default: break
    }
    guard type == .string else { return converted(to: type) }
    let text = Computation.cast(self, to: .string)
    return text.isNull ? nil : text
  }
}
