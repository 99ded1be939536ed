import HeartwoodStore

/// Reads numbers and names from bytes that may be anything, and never past their end.
struct BinaryCursor {
  private let bytes: UnsafeRawBufferPointer
  private let start: Int
  private let fault: BinaryFault
  private var position = 0

  /// - Parameter start: the offset in the file of the first of `bytes`.
  init(_ bytes: UnsafeRawBufferPointer, start: Int, fault: BinaryFault) {
    self.bytes = bytes
    self.start = start
    self.fault = fault
  }

  /// Where the next byte lies in the file.
  var offset: Int { start + position }
  var remainingCount: Int { bytes.count - position }

  mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type
  ) throws(PersistenceError) -> Number {
    let place = try skip(MemoryLayout<Number>.size)
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
  }

  /// A number of 8 bytes that is a length, a count or an offset.
  mutating func size() throws(PersistenceError) -> Int {
    let place = offset
    guard let size = Int(exactly: try number(UInt64.self)) else {
      throw fault.corrupt("a number is greater than any file is long", at: place)
    }
    return size
  }

  /// A length of 4 bytes and as many bytes of UTF-8, at least one.
  mutating func name() throws(PersistenceError) -> String {
    let place = offset
    let length = Int(try number(UInt32.self))
    let first = try skip(length)
    let text = UnsafeRawBufferPointer(rebasing: bytes[first..<(first + length)])
    guard length > 0, let name = String(validating: text, as: UTF8.self) else {
      throw fault.corrupt("a name is not text", at: place)
    }
    return name
  }

  private mutating func skip(_ count: Int) throws(PersistenceError) -> Int {
    guard count <= remainingCount else { throw fault.corrupt("the directory ends too early", at: offset) }
    defer { position += count }
    return position
  }
}
