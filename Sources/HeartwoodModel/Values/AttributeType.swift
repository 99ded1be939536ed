/// The type of an attribute's values: the attribute types of Core Data.
public enum AttributeType: String, Sendable, Hashable, CaseIterable, Codable {
  case integer16
  case integer32
  case integer64
  case decimal
  case double
  case float
  case string
  case boolean
  case date
  case binary
  case uuid
  case uri
  /// Bytes that a value transformer makes of a value of the application, and turns back into it.
  case transformable
  /// An attribute without a type, as in Xcode: it keeps any value of the application in memory. It must be transient.
  case undefined

  /// The types whose values stores can keep: all but ``undefined``.
  public static let allCases: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid, .uri,
    .transformable,
  ]
}

extension AttributeType {
  /// The number of the type in Core Data's version hashes and model archives.
  public var coreDataCode: UInt32 {
    switch self {
    case .integer16: 100
    case .integer32: 200
    case .integer64: 300
    case .decimal: 400
    case .double: 500
    case .float: 600
    case .string: 700
    case .boolean: 800
    case .date: 900
    case .binary: 1000
    case .uuid: 1100
    case .uri: 1200
    case .transformable: 1800
    case .undefined: 0
    }
  }

  /// The range of an integer type; nil for other types.
  public var integerRange: ClosedRange<Int64>? {
    switch self {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    case .integer64: Int64.min...Int64.max
    default: nil
    }
  }
}
