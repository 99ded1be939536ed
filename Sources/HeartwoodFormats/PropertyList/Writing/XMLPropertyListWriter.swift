import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes a store as a property list in XML; the text of records is made on all processors, some blocks ahead.
struct XMLPropertyListWriter {
  private static let prologue = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">

    """
  /// An estimate of the length of a record, beside its values, to reserve memory.
  private static let typicalRecordLength = 400

  let schema: PropertyListSchema
  let contents: StoreContents

  func write(to output: StoreOutput) throws {
    let model = String(decoding: try contents.model.encoded(), as: UTF8.self)
    let head: [(String, MetadataValue)] = [
      (PropertyListFormat.versionKey, .integer(PropertyListFormat.version)),
      (PropertyListFormat.metadataKey, PropertyListMetadata.value(contents.metadata)),
      (PropertyListFormat.modelKey, .string(model)),
    ]
    var lines = PropertyListTextWriter(indent: "\t", dataIndent: nil, depth: 0)
    try writing(to: output) { buffer in
      buffer.append(Self.prologue)
      lines.line("<dict>", to: &buffer)
      lines.depth = 1
      for (key, value) in head {
        lines.append(key: key, to: &buffer)
        lines.append(value, to: &buffer)
      }
      lines.append(key: PropertyListFormat.recordsKey, to: &buffer)
      lines.line("<dict>", to: &buffer)
    }
    for entity in schema.entities { try write(entity, to: output) }
    try output.write("\t</dict>\n</dict>\n</plist>\n")
  }

  private func writing(to output: StoreOutput, _ body: (inout TextBuffer) -> Void) throws(PersistenceError) {
    var buffer = TextBuffer(capacity: 1 << 12)
    body(&buffer)
    try output.write(buffer.bytes)
  }

  private func write(_ entity: PropertyListSchema.Entity, to output: StoreOutput) throws {
    let lines = PropertyListTextWriter(indent: "\t", dataIndent: nil, depth: 2)
    try writing(to: output) { buffer in
      lines.append(key: entity.name, to: &buffer)
      lines.line("<array>", to: &buffer)
    }
    let runs = RowRun.all(of: contents.table(of: entity.description))
    let blocks = RowRun.blocks(of: runs, typicalLength: Self.typicalRecordLength)
    let names = schema.model.entities.map(\.name)
    try Parallel.forEach(blocks.count) { index in
      var buffer = TextBuffer(capacity: blocks[index].rows.count * Self.typicalRecordLength)
      XMLPropertyListFormatter(group: blocks[index].group, entity: entity, entityNames: names)
        .append(blocks[index].rows, to: &buffer)
      return buffer.sealed()
    } consume: { text in
      try output.write(text)
    }
    try writing(to: output) { lines.line("</array>", to: &$0) }
  }
}

// MARK: XMLPropertyListFormatter

/// Writes rows of one group as dictionaries of a property list in XML.
///
/// It reads the group's columns through their views: it holds the group, and the rows must be the group's.
struct XMLPropertyListFormatter {
  /// A property to write. The key is all text before the value.
  private typealias Cell = PropertyListCell<String>

  private static let indent = "\t\t\t\t"
  private static let referenceKey = key(PropertyListFormat.referenceKey)
  private static let entityKey = key(PropertyListFormat.entityKey)

  private let group: RowGroup
  private let entityNames: [String]
  private let cells: [Cell]

  init(group: RowGroup, entity: PropertyListSchema.Entity, entityNames: [String]) {
    self.group = group
    self.entityNames = entityNames
    cells = entity.properties.map { property in
      Cell(property, of: group, key: Self.indent + Self.key(property.name) + "\n" + Self.indent)
    }
  }

  private static func key(_ name: String) -> String { "<key>\(name)</key>" }

  func append(_ rows: Range<Int>, to buffer: inout TextBuffer) {
    for row in rows {
      buffer.append("\t\t\t<dict>\n\(Self.indent)\(Self.referenceKey)\n\(Self.indent)")
      append(group.references[row], to: &buffer)
      buffer.append(UInt8(ascii: "\n"))
      for cell in cells { append(cell, row, to: &buffer) }
      buffer.append("\t\t\t</dict>\n")
    }
  }

  private func append(_ cell: Cell, _ row: Int, to buffer: inout TextBuffer) {
    switch cell.content {
    case .attribute(let type):
      if cell.view.unsafeIsNull(row) { return }
      buffer.append(cell.key)
      append(type, cell.view, row, to: &buffer)
    case .toOne(let destination):
      guard let references = cell.column.references, cell.column.validity?[row] ?? true else { return }
      buffer.append(cell.key)
      append(row, of: references, destination, to: &buffer)
    case .toMany(let destination):
      let range = cell.column.range(row)
      guard let references = cell.column.references, !range.isEmpty else { return }
      buffer.append(cell.key)
      buffer.append("<array>\n")
      for index in range {
        buffer.append(Self.indent + "\t")
        append(index, of: references, destination, to: &buffer)
        buffer.append(UInt8(ascii: "\n"))
      }
      buffer.append(Self.indent + "</array>")
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  // MARK: References

  private func append(_ index: Int, of references: ReferenceColumn, _ destination: Int, to buffer: inout TextBuffer) {
    let ordinal = references.entityOrdinal(index)
    if ordinal == destination { return append(references[index], to: &buffer) }
    buffer.append("<dict>\(Self.entityKey)<string>\(entityNames[ordinal])</string>\(Self.referenceKey)")
    append(references[index], to: &buffer)
    buffer.append("</dict>")
  }

  private func append(_ reference: ReferenceID, to buffer: inout TextBuffer) {
    if case .integer(let number) = reference { return buffer.append("<integer>\(number)</integer>") }
    append(text: reference.text, to: &buffer)
  }

  private func append(text: String, to buffer: inout TextBuffer) {
    var text = text
    text.withUTF8 { append(text: UnsafeRawBufferPointer($0), to: &buffer) }
  }

  // MARK: Attributes

  private func append(_ type: AttributeType, _ view: ColumnView, _ row: Int, to buffer: inout TextBuffer) {
    switch type {
    case .string, .uri: append(text: view.unsafeBytes(row), to: &buffer)
    case .integer16, .integer32, .integer64: buffer.append("<integer>\(view.unsafeInteger(row))</integer>")
    case .boolean: buffer.append(view.unsafeBoolean(row) ? "<true/>" : "<false/>")
    case .date: append(date: view.unsafeDouble(row), to: &buffer)
    case .double: append(real: view.unsafeDouble(row), to: &buffer)
    // Written as the double with exactly the same value, since every reader reads the text as one.
    case .float: append(real: Double(view.unsafeFloat(row)), to: &buffer)
    case .decimal: append(text: PropertyValue.decimal(view.unsafeDecimal(row)).text(of: .decimal) ?? "", to: &buffer)
    case .uuid: append(text: view.unsafeUUID(row).uuidString, to: &buffer)
    case .binary, .transformable, .undefined: append(data: view.unsafeBytes(row), to: &buffer)
    }
  }

  private func append(real: Double, to buffer: inout TextBuffer) {
    buffer.append("<real>\(PropertyListTextWriter.text(of: real))</real>")
  }

  private func append(date seconds: Double, to buffer: inout TextBuffer) {
    guard let text = PropertyListTextWriter.text(ofDate: seconds) else { return append(real: seconds, to: &buffer) }
    buffer.append("<date>\(text)</date>")
  }

  /// Text that XML cannot hold is written as data.
  private func append(text: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    guard PropertyListEscapes.canHold(text) else { return append(data: text, to: &buffer) }
    buffer.append("<string>")
    PropertyListEscapes.append(text, to: &buffer)
    buffer.append("</string>")
  }

  private func append(data: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    buffer.append("<data>")
    Base64Text.append(data, to: &buffer)
    buffer.append("</data>")
  }
}
