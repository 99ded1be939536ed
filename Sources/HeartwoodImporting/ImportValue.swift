import HeartwoodFoundation
public import HeartwoodModel
import HeartwoodGraph
public import HeartwoodStore

/// A value to import: a record or one of its values, as in JSON, a property list or a dictionary.
///
///     let record: ImportValue = ["id": 7, "memo": "Milk", "tags": ["food", "drink"]]
///
/// ``init(json:)`` reads JSON, and ``init(_:)`` converts the values of other parsers.
public enum ImportValue: Sendable, Hashable {
  /// No value, as `null` in JSON.
  case null
  /// A number as it is written in JSON, so that no digit is lost before the type of the attribute is known.
  case number(String)
  /// A value of an attribute. Ids of objects are not allowed.
  case scalar(PropertyValue)
  /// Several values or records.
  case array([ImportValue])
  /// A record, as a dictionary from keys to values.
  case object([String: ImportValue])
}

extension ImportValue {
  /// The greatest depth to which arrays and records may be nested.
  public static let greatestDepth = 128

  /// The value for a key of a record; nil if the record does not have the key, or if this is not a record.
  public subscript(key: String) -> ImportValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// Whether this is ``null``, or a scalar that is null.
  public var isNull: Bool { self == .null || self == .scalar(.null) }

  /// The kind of the value, in words for an error message, which must not contain the value because it may be private.
  var kindDescription: String {
    switch self {
    case .null: "Null"
    case .number: "A number"
    case .scalar(let value): value.kindDescription.prefix(1).uppercased() + value.kindDescription.dropFirst()
    case .array: "An array"
    case .object: "A record"
    }
  }
}

// MARK: Literals

extension ImportValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByStringLiteral {
  /// No value.
  public init(nilLiteral: ()) { self = .null }

  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .scalar(.boolean(value)) }

  /// A string.
  public init(stringLiteral value: String) { self = .scalar(.string(value)) }
}

extension ImportValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  /// An integer.
  public init(integerLiteral value: Int64) { self = .scalar(.integer(value)) }

  /// A number.
  public init(floatLiteral value: Double) { self = .scalar(.double(value)) }
}

extension ImportValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  /// Several values or records.
  public init(arrayLiteral elements: ImportValue...) { self = .array(elements) }

  /// A record. If a key occurs several times, its last value is used.
  public init(dictionaryLiteral elements: (String, ImportValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

// MARK: Any

extension ImportValue {
  /// Converts a value of Swift or of another parser: numbers, strings, dates, data, UUIDs and URLs, arrays of them, and
  /// dictionaries with strings as keys; nil and `NSNull` become ``null``.
  ///
  /// - Throws: ``PersistenceError/Code/importFailed`` if there is a value of another type, or one nested deeper than
  ///   ``greatestDepth``, with its place.
  public init(_ value: Any?) throws(PersistenceError) {
    try self.init(value, at: .root)
  }

  init(_ value: Any?, at place: ImportPlace) throws(PersistenceError) {
    if place.depth > Self.greatestDepth { throw PersistenceError.importFailed([.tooDeep(place)]) }
    guard let value else {
      self = .null
      return
    }
    if let plain = ImportValue(plain: value) {
      self = plain
    } else if let members = value as? [String: Any] {
      var object: [String: ImportValue] = [:]
      for (key, member) in members { object[key] = try ImportValue(member, at: .member(place, key)) }
      self = .object(object)
    } else if let elements = value as? [Any] {
      var array: [ImportValue] = []
      for (index, element) in elements.enumerated() {
        array.append(try ImportValue(element, at: .element(place, index)))
      }
      self = .array(array)
    } else {
      throw PersistenceError.importFailed([
        ImportFault(path: place.description, "A value of type \(type(of: value)) is here, which cannot be imported.")
      ])
    }
  }

  /// Converts a value without parts; nil for other values.
  private init?(plain value: Any) {
    if let value = value as? ImportValue {
      self = value
    } else if (value as? any OptionalValue)?.isNone == true {
      self = .null
    } else if let value = value as? any AttributeValue {
      let value = value.propertyValue
      self = value.isNull ? .null : .scalar(value)
    } else if let number = value as? any BinaryInteger {
      self = Int64(exactly: number).map { .scalar(.integer($0)) } ?? .number("\(number)")
    } else if String(describing: type(of: value)) == "NSNull" {
      self = .null
    } else if let value = Self.bridged(value) {
      self = .scalar(value)
    } else {
      return nil
    }
  }

  /// Converts one of Foundation's objects; nil for other values. A number becomes the first type that holds it exactly.
  private static func bridged(_ object: Any) -> PropertyValue? {
    if let number = object as? Int64 { return .integer(number) }
    if let number = object as? Double { return .double(number) }
    if let text = object as? String { return .string(text) }
    if let date = object as? Date { return .date(date) }
    if let data = object as? Data { return .binary(data) }
    if let uuid = object as? UUID { return .uuid(uuid) }
    return (object as? URL).map(PropertyValue.uri)
  }
}

/// An optional of any type that is wrapped in `Any`.
private protocol OptionalValue {
  var isNone: Bool { get }
}

extension Optional: OptionalValue {
  fileprivate var isNone: Bool {
    if case .none = self { true } else { false }
  }
}

// MARK: Conversion

extension ImportValue {
  /// Returns the value as an attribute of `type` keeps it, or nil if it cannot be converted.
  ///
  /// Numbers and text become other numbers if that loses at most the last digits of a fraction; numbers and booleans
  /// become text. Booleans are `true`, `yes`, 1 and their opposites, in upper or lower case. Dates are ISO 8601, or
  /// seconds since 1970. Data is base64.
  public func propertyValue(of type: AttributeType) -> PropertyValue? { propertyValue(of: type, .iso8601) }

  func propertyValue(of type: AttributeType, _ dates: ImportDateFormat) -> PropertyValue? {
    let value: PropertyValue?
    switch self {
    case .null, .scalar(.null): return .null
    case .array, .object, .scalar(.toOne), .scalar(.toMany): return nil
    case .number(let text): value = type == .string ? .string(text) : Self.value(ofNumber: text, type, dates)
    case .scalar(.string(let text)): value = Self.value(of: text, type, dates)
    case .scalar(let scalar): value = Self.value(of: scalar, type, dates)
    }
    return value.flatMap { $0.fits(type) ? $0 : nil }
  }

  private static func value(of scalar: PropertyValue, _ type: AttributeType, _ dates: ImportDateFormat)
    -> PropertyValue?
  {
    if scalar.fits(type) { return scalar }
    guard type == .date, case .double(let number) = scalar.converted(to: .double) else {
      return scalar.migrated(to: type)
    }
    return dates.date(number).map(PropertyValue.date)
  }

  private static func value(of text: String, _ type: AttributeType, _ dates: ImportDateFormat) -> PropertyValue? {
    switch type {
    case .string: .string(text)
    case .boolean: boolean(text).map(PropertyValue.boolean)
    case .date: dates.date(text).map(PropertyValue.date)
    case .integer16, .integer32, .integer64, .decimal, .double, .float: value(ofNumber: text, type, dates)
    case .binary, .uuid, .uri, .transformable, .undefined: PropertyValue(text: text, type: type)
    }
  }

  private static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "1": true
    case "false", "no", "0": false
    default: nil
    }
  }
}

extension AttributeType {
  /// The form of a text that ``ImportValue/propertyValue(of:)`` converts to a value of the type, for the advice of an
  /// error: "Write a whole number in its range."
  package var textForm: String {
    switch self {
    case .integer16, .integer32, .integer64: "a whole number in its range"
    case .decimal, .double, .float: "a number, such as -1.5 or 2e3"
    case .boolean: "true or false"
    case .date: "ISO 8601, such as 2026-01-31 or 2026-01-31T18:00:00Z"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .binary, .transformable: "base64"
    case .string: "text"
    case .undefined: "nothing: the model does not say what it holds"
    }
  }
}

// MARK: Numbers as text

extension ImportValue {
  private static func value(
    ofNumber text: String,
    _ type: AttributeType,
    _ dates: ImportDateFormat
  ) -> PropertyValue? {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: integer(text).flatMap { $0.converted(to: type) }
    case .decimal: NumberText.decimal(text).map(PropertyValue.decimal)
    case .double, .float: PropertyValue(text: text, type: type)
    case .date: NumberText.number(text, Double.self).flatMap(dates.date).map(PropertyValue.date)
    case .string, .binary, .uuid, .uri, .transformable, .undefined: nil
    }
  }

  /// Returns a whole number in any notation: `7`, `7.0`, `7e3`.
  private static func integer(_ text: String) -> PropertyValue? {
    Int64(text).map(PropertyValue.integer) ?? NumberText.decimal(text).map(PropertyValue.decimal)
  }
}
