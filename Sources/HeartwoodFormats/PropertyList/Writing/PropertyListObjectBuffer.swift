import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Builds objects of a binary property list, numbered one after another.
struct PropertyListObjectBuffer: ~Copyable {
  /// Complete objects.
  struct Block: Sendable {
    let bytes: ByteSlice
    /// The offset of each object, 4 bytes each.
    let offsets: ByteSlice
    /// The numbers of the objects that are records, counted from the block's first, 4 bytes each.
    let records: ByteSlice
  }

  private var bytes: TextBuffer
  private let offsets = GrowableBytes()
  private let records = GrowableBytes()
  private let firstNumber: Int
  private let referenceWidth: Int
  private(set) var count = 0
  /// Whether a place does not fit into 4 bytes.
  private(set) var isTooLong = false

  init(firstNumber: Int, referenceWidth: Int, capacity: Int) {
    self.firstNumber = firstNumber
    self.referenceWidth = referenceWidth
    bytes = TextBuffer(capacity: capacity)
  }

  consuming func sealed() -> Block {
    Block(bytes: bytes.sealed(), offsets: offsets.sealed(), records: records.sealed())
  }

  /// Returns the number of bytes for the number of an object, if there are `count` objects.
  static func referenceWidth(_ count: Int) -> Int {
    switch count {
    case ...(1 << 8): 1
    case ...(1 << 16): 2
    case ...(1 << 32): 4
    default: 8
    }
  }

  // MARK: Objects

  /// Begins an object and returns its number.
  @inline(__always)
  private mutating func begin() -> Int {
    let place = UInt32(truncatingIfNeeded: bytes.count)
    isTooLong = isTooLong || bytes.count > UInt32.max
    offsets.append(place)
    count &+= 1
    return firstNumber &+ count &- 1
  }

  /// Notes that the next object is a record.
  mutating func noteRecord() {
    records.append(UInt32(truncatingIfNeeded: count))
  }

  /// Appends a null, as archives have.
  mutating func appendNull() -> Int {
    let number = begin()
    bytes.append(0x00)
    return number
  }

  /// Appends the number of another object, as archives have.
  mutating func append(archiveReference target: Int) -> Int {
    let number = begin()
    if target <= UInt8.max {
      bytes.append(0x80)
      bytes.append(UInt8(truncatingIfNeeded: target))
    } else {
      bytes.append(0x83)
      bytes.append(bigEndian: UInt32(truncatingIfNeeded: target))
    }
    return number
  }

  mutating func append(boolean: Bool) -> Int {
    let number = begin()
    bytes.append(boolean ? 0x09 : 0x08)
    return number
  }

  @inline(__always)
  mutating func append(integer: Int64) -> Int {
    let number = begin()
    appendInteger(integer)
    return number
  }

  /// Numbers of one, two and four bytes have no sign.
  @inline(__always)
  private mutating func appendInteger(_ integer: Int64) {
    switch integer {
    case 0...0xFF:
      bytes.append(0x10)
      bytes.append(UInt8(truncatingIfNeeded: integer))
    case 0...0xFFFF:
      bytes.append(0x11)
      bytes.append(bigEndian: UInt16(truncatingIfNeeded: integer))
    case 0...0xFFFF_FFFF:
      bytes.append(0x12)
      bytes.append(bigEndian: UInt32(truncatingIfNeeded: integer))
    default:
      bytes.append(0x13)
      bytes.append(bigEndian: UInt64(bitPattern: integer))
    }
  }

  mutating func append(double: Double) -> Int {
    let number = begin()
    bytes.append(0x23)
    bytes.append(bigEndian: double.bitPattern)
    return number
  }

  mutating func append(float: Float) -> Int {
    let number = begin()
    bytes.append(0x22)
    bytes.append(bigEndian: float.bitPattern)
    return number
  }

  @inline(__always)
  mutating func append(date seconds: Double) -> Int {
    let number = begin()
    bytes.append(0x33)
    bytes.append(bigEndian: seconds.bitPattern)
    return number
  }

  mutating func append(data: UnsafeRawBufferPointer) -> Int {
    let number = begin()
    appendMarker(0x40, count: data.count)
    bytes.append(data)
    return number
  }

  mutating func append(string: String) -> Int {
    var string = string
    return string.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
  }

  /// Appends text in UTF-8 as ASCII or as UTF-16.
  @inline(__always)
  mutating func append(text: UnsafeRawBufferPointer) -> Int {
    let number = begin()
    if ASCIIScan.isASCII(text) {
      appendMarker(0x50, count: text.count)
      bytes.append(text)
    } else {
      appendWide(text)
    }
    return number
  }

  private mutating func appendWide(_ text: UnsafeRawBufferPointer) {
    let string = String(decoding: text, as: UTF8.self)
    appendMarker(0x60, count: string.utf16.count)
    bytes.reserve(string.utf16.count * 2)
    for unit in string.utf16 { bytes.append(bigEndian: unit) }
  }

  mutating func append(uuid: uuid_t) -> Int {
    let number = begin()
    appendMarker(0x50, count: UUIDText.length)
    bytes.append(textOf: uuid)
    return number
  }

  mutating func append(reference: ReferenceID) -> Int {
    switch reference {
    case .integer(let number): append(integer: number)
    case .uuid(let uuid): append(uuid: uuid.uuid)
    case .string: append(string: reference.text)
    }
  }

  mutating func append(array numbers: [Int]) -> Int {
    let number = begin()
    appendMarker(0xA0, count: numbers.count)
    for number in numbers { appendReference(number) }
    return number
  }

  /// Appends an array of the records of blocks.
  mutating func append(recordsOf blocks: [(firstNumber: Int, records: ByteSlice)]) -> Int {
    let number = begin()
    appendMarker(0xA0, count: blocks.reduce(0) { $0 + $1.records.count / 4 })
    for block in blocks {
      for place in stride(from: 0, to: block.records.count, by: 4) {
        let record = block.records.unsafeBytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        appendReference(block.firstNumber + Int(record))
      }
    }
    return number
  }

  @inline(__always)
  mutating func append(dictionary members: [(key: Int, value: Int)]) -> Int {
    let number = begin()
    appendMarker(0xD0, count: members.count)
    for member in members { appendReference(member.key) }
    for member in members { appendReference(member.value) }
    return number
  }

  @inline(__always)
  private mutating func appendMarker(_ kind: UInt8, count: Int) {
    if count < 15 {
      bytes.append(kind | UInt8(truncatingIfNeeded: count))
    } else {
      bytes.append(kind | 0xF)
      appendInteger(Int64(count))
    }
  }

  @inline(__always)
  private mutating func appendReference(_ number: Int) {
    switch referenceWidth {
    case 1: bytes.append(UInt8(truncatingIfNeeded: number))
    case 2: bytes.append(bigEndian: UInt16(truncatingIfNeeded: number))
    case 4: bytes.append(bigEndian: UInt32(truncatingIfNeeded: number))
    default: bytes.append(bigEndian: UInt64(truncatingIfNeeded: number))
    }
  }
}

extension TextBuffer {
  /// Appends a number with its highest byte first.
  @inline(__always)
  mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(bigEndian number: Number) {
    reserve(MemoryLayout<Number>.size)
    end.storeBytes(of: number.bigEndian, as: Number.self)
    advance(MemoryLayout<Number>.size)
  }
}
