import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Writes rows of one group as lines.
///
/// It reads the group's columns through their views: it holds the group, and the rows must be the group's.
struct CSVRowFormatter {
  /// It contains nothing that is reference-counted, so that iterating over the cells of a row costs little.
  private enum Cell {
    case reference
    case ignored(column: Int)
    case attribute(AttributeType, ColumnView)
    case toOne(ordinal: Int)
    case toMany(ordinal: Int)
  }

  private let group: RowGroup
  private let cells: [Cell]
  private let references: CSVReferenceText
  private let separator: CSVMark
  private let separatorByte: UInt8
  private let hasSpaceAfterSeparator: Bool
  /// Bytes because of which a reader would detect another separator, if the record were the first.
  private let otherSeparators: ArraySlice<UInt8>
  private let lineEnd: CSVMark
  private let quotesAll: Bool
  private var dates = DateTextWriter(separator: CSVFormat.space)

  init(group: RowGroup, schema: CSVSchema, dialect: CSVDialect) {
    self.group = group
    references = CSVReferenceText(allowsBareStrings: schema.layout.allowsBareStringReferences)
    separator = CSVMark(dialect.separatorBytes)
    separatorByte = dialect.separator
    hasSpaceAfterSeparator = dialect.hasSpaceAfterSeparator
    otherSeparators = CSVFormat.separatorsTried(before: dialect.separator)
    lineEnd = CSVMark(dialect.lineEndBytes)
    quotesAll = dialect.quoting == .all
    cells = schema.columns.enumerated().map { index, column in
      switch column.content {
      case .reference: group.references.unsafeUUIDs.map { .attribute(.uuid, $0) } ?? .reference
      case .ignored: .ignored(column: index)
      case .attribute(let ordinal, let type): .attribute(type, group.unsafeViews[ordinal])
      case .relationship(let ordinal, let isToMany):
        isToMany ? .toMany(ordinal: ordinal) : .toOne(ordinal: ordinal)
      }
    }
  }

  /// Appends a line for each row, with its end.
  mutating func append(_ rows: Range<Int>, to buffer: inout TextBuffer) {
    for row in rows {
      appendRow(row, kept: [:], to: &buffer)
      buffer.append(lineEnd)
    }
  }

  /// Appends the fields of a row, without a line end.
  ///
  /// - Parameter kept: the text of fields that do not belong to the model, by column.
  mutating func appendRow(_ row: Int, kept: [Int: [UInt8]], to buffer: inout TextBuffer) {
    for index in cells.indices {
      if index > 0 { buffer.append(separator) }
      switch cells[index] {
      case .reference: appendReference(row, isFirst: index == 0, to: &buffer)
      case .ignored(let column): appendKept(kept[column] ?? [], isSecond: index == 1, to: &buffer)
      case .attribute(let type, let view): appendAttribute(type, view, row, isFirst: index == 0, to: &buffer)
      case .toOne(let ordinal): appendToOne(group.columns[ordinal], row, isFirst: index == 0, to: &buffer)
      case .toMany(let ordinal): appendToMany(group.columns[ordinal], row, isFirst: index == 0, to: &buffer)
      }
    }
  }
}

// MARK: Fields

extension CSVRowFormatter {
  /// Appends a field that does not belong to the model as it was, but in quotes if a reader would otherwise detect
  /// another separator, or a space after it, if the record were the first.
  private func appendKept(_ field: [UInt8], isSecond: Bool, to buffer: inout TextBuffer) {
    let showsSpace = isSecond && !hasSpaceAfterSeparator && field.first == CSVFormat.space
    let needsQuotes = field.first != CSVFormat.quote && (showsSpace || field.contains(where: otherSeparators.contains))
    if needsQuotes { buffer.append(CSVFormat.quote) }
    buffer.append(field)
    if needsQuotes { buffer.append(CSVFormat.quote) }
  }

  @inline(__always)
  private mutating func appendAttribute(
    _ type: AttributeType,
    _ view: ColumnView,
    _ row: Int,
    isFirst: Bool,
    to buffer: inout TextBuffer
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

  /// Appends a value of a type whose text needs quotes only if it is empty.
  @inline(__always)
  private mutating func appendPlain(
    _ type: AttributeType,
    _ view: ColumnView,
    _ row: Int,
    to buffer: inout TextBuffer
  ) {
    switch type {
    case .boolean: buffer.append(view.unsafeBoolean(row) ? UInt8(ascii: "1") : UInt8(ascii: "0"))
    case .integer16, .integer32, .integer64: buffer.append(digitsOf: view.unsafeInteger(row))
    case .date: appendDate(view.unsafeDouble(row), to: &buffer)
    case .uuid: buffer.append(textOf: view.unsafeUUID(row).uuid)
    case .double: buffer.append(NumberText.text(of: view.unsafeDouble(row)))
    case .float: buffer.append(NumberText.text(of: view.unsafeFloat(row)))
    case .decimal: buffer.append(PropertyValue.decimal(view.unsafeDecimal(row)).text(of: .decimal) ?? "")
    case .binary, .transformable, .undefined: appendData(view.unsafeBytes(row), to: &buffer)
    case .string, .uri: break
    }
  }

  private mutating func appendDate(_ seconds: Double, to buffer: inout TextBuffer) {
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

  private func appendData(_ bytes: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    if bytes.isEmpty {
      if !quotesAll { buffer.append([CSVFormat.quote, CSVFormat.quote]) }
    } else {
      buffer.append(Data(bytes).base64EncodedString())
    }
  }

  private func appendReference(_ row: Int, isFirst: Bool, to buffer: inout TextBuffer) {
    appendText(references.text(group.references[row]), isFirst: isFirst, to: &buffer)
  }

  private func appendToOne(_ column: RecordColumn, _ row: Int, isFirst: Bool, to buffer: inout TextBuffer) {
    guard let targets = column.references, column.validity?[row] ?? true else { return }
    appendText(references.text(targets[row]), isFirst: isFirst, to: &buffer)
  }

  private func appendToMany(_ column: RecordColumn, _ row: Int, isFirst: Bool, to buffer: inout TextBuffer) {
    let range = column.range(row)
    guard let targets = column.references, !range.isEmpty else { return }
    let list = CSVReferenceList(references: references)
    appendText(list.text(range.map { targets[$0] }), isFirst: isFirst, to: &buffer)
  }
}

// MARK: Text

extension CSVRowFormatter {
  private func appendText(_ text: String, isFirst: Bool, to buffer: inout TextBuffer) {
    var text = text
    text.withUTF8 { appendText(UnsafeRawBufferPointer($0), isFirst: isFirst, to: &buffer) }
  }

  @inline(__always)
  private func appendText(_ text: UnsafeRawBufferPointer, isFirst: Bool, to buffer: inout TextBuffer) {
    let isPlain = !quotesAll && !needsQuotes(text, isFirst: isFirst) && appendPlain(text, to: &buffer)
    if !isPlain { appendQuoted(text, to: &buffer) }
  }

  /// Returns whether `text` could be misread without quotes because of its beginning or end, here or by other programs,
  /// some of which take a number sign for a comment; or because of another separator in it.
  @inline(__always)
  private func needsQuotes(_ text: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
    guard text.count > 0 else { return true }
    if !otherSeparators.isEmpty, text.contains(where: otherSeparators.contains) { return true }
    let (first, last) = (text[0], text[text.count &- 1])
    return CSVFormat.isWhiteSpace(first) || CSVFormat.isWhiteSpace(last) || isFirst && first == CSVFormat.identifierMark
  }

  /// Appends `text` unless a byte in it needs quotes; returns false in that case.
  @inline(__always)
  private func appendPlain(_ text: UnsafeRawBufferPointer, to buffer: inout TextBuffer) -> Bool {
    let pattern = CSVWord.repeated(separatorByte)
    buffer.reserve(text.count &+ CSVWord.length)
    let target = buffer.end
    var offset = 0
    while text.count &- offset >= CSVWord.length {
      let word = text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard CSVWord.specials(word, separator: pattern) == 0 else { return false }
      target.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
      offset &+= CSVWord.length
    }
    let rest = CSVWord.last(of: text, from: offset)
    guard CSVWord.specials(rest, separator: pattern) == 0 else { return false }
    target.storeBytes(of: rest, toByteOffset: offset, as: UInt64.self)
    buffer.advance(text.count)
    return true
  }

  @inline(never)
  private func appendQuoted(_ text: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
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

// MARK: CSVLineOutput

/// Writes the lines of a file, both new ones and lines of the file that is replaced. The end of the last line is held
/// back until it is known whether another one follows.
struct CSVLineOutput {
  private static let blockSize = 1 << 20

  private let output: StoreOutput
  private let dialect: CSVDialect
  /// The end of the last line; nil if nothing has been written yet, empty if the line was copied without an end.
  private var heldEnd: [UInt8]?

  init(_ output: StoreOutput, dialect: CSVDialect) {
    self.output = output
    self.dialect = dialect
  }

  /// Writes lines, each with the dialect's end.
  mutating func write(lines: [UInt8]) throws {
    try lines.withUnsafeBytes { try write(lines: $0) }
  }

  /// Writes lines, each with the dialect's end.
  mutating func write(lines: UnsafeRawBufferPointer) throws(PersistenceError) {
    guard !lines.isEmpty else { return }
    try endLine()
    let end = dialect.lineEndBytes
    try output.write(UnsafeRawBufferPointer(rebasing: lines.dropLast(end.count)))
    heldEnd = end
  }

  /// Writes a part of another file that begins at the beginning of a line, and ends at the end of one or of the file.
  mutating func copy(_ range: Range<Int>, of file: StoreInput) throws(PersistenceError) {
    guard !range.isEmpty else { return }
    try endLine()
    let end = try lineEnd(before: range.upperBound, of: file, from: range.lowerBound)
    var position = range.lowerBound
    let last = range.upperBound - end.count
    while position < last {
      let block = try file.bytes(from: position, count: min(Self.blockSize, last - position))
      guard !block.isEmpty else { break }
      try output.write(block)
      position += block.count
    }
    heldEnd = end
  }

  private func lineEnd(before offset: Int, of file: StoreInput, from start: Int) throws(PersistenceError) -> [UInt8] {
    let tail = try file.bytes(from: max(start, offset - 2), count: min(2, offset - start))
    guard tail.last == CSVFormat.lineFeed else { return [] }
    return tail.first == CSVFormat.carriageReturn ? tail : [CSVFormat.lineFeed]
  }

  /// The offset of the next line in the output, if there is another one.
  var nextLineOffset: Int { output.byteCount + endBeforeNextLine.count }

  private var endBeforeNextLine: [UInt8] {
    guard let heldEnd else { return [] }
    return heldEnd.isEmpty ? dialect.lineEndBytes : heldEnd
  }

  private mutating func endLine() throws(PersistenceError) {
    try output.write(endBeforeNextLine)
    heldEnd = nil
  }

  /// Ends the last line, if the dialect ends it.
  mutating func finish() throws(PersistenceError) {
    if dialect.endsLastLine { try endLine() }
  }
}

// MARK: CSVMark

/// A few bytes that separate values, in one word.
struct CSVMark: BitwiseCopyable {
  static let capacity = 8

  /// The bytes, the first one lowest; zeros above them.
  let word: UInt64
  let count: Int

  init(_ bytes: [UInt8]) {
    precondition(bytes.count <= Self.capacity, "A mark has at most 8 bytes.")
    word = bytes.reversed().reduce(0) { $0 &<< 8 | UInt64($1) }
    count = bytes.count
  }
}
