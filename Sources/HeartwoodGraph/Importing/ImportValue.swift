public import HeartwoodModel

/// Something to be imported: a record, or a value of one, as JSON, a property list or a dictionary has it.
///
///     let record: ImportValue = ["id": 7, "memo": "Milk", "tags": ["food", "drink"]]
///
/// ``init(json:)`` reads JSON, ``init(_:)`` what other parsers give.
public enum ImportValue: Sendable, Hashable {
  /// That there is no value.
  case null
  /// A number as JSON writes it: nothing of it is lost before it is known what the attribute keeps.
  case number(String)
  /// A value of an attribute. Objects are none.
  case scalar(PropertyValue)
  /// Several values or records.
  case array([ImportValue])
  /// A record: values by their keys.
  case object([String: ImportValue])
}

extension ImportValue {
  /// How deep arrays and objects may be in each other.
  public static let greatestDepth = 128

  /// The value that a key of a record has; nil where it has none, or where this is no record.
  public subscript(key: String) -> ImportValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// Whether there is no value.
  public var isNull: Bool { self == .null || self == .scalar(.null) }

  /// What kind of value it is, in words for an error text: the value itself may be private.
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

  /// A record. Of values with the same key the last one counts.
  public init(dictionaryLiteral elements: (String, ImportValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}
