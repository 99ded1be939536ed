import HeartwoodModel
import HeartwoodStore

/// The number by which a directory names the type of a property.
enum BinaryPropertyType: UInt8, Sendable {
  case integer16 = 1
  case integer32 = 2
  case integer64 = 3
  case decimal = 4
  case double = 5
  case float = 6
  case string = 7
  case boolean = 8
  case date = 9
  case binary = 10
  case uuid = 11
  case uri = 12
  case transformable = 18
  case toOne = 32
  case toMany = 33
}

extension BinaryPropertyType {
  init(_ property: PropertyDescription) {
    switch property {
    case .attribute(let attribute): self.init(attribute.type)
    case .relationship(let relationship): self = relationship.isToMany ? .toMany : .toOne
    }
  }

  private init(_ type: AttributeType) {
    switch type {
    case .integer16: self = .integer16
    case .integer32: self = .integer32
    case .integer64: self = .integer64
    case .decimal: self = .decimal
    case .double: self = .double
    case .float: self = .float
    case .string: self = .string
    case .boolean: self = .boolean
    case .date: self = .date
    case .binary: self = .binary
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .transformable, .undefined: self = .transformable
    }
  }

  /// How the values lie.
  var columnKind: ColumnKind {
    switch self {
    case .integer16: .int16
    case .integer32: .int32
    case .integer64: .int64
    case .decimal: .decimal
    case .double, .date: .double
    case .float: .float
    case .string, .binary, .uri, .transformable: .bytes
    case .boolean: .bits
    case .uuid: .uuid
    case .toOne: .toOne
    case .toMany: .toMany
    }
  }
}
