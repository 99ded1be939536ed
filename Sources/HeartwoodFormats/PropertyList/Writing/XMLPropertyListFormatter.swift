import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes rows of one group as dictionaries of a property list in XML.
///
/// It reads the group's columns through their views: the group is held as long as this is, and the rows are the group's.
struct XMLPropertyListFormatter {
  /// What is written of a property. The key is all that comes before the value.
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
    // Written as the double that it is exactly, since that is what every reader makes of the text.
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
