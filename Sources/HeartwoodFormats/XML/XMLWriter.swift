import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes a file from its beginning to its end; the text of records is made on all processors, some blocks ahead.
struct XMLWriter {
  /// An estimate of the length of an object's text, beside its values, to reserve memory.
  private static let typicalObjectLength = 400

  let schema: XMLSchema
  let contents: StoreContents
  let form: CoreDataMetadata.Form

  func write(to output: StoreOutput) throws {
    try writeHeader(to: output)
    for entity in schema.entities { try write(entity, to: output) }
    try output.write("</database>\n")
  }

  private func writeHeader(to output: StoreOutput) throws {
    var buffer = TextBuffer(capacity: 1 << 16)
    buffer.append(XMLFormat.prologue)
    buffer.append("<database>\n    <databaseInfo>\n")
    buffer.append("        <version>\(XMLFormat.version)</version>\n")
    buffer.append("        <UUID>\(contents.metadata.identifier.uuidString)</UUID>\n")
    buffer.append("        <nextObjectID>\(nextObjectID)</nextObjectID>\n")
    buffer.append("        <metadata>\n            <plist version=\"1.0\">\n")
    let members = try CoreDataMetadata.members(of: contents.metadata, model: contents.model, form: form)
    let list = MetadataValue.dictionary(members)
    var writer = PropertyListTextWriter(indent: "    ", dataIndent: "\t\t", depth: 4)
    writer.append(list, to: &buffer)
    buffer.append("            </plist>\n        </metadata>\n    </databaseInfo>\n")
    try output.write(buffer.bytes)
  }

  private var nextObjectID: Int64 {
    max(XMLFormat.firstNumber, contents.numberAfterGreatestReference)
  }

  private func write(_ entity: XMLSchema.Entity, to output: StoreOutput) throws {
    let runs = RowRun.all(of: contents.table(of: entity.description))
    let blocks = RowRun.blocks(of: runs, typicalLength: Self.typicalObjectLength)
    let ambiguous = Set(try entity.properties.filter { try isAmbiguous($0) }.map(\.ordinal))
    let schema = schema
    try Parallel.forEach(blocks.count) { index in
      Result<ByteSlice, any Error> { try Self.text(of: blocks[index], entity, schema, ambiguous) }
    } consume: { text in
      try output.write(try text.get())
    }
  }

  private static func text(
    of run: RowRun,
    _ entity: XMLSchema.Entity,
    _ schema: XMLSchema,
    _ ambiguous: Set<Int>
  ) throws(PersistenceError) -> ByteSlice {
    var buffer = TextBuffer(capacity: run.rows.count * typicalObjectLength)
    let formatter = XMLRowFormatter(group: run.group, schema: schema, entity: entity, ambiguous: ambiguous)
    try formatter.append(run.rows, to: &buffer)
    return buffer.sealed()
  }

  /// Returns whether two objects that a relationship may refer to have the same id.
  private func isAmbiguous(_ property: XMLSchema.Property) throws(PersistenceError) -> Bool {
    let tables = property.targets.map { contents.tables[$0] }.filter { $0.count > 0 }.sorted { $0.count > $1.count }
    for (index, table) in tables.enumerated() {
      for row in table.liveRows {
        for larger in tables[..<index] where try larger.row(of: table.reference(row)) != nil { return true }
      }
    }
    return false
  }
}

// MARK: XMLRowFormatter

/// Writes rows of one group as objects.
///
/// It reads the group's columns through their views: it holds the group, and the rows must be the group's.
struct XMLRowFormatter {
  private enum Value {
    case attribute(AttributeType, ColumnView)
    case toOne(RecordColumn)
    case toMany(RecordColumn)
  }

  private struct Cell {
    /// The text before the value.
    let opening: ByteSlice
    let closing: ByteSlice
    let value: Value
    /// Whether references have to contain their entity.
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

  /// - Parameter ambiguous: the ordinals of the properties whose references have to contain their entity.
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

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if a value is too long to be read back.
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
    of column: RecordColumn,
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
      "The text of a value is longer than can be read from an XML file. Nothing was written.",
      recovery: .chooseAnotherType,
      context: .init(
        storeType: .xml,
        entity: entity.description.name,
        property: entity.description.properties[cell.ordinal].name
      )
    )
  }
}
