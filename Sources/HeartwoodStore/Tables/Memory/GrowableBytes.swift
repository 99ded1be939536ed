package import HeartwoodFoundation
import HeartwoodModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A growing buffer: bytes are appended at the end, and it becomes a ``ByteRegion`` without copying them.
///
/// It belongs to the code that builds with it and is not Sendable.
package final class GrowableBytes {
  // Exclusivity is checked by eye: no method calls another's code while it changes one of these.
  @exclusivity(unchecked) private var base: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  /// The probable size of the next bytes: that of the ones that were sealed last.
  private var expectedCount = 0
  @exclusivity(unchecked) private var filled = 0

  /// The number of bytes. Computed, since other modules check exclusivity at each access to a stored property.
  @inline(__always)
  package private(set) var count: Int {
    get { filled }
    set { filled = newValue }
  }

  package init(capacity: Int = 0) {
    self.capacity = max(capacity, 16)
    self.base = Self.allocate(self.capacity)
  }

  deinit {
    free(base)
  }

  /// Makes room for `additional` more bytes. Amortised O(`additional`).
  @inline(__always)
  func reserve(_ additional: Int) {
    if additional > capacity - count { grow(by: additional) }
  }

  @inline(never)
  private func grow(by additional: Int) {
    let (needed, overflow) = count.addingReportingOverflow(additional)
    precondition(!overflow, "The bytes do not fit into memory.")
    capacity = max(needed, capacity &* 2, expectedCount)
    guard let moved = realloc(base, capacity) else { preconditionFailure("Out of memory for \(capacity) bytes.") }
    base = moved
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
    guard let base = malloc(capacity) else { preconditionFailure("Out of memory for \(capacity) bytes.") }
    return base
  }

  /// Appends the bytes of `value` as they lie in memory, which is little-endian on every platform that Swift runs on.
  @inline(__always)
  package func append<Value: BitwiseCopyable>(_ value: Value) {
    reserve(MemoryLayout<Value>.size)
    base.storeBytes(of: value, toByteOffset: count, as: Value.self)
    count &+= MemoryLayout<Value>.size
  }

  package func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count)
    (base + count).copyMemory(from: source, byteCount: bytes.count)
    count &+= bytes.count
  }

  package func append(repeating byte: UInt8, count repetitions: Int) {
    reserve(repetitions)
    (base + count).initializeMemory(as: UInt8.self, repeating: byte, count: repetitions)
    count &+= repetitions
  }

  /// The bytes so far, valid until the next change.
  @inline(__always)
  package var unsafeMutableBytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: base, count: count)
  }

  /// Calls `body` to write up to `capacity` bytes after the last one; it returns how many it wrote.
  @inline(__always)
  package func appendUnsafely(
    capacity: Int,
    _ body: (UnsafeMutableRawBufferPointer) throws -> Int
  ) rethrows {
    reserve(capacity)
    let written = try body(UnsafeMutableRawBufferPointer(start: base + count, count: capacity))
    precondition(written >= 0 && written <= capacity, "More bytes were written than there was room for.")
    count &+= written
  }

  /// Appends the offsets, of 4 bytes each, in `range` of `offsets`, with `shift` added to each.
  func append(offsets: ByteSlice, in range: Range<Int>, movedBy shift: Int) {
    precondition(range.lowerBound >= 0 && range.upperBound <= offsets.count / 4, "The rows are not in the table.")
    let shift = UInt32(truncatingIfNeeded: shift)
    let source = offsets.unsafeBase + range.lowerBound * 4
    appendUnsafely(capacity: range.count * 4) { target in
      for index in 0..<range.count {
        let offset = source.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)
        target.storeBytes(of: offset &+ shift, toByteOffset: index &* 4, as: UInt32.self)
      }
      return range.count * 4
    }
  }

  /// Removes the bytes and keeps the memory.
  package func removeAll() {
    count = 0
  }

  /// Returns the bytes as an immutable slice; this becomes empty.
  package func sealed() -> ByteSlice {
    let region = ByteRegion.unsafeAdopting(heap: base, count: count)
    expectedCount = count + count / 32
    capacity = 16
    base = Self.allocate(capacity)
    count = 0
    return ByteSlice(region)
  }
}

// MARK: Text

/// Appends text as bytes, without a string for each piece.
extension GrowableBytes {
  /// Appends the UTF-8 bytes of `text`.
  package func append(text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends one character of ASCII.
  @inline(__always)
  package func append(ascii character: Unicode.Scalar) {
    append(UInt8(ascii: character))
  }

  /// Appends the decimal digits of `number`, after a minus sign if it is negative.
  package func append(digitsOf number: Int64) {
    appendUnsafely(capacity: IntegerText.maximumLength) { buffer in
      buffer.baseAddress.map { IntegerText.write(number, to: $0) } ?? 0
    }
  }

  /// Appends the text form of a UUID, in capitals.
  package func append(textOf uuid: uuid_t) {
    appendUnsafely(capacity: UUIDText.length) { buffer in
      guard let target = buffer.baseAddress else { return 0 }
      UUIDText.write(uuid, to: target)
      return UUIDText.length
    }
  }
}

// MARK: UTF8Validation

/// Finds bytes that are not UTF-8, without making a string of them.
///
///     guard UTF8Validation.firstInvalidOffset(in: bytes) == nil else { throw … }
///     row.columns[memo].append(bytes: bytes)
public enum UTF8Validation {
  /// Returns the offset of the first byte that does not belong to a well-formed character, or nil if all do. O(n).
  public static func firstInvalidOffset(in bytes: RawSpan) -> Int? {
    bytes.withUnsafeBytes { firstInvalidOffset(in: $0) }
  }

  /// Returns the offset of the first byte that does not belong to a well-formed character, or nil if all do. O(n).
  package static func firstInvalidOffset(in bytes: [UInt8]) -> Int? {
    bytes.withUnsafeBytes { firstInvalidOffset(in: $0) }
  }

  /// Returns the offset of the first byte that does not belong to a well-formed character, or nil if all do. O(n).
  package static func firstInvalidOffset(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    var offset = 0
    while offset < bytes.count {
      // Characters that are not ASCII mostly come one after another.
      if bytes[offset] < 0x80 {
        guard let next = ASCIIScan.unsafeFirstBeyond(in: base, from: offset, to: bytes.count) else { return nil }
        offset = next
      }
      guard let length = lengthOfCharacter(in: bytes, at: offset) else { return offset }
      offset += length
    }
    return nil
  }

  /// Returns the length of the multi-byte character at `offset`, or nil if it is not well-formed (RFC 3629).
  private static func lengthOfCharacter(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
    let lead = bytes[offset]
    let length: Int
    var secondRange: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, secondRange) = (3, 0xA0...0xBF)
    case 0xED: (length, secondRange) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, secondRange) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, secondRange) = (4, 0x80...0x8F)
    default: return nil
    }
    guard bytes.count - offset >= length, secondRange.contains(bytes[offset + 1]) else { return nil }
    for index in 2..<max(2, length) where !(0x80...0xBF).contains(bytes[offset + index]) { return nil }
    return length
  }
}
