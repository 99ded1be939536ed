import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes rows of one group as lines.
///
/// It reads the group's columns through their views: the group is held as long as this is, and the rows are the group's.
struct CSVRowFormatter {
  private enum Cell {
    case reference
    case ignored(column: Int)
    case attribute(AttributeType, ColumnView)
    case toOne(Column)
    case toMany(Column)
  }

  private let group: RowGroup
  private let cells: [Cell]
  private let references: CSVReferenceText
  private let separator: [UInt8]
  private let separatorByte: UInt8
  private let lineEnd: [UInt8]
  private let quotesAll: Bool
  private var dates = DateTextWriter(separator: CSVFormat.space)

  init(group: RowGroup, schema: CSVSchema, dialect: CSVDialect) {
    self.group = group
    references = CSVReferenceText(allowsBareStrings: schema.layout.allowsBareStringReferences)
    separator = dialect.separatorBytes
    separatorByte = dialect.separator
    lineEnd = dialect.lineEndBytes
    quotesAll = dialect.quoting == .all
    cells = schema.columns.enumerated().map { index, column in
      switch column.content {
      case .reference: .reference
      case .ignored: .ignored(column: index)
      case .attribute(let ordinal, let type): .attribute(type, group.unsafeViews[ordinal])
      case .relationship(let ordinal, let isToMany):
        isToMany ? .toMany(group.columns[ordinal]) : .toOne(group.columns[ordinal])
      }
    }
  }

  /// Appends a line for each row, with its end.
  mutating func append(_ rows: Range<Int>, to buffer: inout CSVTextBuffer) {
    for row in rows {
      appendRow(row, kept: [:], to: &buffer)
      buffer.append(lineEnd)
    }
  }

  /// Appends the fields of a row, without a line end.
  ///
  /// - Parameter kept: the text of fields that the model does not know, by column.
  mutating func appendRow(_ row: Int, kept: [Int: [UInt8]], to buffer: inout CSVTextBuffer) {
    for index in cells.indices {
      if index > 0 { buffer.append(separator) }
      switch cells[index] {
      case .reference: appendReference(row, isFirst: index == 0, to: &buffer)
      case .ignored(let column): buffer.append(kept[column] ?? [])
      case .attribute(let type, let view): appendAttribute(type, view, row, isFirst: index == 0, to: &buffer)
      case .toOne(let column): appendToOne(column, row, isFirst: index == 0, to: &buffer)
      case .toMany(let column): appendToMany(column, row, isFirst: index == 0, to: &buffer)
      }
    }
  }
}

// MARK: Fields

extension CSVRowFormatter {
  @inline(__always)
  private mutating func appendAttribute(
    _ type: AttributeType,
    _ view: ColumnView,
    _ row: Int,
    isFirst: Bool,
    to buffer: inout CSVTextBuffer
  ) {
    if view.unsafeIsNull(row) { return }
    switch type {
    case .string, .uri: appendText(view.unsafeBytes(row), isFirst: isFirst, to: &buffer)
    default:
      if quotesAll { buffer.append(CSVFormat.quote) }
      appendPlain(type, view, row, to: &buffer)
      if quotesAll { buffer.append(CSVFormat.quote) }
    }
  }

  /// Values whose text never needs quotes but where there is none.
  @inline(__always)
  private mutating func appendPlain(
    _ type: AttributeType,
    _ view: ColumnView,
    _ row: Int,
    to buffer: inout CSVTextBuffer
  ) {
    switch type {
    case .boolean: buffer.append(view.unsafeBoolean(row) ? UInt8(ascii: "1") : UInt8(ascii: "0"))
    case .integer16, .integer32, .integer64:
      buffer.reserve(IntegerText.maximumLength)
      buffer.advance(IntegerText.write(view.unsafeInteger(row), to: buffer.end))
    case .date: appendDate(view.unsafeDouble(row), to: &buffer)
    case .uuid: Self.append(view.unsafeUUID(row).uuid, to: &buffer)
    case .double: buffer.append(NumberText.text(of: view.unsafeDouble(row)))
    case .float: buffer.append(NumberText.text(of: view.unsafeFloat(row)))
    case .decimal: buffer.append(PropertyValue.decimal(view.unsafeDecimal(row)).text(of: .decimal) ?? "")
    case .binary, .transformable: appendData(view.unsafeBytes(row), to: &buffer)
    case .string, .uri: break
    }
  }

  private mutating func appendDate(_ seconds: Double, to buffer: inout CSVTextBuffer) {
    // Seven more for the offset: a space, a sign and four digits.
    buffer.reserve(DateTextWriter.length + 8)
    dates.write(seconds, to: buffer.end)
    buffer.advance(DateTextWriter.length)
    if seconds != seconds.rounded(.down) { buffer.append(DateFraction.text(of: seconds)) }
    buffer.reserve(8)
    // ` +0000`, lowest byte first, of which six bytes count.
    buffer.end.storeBytes(of: 0x3030_3030_2B20, as: UInt64.self)
    buffer.advance(6)
  }

  @inline(__always)
  private static func append(_ uuid: uuid_t, to buffer: inout CSVTextBuffer) {
    buffer.reserve(UUIDText.length)
    UUIDText.write(uuid, to: buffer.end)
    buffer.advance(UUIDText.length)
  }

  private func appendData(_ bytes: UnsafeRawBufferPointer, to buffer: inout CSVTextBuffer) {
    if bytes.isEmpty {
      if !quotesAll { buffer.append([CSVFormat.quote, CSVFormat.quote]) }
    } else {
      buffer.append(Data(bytes).base64EncodedString())
    }
  }

  private func appendReference(_ row: Int, isFirst: Bool, to buffer: inout CSVTextBuffer) {
    guard group.references.layout == .uuid, !quotesAll else {
      return appendText(references.text(group.references[row]), isFirst: isFirst, to: &buffer)
    }
    Self.append(group.references.uuidBytes(row), to: &buffer)
  }

  private func appendToOne(_ column: Column, _ row: Int, isFirst: Bool, to buffer: inout CSVTextBuffer) {
    guard let targets = column.references, column.validity?[row] ?? true else { return }
    appendText(references.text(targets[row]), isFirst: isFirst, to: &buffer)
  }

  private func appendToMany(_ column: Column, _ row: Int, isFirst: Bool, to buffer: inout CSVTextBuffer) {
    let range = column.range(row)
    guard let targets = column.references, !range.isEmpty else { return }
    let list = CSVReferenceList(references: references)
    appendText(list.text(range.map { targets[$0] }), isFirst: isFirst, to: &buffer)
  }
}

// MARK: Text

extension CSVRowFormatter {
  private func appendText(_ text: String, isFirst: Bool, to buffer: inout CSVTextBuffer) {
    var text = text
    text.withUTF8 { appendText(UnsafeRawBufferPointer($0), isFirst: isFirst, to: &buffer) }
  }

  @inline(__always)
  private func appendText(_ text: UnsafeRawBufferPointer, isFirst: Bool, to buffer: inout CSVTextBuffer) {
    if quotesAll || needsQuotes(text, isFirst: isFirst) {
      appendQuoted(text, to: &buffer)
    } else {
      buffer.append(text)
    }
  }

  /// Whether `text` could be misread without quotes, here or by others, some of which take a number sign for a comment.
  @inline(__always)
  private func needsQuotes(_ text: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
    guard text.count > 0 else { return true }
    let (first, last) = (text[0], text[text.count &- 1])
    if CSVFormat.isWhiteSpace(first) || CSVFormat.isWhiteSpace(last) { return true }
    if isFirst, first == CSVFormat.identifierMark { return true }
    return hasSpecialByte(text)
  }

  @inline(__always)
  private func hasSpecialByte(_ text: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while text.count &- offset >= 8 {
      let word = text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if CSVWord.specials(word, separator: CSVWord.repeated(separatorByte)) != 0 { return true }
      offset &+= 8
    }
    while offset < text.count {
      let byte = text[offset]
      if byte == separatorByte || byte == CSVFormat.quote || byte == CSVFormat.lineFeed
        || byte == CSVFormat.carriageReturn
      {
        return true
      }
      offset &+= 1
    }
    return false
  }

  @inline(never)
  private func appendQuoted(_ text: UnsafeRawBufferPointer, to buffer: inout CSVTextBuffer) {
    buffer.append(CSVFormat.quote)
    var rest = text[...]
    while let quote = rest.firstIndex(of: CSVFormat.quote) {
      buffer.append(UnsafeRawBufferPointer(rebasing: rest[...quote]))
      buffer.append(CSVFormat.quote)
      rest = rest[(quote + 1)...]
    }
    buffer.append(UnsafeRawBufferPointer(rebasing: rest))
    buffer.append(CSVFormat.quote)
  }
}
