import HeartwoodStore

/// The header before the encrypted chunks of a file, which `Formats/Encrypted` specifies.
struct EncryptionHeader: Sendable {
  static let magic: [UInt8] = Array("HWENC\r\n\u{1A}".utf8)
  static let version: UInt16 = 1
  static let fixedLength = 112
  static let tagLength = 32
  private static let lengthLimit = 1 << 24
  private static let chunkLengths = 1 << 12...1 << 26

  /// How the key is derived from a passphrase; nil if the file was encrypted with a key.
  var derivation: KeyDerivation?
  var fileSalt: [UInt8]
  var keyCheck: [UInt8]
  var chunkLength: Int
  /// The length of the inner file.
  var plainLength: Int
  /// The type of the inner store.
  var baseType: String
  var isMetadataReadable: Bool
  var metadata: [UInt8]

  /// The length of the header, with its tag.
  var length: Int { Self.fixedLength + baseType.utf8.count + metadata.count + Self.tagLength }

  var chunkCount: Int { (plainLength + chunkLength - 1) / chunkLength }

  /// The length of a file with this header.
  var fileLength: Int { length + plainLength + chunkCount * FileKeys.tagLength }
}

// MARK: Writing

extension EncryptionHeader {
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if the metadata are so long that readers would refuse the
  ///   header.
  func checkLength() throws(PersistenceError) {
    guard length > Self.lengthLimit else { return }
    throw PersistenceError(
      .valueUnsupported,
      "The metadata take \(metadata.count) bytes; the header of an encrypted file, where they stand, must have "
        + "no more than \(Self.lengthLimit) in all. Nothing was written.",
      recovery: "Keep large values in records instead of the metadata."
    )
  }

  /// The bytes of the header, without its tag.
  var bytes: [UInt8] {
    var bytes = Self.magic
    bytes.append(littleEndian: Self.version)
    bytes.append(littleEndian: Self.version)
    bytes.append(littleEndian: UInt32(length))
    bytes += [derivation == nil ? 0 : 1, derivation?.logarithmOfRounds ?? 0, derivation?.blockSize ?? 0]
    bytes += [derivation?.parallelism ?? 0, isMetadataReadable ? 1 : 0, 0, 0, 0]
    bytes += derivation?.salt ?? [UInt8](repeating: 0, count: KeyDerivation.saltLength)
    bytes += fileSalt
    bytes += keyCheck
    bytes.append(littleEndian: UInt32(chunkLength))
    bytes.append(littleEndian: UInt32(0))
    bytes.append(littleEndian: UInt64(plainLength))
    bytes.append(littleEndian: UInt16(baseType.utf8.count))
    bytes.append(littleEndian: UInt16(0))
    bytes.append(littleEndian: UInt32(metadata.count))
    return bytes + Array(baseType.utf8) + metadata
  }
}

// MARK: Reading

extension EncryptionHeader {
  /// Returns a header, its bytes and the tag after them. Do not trust it before the tag is checked, except that its
  /// lengths stay within the file.
  ///
  /// - Parameter isDamaged: whether the file may be shorter than the header says.
  static func read(
    _ file: StoreInput,
    isDamaged: Bool = false
  ) throws(PersistenceError) -> (header: EncryptionHeader, bytes: [UInt8], tag: [UInt8]) {
    let fixed = try file.bytes(from: 0, count: fixedLength)
    guard fixed.starts(with: magic) else {
      throw fault(.fileMalformed, "The file is not encrypted by this store: it begins otherwise.", file)
    }
    guard fixed.count == fixedLength else {
      throw fault(.fileCorrupt, "The file was cut short.", file, at: fixed.count)
    }
    let oldestReader = fixed.littleEndian(at: 10, as: UInt16.self)
    guard oldestReader <= version else {
      throw fault(
        .fileFormatUnsupported,
        "The file needs a reader of version \(oldestReader) of the format.",
        file,
        at: 10
      )
    }
    let length = Int(fixed.littleEndian(at: 12, as: UInt32.self))
    guard length <= lengthLimit, length <= file.size, length >= fixedLength + tagLength else {
      throw fault(.fileCorrupt, "The length of the header is wrong.", file, at: 12)
    }
    let all = try file.bytes(from: 0, count: length)
    guard all.count == length else { throw fault(.fileCorrupt, "The file was cut short.", file, at: all.count) }
    let header = try EncryptionHeader(all, file, isDamaged: isDamaged)
    return (header, Array(all.dropLast(tagLength)), Array(all.suffix(tagLength)))
  }

  /// - Parameter bytes: the header with its tag, of the length that the header gives.
  private init(_ bytes: [UInt8], _ file: StoreInput, isDamaged: Bool) throws(PersistenceError) {
    derivation = try Self.derivation(bytes, file)
    isMetadataReadable = bytes[20] == 1
    fileSalt = Array(bytes[40..<72])
    keyCheck = Array(bytes[72..<88])
    chunkLength = Int(bytes.littleEndian(at: 88, as: UInt32.self))
    let plainLength = bytes.littleEndian(at: 96, as: UInt64.self)
    let typeLength = Int(bytes.littleEndian(at: 104, as: UInt16.self))
    let metadataLength = Int(bytes.littleEndian(at: 108, as: UInt32.self))
    guard Self.chunkLengths.contains(chunkLength) else {
      throw Self.fault(.fileCorrupt, "The length of a chunk is wrong.", file, at: 88)
    }
    // Half of the numbers are greater than the length of any file.
    guard plainLength <= (isDamaged ? UInt64(Int.max / 2) : UInt64(file.size)) else {
      throw Self.fault(.fileCorrupt, "The file is shorter than what it should hold.", file, at: 96)
    }
    guard Self.fixedLength + typeLength + metadataLength + Self.tagLength == bytes.count else {
      throw Self.fault(.fileCorrupt, "The lengths of the header's parts do not add up.", file, at: 104)
    }
    self.plainLength = Int(plainLength)
    let typeEnd = Self.fixedLength + typeLength
    baseType = String(decoding: bytes[Self.fixedLength..<typeEnd], as: UTF8.self)
    metadata = Array(bytes[typeEnd..<(typeEnd + metadataLength)])
  }

  private static func derivation(_ bytes: [UInt8], _ file: StoreInput) throws(PersistenceError) -> KeyDerivation? {
    switch bytes[16] {
    case 0: return nil
    case 1:
      let derivation = KeyDerivation(
        salt: Array(bytes[24..<40]),
        logarithmOfRounds: bytes[17],
        blockSize: bytes[18],
        parallelism: bytes[19]
      )
      guard derivation.isReasonable else {
        throw fault(.fileCorrupt, "The parameters of the passphrase are out of bounds.", file, at: 17)
      }
      return derivation
    default: throw fault(.fileFormatUnsupported, "The way that the key is made is unknown.", file, at: 16)
    }
  }

  static func fault(
    _ code: PersistenceError.Code,
    _ message: String,
    _ file: StoreInput,
    at offset: Int? = nil
  ) -> PersistenceError {
    PersistenceError(code, message, context: .init(path: file.path, byteOffset: offset))
  }
}

extension [UInt8] {
  fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  /// Returns the number at `offset`, which must be within the bytes.
  fileprivate func littleEndian<Value: FixedWidthInteger>(at offset: Int, as _: Value.Type) -> Value {
    self[offset..<(offset + MemoryLayout<Value>.size)].reversed().reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) }
  }
}
