import HeartwoodStore

/// Reads the records of one part of a file after the other, and reuses its memory.
final class CSVChunkParser {
  /// The contents of a part of the file.
  struct Chunk: Sendable {
    /// The offset of the first record in the file.
    var start: Int
    /// The offset of the first record of the next part.
    var end: Int
    var groups: [RowGroup]
    /// The first fault, if there is one.
    var fault: CSVFault?
  }

  private let schema: CSVSchema
  private let window: CSVWindow
  private let chunkSize: Int
  private let reader: CSVBatchReader
  private let batch: CSVBatch
  private var tokenizer: CSVTokenizer
  private var builder: RowGroupBuilder

  init(file: StoreInput, schema: CSVSchema, dialect: CSVDialect, chunkSize: Int) {
    self.schema = schema
    self.chunkSize = chunkSize
    window = CSVWindow(file: file)
    reader = CSVBatchReader(schema: schema)
    batch = CSVBatch(columnCount: schema.columns.count)
    tokenizer = CSVTokenizer(
      dialect: dialect,
      columnCount: schema.columns.count,
      shortcuts: CSVShortcut.shortcuts(schema)
    )
    builder = RowGroupBuilder(entity: schema.entity)
  }

  /// The number of bytes that are read after the end of a part, for a record that extends over it.
  private var overlap: Int { max(CSVWindow.padding, chunkSize / 64) }

  /// Parses the records that begin at the first line within `range`, assuming that the line does not begin inside
  /// quotes. Nil if no line begins there, or if the last record is so long that the assumption is doubtful.
  func parse(guessingIn range: Range<Int>) throws(PersistenceError) -> Chunk? {
    try window.load(from: range.lowerBound - 1, size: range.count + 1 + overlap)
    guard let first = window.lineStart(from: 1, before: range.count + 1) else { return nil }
    return try parse(from: first, before: range.upperBound, maximumSize: (chunkSize + overlap) * 4)
  }

  /// Parses the records that begin at `start`, which is the beginning of a line, or later, and before `end`.
  func parse(from start: Int, before end: Int) throws(PersistenceError) -> Chunk {
    try window.load(from: start, size: end - start + overlap)
    let chunk = try parse(from: 0, before: end, maximumSize: .max)
    return chunk ?? Chunk(start: start, end: start, groups: [])
  }

  /// Parses the one record that begins at `start`, the beginning of a line, or returns its fault; nil if it does not
  /// end within `maximumSize` bytes.
  func parseRecord(from start: Int, maximumSize: Int) throws(PersistenceError) -> Chunk? {
    try window.load(from: start, size: overlap + 1)
    return try parse(from: 0, before: start + 1, maximumSize: maximumSize)
  }

  /// - Parameters:
  ///   - first: the place in the window at which the first record begins.
  ///   - end: the place in the file before which the last record begins.
  ///   - maximumSize: the size to which the window may grow.
  private func parse(from first: Int, before end: Int, maximumSize: Int) throws(PersistenceError) -> Chunk? {
    let start = window.fileOffset + first
    let chunk = try parseOnce(from: first, before: end, maximumSize: maximumSize)
    guard chunk?.fault != nil, !tokenizer.shortcuts.isEmpty else { return chunk }
    // Perhaps a field was not what it looked like. The following ones will not be either.
    tokenizer.shortcuts = []
    reader.takesOnlyUUIDs = false
    try window.load(from: start, size: end - start + overlap)
    return try parseOnce(from: 0, before: end, maximumSize: maximumSize)
  }

  private func parseOnce(from first: Int, before end: Int, maximumSize: Int) throws(PersistenceError) -> Chunk? {
    var chunk = Chunk(start: window.fileOffset + first, end: 0, groups: [])
    _ = tokenizer.takeDoubt()
    var position = first
    var isFinished = false
    while !isFinished {
      let limit = min(end - window.fileOffset, window.count)
      let outcome = tokenizer.tokenize(window, from: &position, before: limit, into: batch)
      takeBatch(into: &chunk)
      guard chunk.fault == nil else { break }
      switch outcome {
      case .batchFull: continue
      case .limitReached: isFinished = true
      case .fault(let fault):
        chunk.fault = fault
        isFinished = true
      case .incomplete:
        guard window.count < maximumSize else { return abandon() }
        chunk.fault = try grow(for: position)
        isFinished = chunk.fault != nil
      }
    }
    chunk.end = min(window.fileOffset + position, window.file.size)
    if tokenizer.takeDoubt() { try checkUTF8(&chunk, from: first, to: position) }
    finish(&chunk)
    return chunk
  }

  private func abandon() -> Chunk? {
    builder = RowGroupBuilder(entity: schema.entity)
    return nil
  }

  /// Reads more of the file, for a record that does not end in the window.
  private func grow(for position: Int) throws(PersistenceError) -> CSVFault? {
    guard window.count - position < CSVFormat.maximumRecordLength else {
      return CSVFault(
        offset: window.fileOffset + position,
        reason: "The record is longer than 1 GiB, which is the limit."
      )
    }
    try window.extend(to: min(window.count * 2, position + CSVFormat.maximumRecordLength))
    return nil
  }

  private func takeBatch(into chunk: inout Chunk) {
    defer { batch.removeAll() }
    guard batch.rowCount > 0 else { return }
    if builder.isFull || builder.rowCount + batch.rowCount > RowID.rowsPerGroup {
      chunk.groups.append(builder.sealed())
    }
    guard let failure = reader.read(batch, in: window, into: builder) else { return }
    let field = batch.fields[failure.row * batch.columnCount + failure.column]
    chunk.fault = CSVFault(
      offset: window.fileOffset + field.start - (field.isQuoted ? 1 : 0),
      reason: failure.reason,
      property: schema.columns[failure.column].property
    )
  }

  /// Checks for bytes that are not UTF-8, up to the end of the line if there is another fault.
  private func checkUTF8(_ chunk: inout Chunk, from first: Int, to position: Int) throws(PersistenceError) {
    var end = position
    if let fault = chunk.fault {
      end = window.lineStart(from: fault.offset - window.fileOffset + 1, before: window.count) ?? window.count
    }
    let text = UnsafeRawBufferPointer(start: window.base + first, count: max(first, end) - first)
    guard UTF8Validation.firstInvalidOffset(in: text) != nil else { return }
    // In the window, two quotes may have been replaced with one: the file has the actual place of the byte.
    let bytes = try window.file.bytes(from: chunk.start, count: text.count)
    chunk.fault = CSVFault(
      offset: chunk.start + (UTF8Validation.firstInvalidOffset(in: bytes) ?? 0),
      reason: "A byte is not UTF-8.",
      recovery: "Convert the file to UTF-8."
    )
  }

  private func finish(_ chunk: inout Chunk) {
    if chunk.fault != nil {
      // Its columns may differ in length.
      builder = RowGroupBuilder(entity: schema.entity)
      chunk.groups = []
    } else if builder.rowCount > 0 {
      chunk.groups.append(builder.sealed())
    }
  }
}

// MARK: CSVWindow

/// A part of the file in memory, reused for the next part.
///
/// An unsafe place: ``base`` has ``count`` bytes of text, and ``padding`` line feeds after them. So a scan for the end
/// of a line stops within the padding, and words may be read from any place of the text on.
final class CSVWindow {
  static let padding = 64

  let file: StoreInput
  private(set) var base: UnsafeMutableRawPointer
  private var capacity: Int
  /// The number of bytes. If the file's last line has no end, one is added here.
  private(set) var count = 0
  /// The offset of the bytes in the file.
  private(set) var fileOffset = 0
  private var byteCount = 0

  init(file: StoreInput) {
    self.file = file
    self.capacity = 1 << 12
    self.base = UnsafeMutableRawPointer.allocate(byteCount: capacity + Self.padding, alignment: 64)
  }

  deinit {
    base.deallocate()
  }

  /// Whether the window extends to the end of the file.
  var reachesEnd: Bool { fileOffset + byteCount >= file.size }

  /// Reads `size` bytes of the file from `offset` on, fewer if it ends before.
  func load(from offset: Int, size: Int) throws(PersistenceError) {
    fileOffset = offset
    byteCount = 0
    try extend(to: size)
  }

  /// Reads the bytes after the present ones, until there are `size`.
  func extend(to size: Int) throws(PersistenceError) {
    let target = min(size, file.size - fileOffset)
    // Places in the window are kept in 31 bits, and the end of the last line may be one after it.
    guard target < CSVField.greatestPlace else { throw tooLarge }
    reserve(target)
    let room = UnsafeMutableRawBufferPointer(start: base + byteCount, count: target - byteCount)
    let read = try file.file.read(into: room, at: fileOffset + byteCount)
    guard read == room.count else {
      throw PersistenceError(
        .fileChangedOnDisk,
        "The file became shorter while it was read.",
        recovery: .openAgain,
        context: .init(path: file.path, storeType: .csv)
      )
    }
    byteCount = target
    count = target
    (base + target).initializeMemory(as: UInt8.self, repeating: CSVFormat.lineFeed, count: Self.padding)
    if reachesEnd, target > 0 { endLastLine() }
  }

  private var tooLarge: PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "A part of the file that is read at once has 2 GiB or more.",
      recovery: "Set the option csvChunkSize to less, or leave it out.",
      context: .init(path: file.path, byteOffset: fileOffset, storeType: .csv)
    )
  }

  private func endLastLine() {
    let last = base.load(fromByteOffset: count - 1, as: UInt8.self)
    // The first byte of the padding ends the line. A carriage return would become part of a line end that the file does
    // not have.
    if last != CSVFormat.lineFeed, last != CSVFormat.carriageReturn { count += 1 }
  }

  private func reserve(_ size: Int) {
    guard size + 1 > capacity else { return }
    let larger = UnsafeMutableRawPointer.allocate(byteCount: size + 1 + Self.padding, alignment: 64)
    larger.copyMemory(from: base, byteCount: byteCount)
    base.deallocate()
    base = larger
    capacity = size + 1
  }

  /// Returns the first line that begins at `start` or later and before `limit`, both places in the window.
  func lineStart(from start: Int, before limit: Int) -> Int? {
    let end = min(limit, count) - 1
    guard start - 1 < end else { return nil }
    let text = UnsafeRawBufferPointer(start: base + (start - 1), count: end - (start - 1))
    return text.firstIndex(of: CSVFormat.lineFeed).map { start + $0 }
  }
}
