import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes rows of one group as objects.
///
/// It reads the group's columns through their views: the group is held as long as this is, and the rows are the group's.
struct XMLRowFormatter {
  private enum Value {
    case attribute(AttributeType, ColumnView)
    case toOne(Column)
    case toMany(Column)
  }

  private struct Cell {
    /// What stands before the value.
    let opening: ByteSlice
    let closing: ByteSlice
    let value: Value
    /// Whether references have to name their entity.
    let namesEntities: Bool
    let ordinal: Int
  }

  private let group: RowGroup
  private let schema: XMLSchema
  private let entity: XMLSchema.Entity
  private let cells: [Cell]
  private let opening: ByteSlice

  private static let openingEnd = bytes("\">\n")
  private static let closing = bytes("    </object>\n")

  /// - Parameter ambiguous: the ordinals of the properties whose references have to name their entity.
  init(group: RowGroup, schema: XMLSchema, entity: XMLSchema.Entity, ambiguous: Set<Int>) {
    self.group = group
    self.schema = schema
    self.entity = entity
    opening = Self.bytes("    <object type=\"\(entity.name)\" id=\"")
    cells = entity.properties.map { Self.cell($0, group, namesEntities: ambiguous.contains($0.ordinal)) }
  }

  private static func cell(_ property: XMLSchema.Property, _ group: RowGroup, namesEntities: Bool) -> Cell {
    let column = group.columns[property.ordinal]
    let relationship =
      "        <relationship name=\"\(property.name)\" type=\"\(property.counts)\" destination=\"\(property.destination)\""
    let (opening, closing, value): (String, String, Value) =
      switch property.content {
      case .attribute(let type):
        (
          "        <attribute name=\"\(property.name)\" type=\"\(XMLFormat.typeName(type))\">", "</attribute>\n",
          .attribute(type, group.unsafeViews[property.ordinal])
        )
      case .toOne: (relationship, "></relationship>\n", .toOne(column))
      case .toMany: (relationship, "></relationship>\n", .toMany(column))
      }
    return Cell(
      opening: bytes(opening),
      closing: bytes(closing),
      value: value,
      namesEntities: namesEntities,
      ordinal: property.ordinal
    )
  }

  private static func bytes(_ text: String) -> ByteSlice {
    let buffer = GrowableBytes()
    buffer.append(text: text)
    return buffer.sealed()
  }

  // MARK: Objects

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` where a value is too long to be read again.
  func append(_ rows: Range<Int>, to buffer: inout TextBuffer) throws(PersistenceError) {
    for row in rows {
      buffer.append(opening)
      appendReference(row, of: group.references, to: &buffer)
      buffer.append(Self.openingEnd)
      for index in cells.indices { try append(cells[index], row, to: &buffer) }
      buffer.append(Self.closing)
    }
  }

  @inline(__always)
  private func append(_ cell: Cell, _ row: Int, to buffer: inout TextBuffer) throws(PersistenceError) {
    switch cell.value {
    case .attribute(let type, let view):
      if view.unsafeIsNull(row) { return }
      buffer.append(cell.opening)
      let start = buffer.count
      XMLValueText.append(type, view, row, to: &buffer)
      if buffer.count - start > XMLFormat.longestText { throw tooLong(cell) }
    case .toOne(let column):
      buffer.append(cell.opening)
      if column.validity?[row] ?? true { try appendList(row..<(row + 1), of: column, cell, to: &buffer) }
    case .toMany(let column):
      buffer.append(cell.opening)
      try appendList(column.range(row), of: column, cell, to: &buffer)
    }
    buffer.append(cell.closing)
  }

  private static let listOpening = bytes(" idrefs=\"")

  private func appendList(
    _ range: Range<Int>,
    of column: Column,
    _ cell: Cell,
    to buffer: inout TextBuffer
  ) throws(PersistenceError) {
    guard let references = column.references, !range.isEmpty else { return }
    buffer.append(Self.listOpening)
    let start = buffer.count
    for index in range {
      if index > range.lowerBound { buffer.append(UInt8(ascii: " ")) }
      if cell.namesEntities {
        buffer.append(schema.entityNames[references.entityOrdinal(index)])
        buffer.append(XMLReferenceList.entityMark)
      }
      appendReference(index, of: references, to: &buffer)
    }
    if buffer.count - start > XMLFormat.longestReferenceList { throw tooLong(cell) }
    buffer.append(UInt8(ascii: "\""))
  }

  @inline(__always)
  private func appendReference(_ index: Int, of references: ReferenceColumn, to buffer: inout TextBuffer) {
    if references.layout == .uuid {
      XMLReferenceText.append(references.uuidBytes(index), to: &buffer)
    } else {
      XMLReferenceText.append(references[index], to: &buffer)
    }
  }

  private func tooLong(_ cell: Cell) -> PersistenceError {
    PersistenceError(
      .valueUnsupported,
      "The text of a value is longer than is read from an XML file. Nothing was written.",
      recovery: .chooseAnotherType,
      context: .init(
        storeType: .xml,
        entity: entity.description.name,
        property: entity.description.properties[cell.ordinal].name
      )
    )
  }
}
