import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Adjacent rows of a group, none of which has been deleted.
struct RowRun: Sendable {
  let group: RowGroup
  let rows: Range<Int>
}

extension RowRun {
  /// The approximate number of bytes of text that are made at once.
  private static let blockSize = 1 << 20

  /// Returns all records of a table.
  static func all(of table: NodeTable) -> [RowRun] {
    table.groups.flatMap { group in group.liveRuns.map { RowRun(group: group, rows: $0) } }
  }

  /// Returns the same rows in runs whose texts have about the size of a block.
  ///
  /// - Parameter typicalLength: the approximate length of the text of a row, beside its values.
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
  /// The number of bytes that the values take in memory.
  var valueByteCount: Int {
    columns.reduce(references.values.count) { $0 + $1.values.count + ($1.references?.values.count ?? 0) }
  }
}

// MARK: TextBuffer

/// A growing buffer for text.
///
/// An unsafe place: code that writes to ``end`` must have reserved the room, and then calls ``advance(_:)``.
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

  /// The address of the next byte.
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

  /// Counts bytes that were written to ``end``.
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

  /// Returns the text as an immutable slice.
  consuming func sealed() -> ByteSlice {
    let region = ByteRegion.unsafeAdopting(heap: base, count: count)
    discard self
    return ByteSlice(region)
  }
}

// MARK: Values

extension TextBuffer {
  /// Appends decimal digits, after a minus sign if the number is negative.
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

// MARK: Base64Text

/// Encodes and decodes Base64 (RFC 4648, with padding), without strings.
enum Base64Text {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")
  private static let nothing: UInt8 = 0xFF
  private static let whiteSpace: UInt8 = 0xFE

  /// The value of each byte: six bits, or one of the two above.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: nothing, count: 256)
    for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
    for byte in " \t\r\n".utf8 { values[Int(byte)] = whiteSpace }
    return values
  }()

  /// Returns the number of characters for `count` bytes.
  static func length(_ count: Int) -> Int { (count + 2) / 3 * 4 }

  /// Appends the text of `bytes`, without line ends.
  static func append(_ bytes: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    let length = length(bytes.count)
    buffer.reserve(length)
    let target = buffer.end
    var (offset, place) = (0, 0)
    alphabet.withUnsafeBufferPointer { alphabet in
      func put(_ value: UInt32, _ shift: UInt32) {
        target.storeBytes(of: alphabet[Int(value &>> shift & 63)], toByteOffset: place, as: UInt8.self)
        place &+= 1
      }
      while offset < bytes.count {
        let rest = bytes.count &- offset
        var value = UInt32(bytes[offset]) &<< 16
        if rest > 1 { value |= UInt32(bytes[offset &+ 1]) &<< 8 }
        if rest > 2 { value |= UInt32(bytes[offset &+ 2]) }
        put(value, 18)
        put(value, 12)
        put(value, 6)
        put(value, 0)
        offset &+= 3
      }
    }
    for missing in 0..<(bytes.count.isMultiple(of: 3) ? 0 : 3 - bytes.count % 3) {
      target.storeBytes(of: padding, toByteOffset: length - 1 - missing, as: UInt8.self)
    }
    buffer.advance(length)
  }

  /// Decodes the text in place, ignoring white space, and returns the number of decoded bytes; nil if it is no Base64.
  ///
  /// Four characters represent at most three bytes, so writing never passes reading.
  static func decode(_ text: UnsafeMutableRawBufferPointer) -> Int? {
    var (pending, count, written) = (UInt32(0), 0, 0)
    var end = text.count
    while end > 0, values[Int(text[end - 1])] == whiteSpace { end -= 1 }
    var paddings = 0
    while end > 0, paddings < 2, text[end - 1] == padding {
      end -= 1
      paddings += 1
    }
    let isWhole = values.withUnsafeBufferPointer { values in
      for index in 0..<end {
        let value = values[Int(text[index])]
        if value > 63 {
          if value == whiteSpace { continue }
          return false
        }
        pending = pending &<< 6 | UInt32(value)
        count &+= 1
        if count & 3 == 0 {
          text[written] = UInt8(truncatingIfNeeded: pending &>> 16)
          text[written &+ 1] = UInt8(truncatingIfNeeded: pending &>> 8)
          text[written &+ 2] = UInt8(truncatingIfNeeded: pending)
          written &+= 3
        }
      }
      return true
    }
    guard isWhole, (count + paddings).isMultiple(of: 4) else { return nil }
    switch count & 3 {
    case 2:
      text[written] = UInt8(truncatingIfNeeded: pending >> 4)
      return pending & 0xF == 0 ? written + 1 : nil
    case 3:
      text[written] = UInt8(truncatingIfNeeded: pending >> 10)
      text[written + 1] = UInt8(truncatingIfNeeded: pending >> 2)
      return pending & 3 == 0 ? written + 2 : nil
    case 1: return nil
    default: return paddings == 0 ? written : nil
    }
  }
}
