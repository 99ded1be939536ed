#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A value that an application keeps in a store's metadata: what a property list can hold.
public enum MetadataValue: Sendable, Hashable {
  case string(String)
  case integer(Int64)
  case double(Double)
  case boolean(Bool)
  case date(Date)
  case binary(Data)
  case array([MetadataValue])
  case dictionary([String: MetadataValue])
}

extension MetadataValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByFloatLiteral
{
  /// Makes a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes an integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Makes a boolean.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// Makes a double.
  public init(floatLiteral value: Double) { self = .double(value) }
}

/// In JSON each value is an object with one member, whose name is the kind: `{"string": "a"}`. Dates are seconds since
/// 2001-01-01 00:00 UTC, and binary data is base64.
extension MetadataValue: Codable {
  private enum Kind: String, CodingKey, CaseIterable {
    case string, integer, double, boolean, date, binary, array, dictionary
  }

  /// Reads a value from an object with one member.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Kind.self)
    guard let kind = container.allKeys.first, container.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "A metadata value has one kind.")
      )
    }
    switch kind {
    case .string: self = .string(try container.decode(String.self, forKey: kind))
    case .integer: self = .integer(try container.decode(Int64.self, forKey: kind))
    case .double: self = .double(try container.decode(Double.self, forKey: kind))
    case .boolean: self = .boolean(try container.decode(Bool.self, forKey: kind))
    case .date: self = .date(Date(timeIntervalSinceReferenceDate: try container.decode(Double.self, forKey: kind)))
    case .binary: self = .binary(try container.decode(Data.self, forKey: kind))
    case .array: self = .array(try container.decode([MetadataValue].self, forKey: kind))
    case .dictionary: self = .dictionary(try container.decode([String: MetadataValue].self, forKey: kind))
    }
  }

  /// Writes the value as an object with one member.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Kind.self)
    switch self {
    case .string(let value): try container.encode(value, forKey: .string)
    case .integer(let value): try container.encode(value, forKey: .integer)
    case .double(let value): try container.encode(value, forKey: .double)
    case .boolean(let value): try container.encode(value, forKey: .boolean)
    case .date(let value): try container.encode(value.timeIntervalSinceReferenceDate, forKey: .date)
    case .binary(let value): try container.encode(value, forKey: .binary)
    case .array(let value): try container.encode(value, forKey: .array)
    case .dictionary(let value): try container.encode(value, forKey: .dictionary)
    }
  }
}
