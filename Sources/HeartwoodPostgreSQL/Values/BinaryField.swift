import HeartwoodFoundation
import HeartwoodModel

/// A fault in a field that a server sent.
struct FieldFault: Error, Sendable {
  /// A description that follows the name of the column.
  let text: String

  init(_ text: String) {
    self.text = text
  }
}

// MARK: BinaryField

/// Reads values in PostgreSQL's binary format: numbers with the most significant byte first.
enum BinaryField {
  /// Returns a number of 2, 4 or 8 bytes.
  static func integer(_ bytes: UnsafeRawBufferPointer) throws(FieldFault) -> Int64 {
    switch bytes.count {
    case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    default: throw FieldFault("holds \(bytes.count) bytes that are not an integer")
    }
  }

  static func boolean(_ bytes: UnsafeRawBufferPointer) throws(FieldFault) -> Bool {
    guard bytes.count == 1 else {
      throw FieldFault("holds \(bytes.count) bytes that are not a boolean")
    }
    return bytes[0] != 0
  }

  static func double(_ bytes: UnsafeRawBufferPointer) throws(FieldFault) -> Double {
    switch bytes.count {
    case 4: Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))))
    case 8: Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    default: throw FieldFault("holds \(bytes.count) bytes that are not a number")
    }
  }

  static func float(_ bytes: UnsafeRawBufferPointer) throws(FieldFault) -> Float {
    guard bytes.count == 4 else {
      throw FieldFault("holds \(bytes.count) bytes that are not a number of 32 bits")
    }
    return Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
  }

  static func uuid(_ bytes: UnsafeRawBufferPointer) throws(FieldFault) -> UUID {
    guard bytes.count == MemoryLayout<uuid_t>.size else {
      throw FieldFault("holds \(bytes.count) bytes that are not a UUID")
    }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }
}

extension [UInt8] {
  mutating func append(bigEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  /// Appends the length and the bytes of a field, as in a copied row or in an array.
  mutating func appendField(_ bytes: some Collection<UInt8>) {
    append(bigEndian: Int32(clamping: bytes.count))
    append(contentsOf: bytes)
  }

  mutating func appendField(_ number: some FixedWidthInteger) {
    append(bigEndian: Int32(MemoryLayout.size(ofValue: number)))
    append(bigEndian: number)
  }

  mutating func appendField(_ uuid: UUID) {
    append(bigEndian: Int32(MemoryLayout<uuid_t>.size))
    Swift.withUnsafeBytes(of: uuid.uuid) { append(contentsOf: $0) }
  }

  /// Appends a field that is NULL.
  mutating func appendNullField() {
    append(bigEndian: Int32(-1))
  }
}

// MARK: CopyFormat

/// The binary format of `COPY`: a header, rows that consist of a field count and fields, and a trailer.
enum CopyFormat {
  private static let signature = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]

  /// The signature, the flags, and the length of the rest of the header.
  static let header = signature + [UInt8](repeating: 0, count: 8)
  /// The trailer, in place of a field count.
  static let trailer: [UInt8] = [0xFF, 0xFF]
  static let headerLength = header.count

  static func isHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= headerLength && bytes.prefix(signature.count).elementsEqual(signature)
  }
}

/// Reads the chunks of a binary `COPY`, which end where rows end.
struct CopyReader {
  private var hasHeader = false
  private var isComplete = false

  init() {}

  /// Calls `body` with each row of a chunk.
  mutating func read(_ piece: UnsafeRawBufferPointer, _ body: (PostgreSQLRow) throws -> Void) throws {
    var offset = 0
    if !hasHeader {
      guard CopyFormat.isHeader(piece) else {
        throw FieldFault("is copied in a format that is not known")
      }
      let extension_ = try number(of: Int32.self, piece, CopyFormat.headerLength - 4)
      offset = CopyFormat.headerLength + Int(extension_)
      hasHeader = true
    }
    while offset < piece.count {
      let count = try number(of: Int16.self, piece, offset)
      offset += 2
      if count < 0 {
        isComplete = true
        return
      }
      var fields: [UnsafeRawBufferPointer?] = []
      fields.reserveCapacity(Int(count))
      for _ in 0..<count {
        let length = Int(try number(of: Int32.self, piece, offset))
        offset += 4
        if length < 0 {
          fields.append(nil)
          continue
        }
        guard length <= piece.count - offset else { throw Self.cut }
        fields.append(UnsafeRawBufferPointer(rebasing: piece[offset..<offset + length]))
        offset += length
      }
      try body(PostgreSQLRow(fields))
    }
  }

  private static let cut = FieldFault("is copied in pieces that end within a row")

  private func number<Number: FixedWidthInteger>(
    of type: Number.Type,
    _ piece: UnsafeRawBufferPointer,
    _ offset: Int
  ) throws(FieldFault) -> Number {
    guard offset >= 0, offset <= piece.count - MemoryLayout<Number>.size else { throw Self.cut }
    return Number(bigEndian: piece.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
