import HeartwoodStore

/// Writes the lines of a file, new ones and ones of the file that is replaced. The end of the last line is held back until it is
/// known whether another follows.
struct CSVLineOutput {
  private static let blockSize = 1 << 20

  private let output: StoreOutput
  private let dialect: CSVDialect
  /// What ends the last line; nil where nothing has been written yet, empty where the line was taken over without an end.
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

  /// Writes a part of another file that begins where a line does, and ends where one does or with the file.
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

  /// Where the next line begins in the output, or would if there were one.
  var nextLineOffset: Int { output.byteCount + endBeforeNextLine.count }

  private var endBeforeNextLine: [UInt8] {
    guard let heldEnd else { return [] }
    return heldEnd.isEmpty ? dialect.lineEndBytes : heldEnd
  }

  private mutating func endLine() throws(PersistenceError) {
    try output.write(endBeforeNextLine)
    heldEnd = nil
  }

  /// Ends the last line, where lines are to be ended.
  mutating func finish() throws(PersistenceError) {
    if dialect.endsLastLine { try endLine() }
  }
}
