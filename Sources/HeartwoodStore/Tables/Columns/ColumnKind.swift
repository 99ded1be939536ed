import HeartwoodModel

/// How a column's values lie in memory and in the binary file.
@usableFromInline
package enum ColumnKind: UInt8, Sendable, BitwiseCopyable {
  /// A property that no store keeps.
  case absent = 0
  /// One bit a row, the lowest bit first.
  case bits = 1
  case int16 = 2
  case int32 = 3
  case int64 = 4
  case float = 5
  /// Doubles; dates too, as seconds since 2001-01-01 00:00 UTC.
  case double = 6
  /// ``PackedDecimal``.
  case decimal = 7
  /// 16 bytes in the order of the text form.
  case uuid = 8
  /// Offsets and bytes: strings and URIs as UTF-8, binary data as it is.
  case bytes = 9
  /// A reference to one record.
  case toOne = 10
  /// Offsets and references to records.
  case toMany = 11
}

extension ColumnKind {
  init(_ property: PropertyDescription) {
    switch property {
    case _ where property.isTransient: self = .absent
    case .attribute(let attribute): self.init(attribute.type)
    case .relationship(let relationship): self = relationship.isToMany ? .toMany : .toOne
    }
  }

  private init(_ type: AttributeType) {
    switch type {
    case .integer16: self = .int16
    case .integer32: self = .int32
    case .integer64: self = .int64
    case .decimal: self = .decimal
    case .double, .date: self = .double
    case .float: self = .float
    case .boolean: self = .bits
    case .uuid: self = .uuid
    case .string, .uri, .binary, .transformable, .undefined: self = .bytes
    }
  }

  /// How many bytes a row has in a column of fixed width; nil where rows have no width of their own.
  package var width: Int? {
    switch self {
    case .int16: 2
    case .int32, .float: 4
    case .int64, .double: 8
    case .uuid: 16
    case .decimal: PackedDecimal.width
    case .absent, .bits, .bytes, .toOne, .toMany: nil
    }
  }
}
