import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Finds the entities of the objects of relationships that may refer to several: a file contains only the objects' ids.
///
/// A missing object is taken for one of the first entity: a deletion may leave links to missing objects.
struct XMLReferenceResolver {
  private let schema: XMLSchema
  private let tables: [NodeTable]
  private let tablesByOrdinal: [Int: Int]

  init(_ schema: XMLSchema, tables: [NodeTable]) {
    self.schema = schema
    self.tables = tables
    tablesByOrdinal = Dictionary(
      tables.enumerated().map { ($0.element.entity.ordinal, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Returns the tables, in which every reference contains an entity.
  func resolved() throws(PersistenceError) -> [NodeTable] {
    var result: [NodeTable] = []
    for (entity, table) in zip(schema.entities, tables) {
      let open = entity.properties.filter { $0.targets.count != 1 && Self.isRelationship($0) }
      result.append(open.isEmpty ? table : try resolved(table, open))
    }
    return result
  }

  private static func isRelationship(_ property: XMLSchema.Property) -> Bool {
    if case .attribute = property.content { false } else { true }
  }

  private func resolved(_ table: NodeTable, _ open: [XMLSchema.Property]) throws(PersistenceError) -> NodeTable {
    var groups: [RowGroup] = []
    for group in table.groups {
      var columns = group.columns
      for property in open {
        columns[property.ordinal] = try resolved(columns[property.ordinal], property, table.entity)
      }
      groups.append(RowGroup(references: group.references, versions: group.versions, columns: columns))
    }
    return NodeTable(entity: table.entity, groups: groups)
  }

  private func resolved(
    _ column: RecordColumn,
    _ property: XMLSchema.Property,
    _ entity: EntityDescription
  ) throws(PersistenceError) -> RecordColumn {
    guard let references = column.references else { return column }
    let builder = ReferenceColumnBuilder()
    for index in 0..<references.count {
      if column.kind == .toOne, column.validity?[index] == false {
        builder.appendPlaceholder()
      } else {
        let reference = references[index]
        let known = references.entityOrdinal(index)
        let ordinal = known == XMLEntityReader.openTarget ? try target(reference, property, entity) : known
        builder.append(reference, entityOrdinal: ordinal)
      }
    }
    return column.with(references: builder.sealed())
  }

  private func target(
    _ reference: ReferenceID,
    _ property: XMLSchema.Property,
    _ entity: EntityDescription
  ) throws(PersistenceError) -> Int {
    for ordinal in property.targets {
      guard let index = tablesByOrdinal[ordinal] else { continue }
      if try tables[index].row(of: reference) != nil { return ordinal }
    }
    if let first = property.targets.first { return first }
    throw PersistenceError(
      .danglingReference,
      "A relationship refers to an object that no entity of the model has.",
      recovery: .giveModel,
      context: .init(storeType: .xml, entity: entity.name, property: entity.properties[property.ordinal].name)
    )
  }
}

// MARK: XMLReferenceText

/// References as names of XML elements: `z` and a number, as Core Data writes them; `u` and a UUID; `s` and a string in which all but
/// letters, digits, hyphens and points of ASCII are underscores and two hexadecimal digits for each byte.
enum XMLReferenceText {
  private static let number = UInt8(ascii: "z")
  private static let uuid = UInt8(ascii: "u")
  private static let string = UInt8(ascii: "s")
  private static let escape = UInt8(ascii: "_")

  /// Returns the UUID for a text, or nil if it represents another reference or none: the fast form of
  /// ``reference(_:)``.
  @inline(__always)
  static func uuid(_ text: UnsafeRawBufferPointer) -> uuid_t? {
    guard let base = text.baseAddress, text.count == UUIDText.length + 1, text[0] == uuid else { return nil }
    return UUIDText.uuid(base + 1)
  }

  /// Returns the reference, or nil if the text represents none.
  @inline(__always)
  static func reference(_ text: UnsafeRawBufferPointer) -> ReferenceID? {
    guard let base = text.baseAddress, text.count > 0 else { return nil }
    switch text[0] {
    case number where text.count > 1:
      return IntegerText.integer(base + 1, count: text.count &- 1).map(ReferenceID.integer)
    case uuid:
      guard text.count == UUIDText.length + 1 else { return nil }
      return UUIDText.uuid(base + 1).map { .uuid(UUID(uuid: $0)) }
    case string: return unescaped(text.dropFirst()).map(ReferenceID.string)
    default: return nil
    }
  }

  private static func unescaped(_ text: Slice<UnsafeRawBufferPointer>) -> String? {
    HexadecimalDigit.unescaped(text, behind: escape).flatMap { String(validating: $0, as: UTF8.self) }
  }

  static func append(_ reference: ReferenceID, to buffer: inout TextBuffer) {
    switch reference {
    case .integer(let value): append(value, to: &buffer)
    case .uuid(let value): append(value.uuid, to: &buffer)
    case .string(let value):
      buffer.append(string)
      for byte in value.utf8 { appendEscaped(byte, to: &buffer) }
    }
  }

  @inline(__always)
  static func append(_ value: Int64, to buffer: inout TextBuffer) {
    buffer.append(number)
    buffer.append(digitsOf: value)
  }

  @inline(__always)
  static func append(_ value: uuid_t, to buffer: inout TextBuffer) {
    buffer.append(uuid)
    buffer.append(textOf: value)
  }

  private static func appendEscaped(_ byte: UInt8, to buffer: inout TextBuffer) {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."):
      buffer.append(byte)
    default:
      buffer.append(escape)
      buffer.append(HexadecimalDigit.capital(byte >> 4))
      buffer.append(HexadecimalDigit.capital(byte & 0xF))
    }
  }
}
