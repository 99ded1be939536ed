import HeartwoodFoundation
package import HeartwoodStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Writes records as text, one after another, straight from the columns of a table.
package protocol RecordFormatter: Sendable {
  /// Appends the record in `row` of `group`, and what ends it.
  func append(_ row: Int, of group: RowGroup, to output: GrowableBytes)
}

extension RecordFormatter {
  /// Writes all records of `table` in order. The text is made on all processors, some thousand records at a time, so that the
  /// memory that it takes does not grow with the table.
  ///
  /// - Parameter sink: takes the text, piece by piece. What it throws ends the writing.
  package func write(_ table: NodeTable, to sink: (ByteSlice) throws -> Void) throws {
    let pieces = RecordPieces(table)
    let batchCount = Parallel.powerOfTwoProcessorCount * 2
    var start = 0
    while start < pieces.count {
      let batch = start..<min(start + batchCount, pieces.count)
      for text in Parallel.map(batch.count, { text(of: pieces[batch.lowerBound + $0]) }) { try sink(text) }
      start = batch.upperBound
    }
  }

  private func text(of piece: RecordPieces.Piece) -> ByteSlice {
    let output = GrowableBytes(capacity: piece.rows.count * 128)
    for row in piece.rows { append(row, of: piece.group, to: output) }
    return output.sealed()
  }
}

/// The records of a table, cut into runs of rows short enough to be worked on one by one.
struct RecordPieces: Sendable {
  struct Piece: Sendable {
    let group: RowGroup
    let rows: Range<Int>
  }

  private static let rowLimit = 8192
  private let pieces: [Piece]

  init(_ table: NodeTable) {
    pieces = table.groups.flatMap { group in
      group.liveRuns.flatMap { run in
        stride(from: run.lowerBound, to: run.upperBound, by: Self.rowLimit).map { start in
          Piece(group: group, rows: start..<min(start + Self.rowLimit, run.upperBound))
        }
      }
    }
  }

  var count: Int { pieces.count }
  subscript(index: Int) -> Piece { pieces[index] }
}

// MARK: RowRun

/// Neighbouring rows of a group, none of which has been deleted.
struct RowRun: Sendable {
  let group: RowGroup
  let rows: Range<Int>
}

extension RowRun {
  /// About how many bytes of text are made at once.
  private static let blockSize = 1 << 20

  /// All records of a table.
  static func all(of table: NodeTable) -> [RowRun] {
    table.groups.flatMap { group in group.liveRuns.map { RowRun(group: group, rows: $0) } }
  }

  /// The same rows in runs whose texts have about the size of a block.
  ///
  /// - Parameter typicalLength: about how long the text of a row is, beside its values.
  static func blocks(of runs: [RowRun], typicalLength: Int) -> [RowRun] {
    runs.flatMap { run in
      let rowLength = run.group.valueByteCount / max(1, run.group.rowCount) + typicalLength
      let count = max(1, blockSize / rowLength)
      return stride(from: run.rows.lowerBound, to: run.rows.upperBound, by: count).map { start in
        RowRun(group: run.group, rows: start..<min(start + count, run.rows.upperBound))
      }
    }
  }
}

extension RowGroup {
  /// How many bytes the values take in memory.
  var valueByteCount: Int {
    columns.reduce(references.values.count) { $0 + $1.values.count + ($1.references?.values.count ?? 0) }
  }
}

// MARK: TextBuffer

/// Text that is being written, in memory that grows.
///
/// An unsafe place: whoever writes to ``end`` has reserved the room, and then tells how many bytes were written.
struct TextBuffer: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = max(capacity, 64)
    base = Self.allocate(self.capacity)
  }

  deinit {
    free(base)
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
    guard let base = malloc(capacity) else { preconditionFailure("Out of memory for \(capacity) bytes.") }
    return base
  }

  /// Where the next byte goes.
  @inline(__always)
  var end: UnsafeMutableRawPointer { base + count }

  /// The text so far, valid until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  @inline(__always)
  mutating func reserve(_ additional: Int) {
    if additional > capacity &- count { grow(additional) }
  }

  @inline(never)
  private mutating func grow(_ additional: Int) {
    let (needed, overflow) = count.addingReportingOverflow(additional)
    precondition(!overflow, "The text does not fit into memory.")
    capacity = max(needed, capacity &* 2)
    guard let moved = realloc(base, capacity) else { preconditionFailure("Out of memory for \(capacity) bytes.") }
    base = moved
  }

  /// Takes note of bytes that were written to ``end``.
  @inline(__always)
  mutating func advance(_ written: Int) {
    assert(written <= capacity - count)
    count &+= written
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    end.storeBytes(of: byte, as: UInt8.self)
    count &+= 1
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    end.copyMemory(from: source, byteCount: bytes.count)
    count &+= bytes.count
  }

  /// Appends a mark, which is faster than so few bytes from anywhere else.
  @inline(__always)
  mutating func append(_ mark: CSVMark) {
    reserve(CSVMark.capacity)
    end.storeBytes(of: mark.word, as: UInt64.self)
    count &+= mark.count
  }

  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  mutating func removeAll() {
    count = 0
  }

  /// The text as a slice that never changes.
  consuming func sealed() -> ByteSlice {
    let region = ByteRegion.unsafeAdopting(heap: base, count: count)
    discard self
    return ByteSlice(region)
  }
}

// MARK: Values

extension TextBuffer {
  /// Appends decimal digits, behind a minus where the number is negative.
  @inline(__always)
  mutating func append(digitsOf number: Int64) {
    reserve(IntegerText.maximumLength)
    advance(IntegerText.write(number, to: end))
  }

  /// Appends the text form of a UUID, in capitals.
  @inline(__always)
  mutating func append(textOf uuid: uuid_t) {
    reserve(UUIDText.length)
    UUIDText.write(uuid, to: end)
    advance(UUIDText.length)
  }

  @inline(__always)
  mutating func append(_ slice: ByteSlice) {
    append(slice.unsafeBytes)
  }
}
