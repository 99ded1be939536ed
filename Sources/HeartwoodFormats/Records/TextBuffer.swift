import HeartwoodStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
