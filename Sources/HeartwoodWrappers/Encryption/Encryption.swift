import Crypto
import HeartwoodFoundation
public import HeartwoodStore

#if !canImport(Crypto)
  #error("HeartwoodWrappers needs swift-crypto: add \"Encryption\" to the traits of your dependency on Heartwood.")
#endif

/// An atomic store with an encrypted file, which `Formats/Encrypted` specifies.
///
///     try StoreRegistry.default.register(EncryptedStore<BinaryStore>.self)
///     var options = StoreOptions()
///     options[.encryptionKey] = try EncryptionKey(passphrase: "correct horse battery staple")
///     try coordinator.addPersistentStore(type: "EncryptedBinary", at: url, options: options)
///
/// A wrong key throws ``PersistenceError/Code/encryptionKeyWrong``. If any byte of the file was changed, cut off or
/// moved, opening it throws ``PersistenceError/Code/fileCorrupt``.
public typealias EncryptedStore<Base: AtomicStore & StoreClass> = TransformedStore<Base, Encryption>

/// Authenticated encryption: ChaCha20-Poly1305 (RFC 8439) in chunks, with keys that are new at each save.
public struct Encryption: FileTransform {
  /// `Encrypted`.
  public static let name = "Encrypted"
  /// `Encrypted`.
  public static let displayName = "Encrypted"
  /// `encrypted`.
  public static let fileExtensions = ["encrypted"]
  /// `application/vnd.heartwood.encrypted`.
  public static let mimeTypes = ["application/vnd.heartwood.encrypted"]

  private static let chunkLength = 1 << 20

  private let key: EncryptionKey
  private let leavesMetadataReadable: Bool

  /// Makes the transform from the options ``StoreOptionKey/encryptionKey`` and
  /// ``StoreOptionKey/leavesMetadataReadable``.
  ///
  /// - Throws: ``PersistenceError/Code/encryptionKeyMissing``.
  public init(options: StoreOptions) throws {
    guard let key = options[.encryptionKey] else {
      throw PersistenceError(.encryptionKeyMissing, "The store is encrypted.", recovery: .setOption(.encryptionKey))
    }
    self.key = key
    leavesMetadataReadable = options[.leavesMetadataReadable]
  }

  /// Returns whether a file begins as an encrypted file of the `base` type.
  public static func recognizes(prefix: [UInt8], base: any StoreClass.Type) -> Bool {
    let type = Array(base.typeDescription.type.rawValue.utf8)
    return prefix.starts(with: EncryptionHeader.magic)
      && prefix.dropFirst(EncryptionHeader.fixedLength).starts(with: type)
      && prefix.dropFirst(104).starts(with: [
        UInt8(truncatingIfNeeded: type.count), UInt8(truncatingIfNeeded: type.count >> 8),
      ])
  }
}

// MARK: Decrypting

extension Encryption {
  /// Decrypts the file, on all processors.
  ///
  /// - Throws: ``PersistenceError/Code/encryptionKeyWrong``, and ``PersistenceError/Code/fileCorrupt`` with the offset
  ///   of the damaged chunk.
  public func decode(_ file: StoreInput) throws -> FileBytes {
    let (header, keys, tag) = try open(file)
    guard header.fileLength == file.size else {
      throw EncryptionHeader.fault(.fileCorrupt, "The file was cut short, or something was added.", file, at: file.size)
    }
    let chunks = try Parallel.tryMap(header.chunkCount) { number in
      try chunk(number, of: file, header, keys, tag)
    }
    let bytes = GrowableBytes(capacity: header.plainLength)
    for chunk in chunks { chunk.withUnsafeBytes { bytes.append($0) } }
    return FileBytes(bytes.sealed().region)
  }

  private func chunk(
    _ number: Int,
    of file: StoreInput,
    _ header: EncryptionHeader,
    _ keys: FileKeys,
    _ tag: [UInt8]
  ) throws -> Data {
    let offset = header.length + number * (header.chunkLength + FileKeys.tagLength)
    let length = min(header.chunkLength, header.plainLength - number * header.chunkLength)
    let sealed = try file.bytes(from: offset, count: length + FileKeys.tagLength)
    guard sealed.count == length + FileKeys.tagLength,
      let chunk = sealed.withUnsafeBytes({ keys.open($0, number: number, header: tag) })
    else {
      throw EncryptionHeader.fault(
        .fileCorrupt,
        "The bytes from here on were changed since they were written.",
        file,
        at: offset
      )
    }
    return chunk
  }

  /// Decrypts the undamaged chunks: each chunk is authenticated separately.
  ///
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if the header is damaged, because then no chunk can be decrypted,
  ///   and ``PersistenceError/Code/encryptionKeyWrong``.
  public func decodeSound(_ file: StoreInput) throws -> SoundBytes {
    let (header, keys, tag) = try open(file, isDamaged: true)
    let sealedLength = header.chunkLength + FileKeys.tagLength
    let present = min(header.chunkCount, (max(0, file.size - header.length) + sealedLength - 1) / sealedLength)
    // try?: a damaged chunk is reported as a loss.
    let chunks = Parallel.map(present) { try? chunk($0, of: file, header, keys, tag) }
    let count = (chunks.lastIndex { $0 != nil } ?? -1) + 1
    var sound = SoundBytes(FileBytes(copying: []))
    let bytes = GrowableBytes()
    for number in 0..<header.chunkCount {
      let start = number * header.chunkLength
      let length = min(header.chunkLength, header.plainLength - start)
      if number < count, let chunk = chunks[number] {
        chunk.withUnsafeBytes { bytes.append($0) }
        continue
      }
      if number >= count {
        sound.losses.append(Self.loss(header, number..<header.chunkCount, file))
        break
      }
      bytes.append(repeating: 0, count: length)
      sound.unsoundRanges.append(start..<(start + length))
      sound.losses.append(Self.loss(header, number..<(number + 1), file))
    }
    if file.size > header.fileLength {
      let rest = header.fileLength..<file.size
      sound.losses.append(
        .init(.fileParts, count: 0, byteRange: rest, reason: "Something was added to the encrypted file.")
      )
    }
    sound.bytes = FileBytes(bytes.sealed().region)
    return sound
  }

  /// Returns the loss of some chunks that are damaged or missing.
  private static func loss(
    _ header: EncryptionHeader,
    _ chunks: Range<Int>,
    _ file: StoreInput
  ) -> SalvageReport.Loss {
    let sealedLength = header.chunkLength + FileKeys.tagLength
    let start = header.length + chunks.lowerBound * sealedLength
    let end = min(header.fileLength, header.length + chunks.upperBound * sealedLength)
    return .init(
      .fileParts,
      // The inner store may not notice that the end of its file is missing.
      count: chunks.upperBound == header.chunkCount ? nil : 0,
      byteRange: start..<end,
      reason: end <= file.size
        ? "These bytes of the encrypted file were changed since they were written."
        : "The encrypted file was cut short: these bytes are changed or missing."
    )
  }

  /// Reads the header, and checks that it was not altered.
  private func open(
    _ file: StoreInput,
    isDamaged: Bool = false
  ) throws -> (EncryptionHeader, FileKeys, tag: [UInt8]) {
    let (header, bytes, tag) = try EncryptionHeader.read(file, isDamaged: isDamaged)
    let keys = FileKeys(master: try master(header.derivation, file), salt: header.fileSalt)
    guard keys.check == header.keyCheck else {
      throw EncryptionHeader.fault(.encryptionKeyWrong, "The file was encrypted with another key or passphrase.", file)
    }
    guard keys.isTag(tag, ofHeader: bytes) else {
      throw EncryptionHeader.fault(.fileCorrupt, "The header was changed since it was written.", file, at: 0)
    }
    return (header, keys, tag)
  }

  private func master(_ derivation: KeyDerivation?, _ file: StoreInput) throws -> SymmetricKey {
    switch (key.secret, derivation) {
    case (.key(let key), nil): return key
    case (.passphrase(let passphrase), let derivation?): return try passphrase.key(derivation)
    case (.key, _):
      throw EncryptionHeader.fault(
        .encryptionKeyWrong,
        "The file was encrypted with a passphrase, and a key was given.",
        file
      )
    case (.passphrase, nil):
      throw EncryptionHeader.fault(
        .encryptionKeyWrong,
        "The file was encrypted with a key, and a passphrase was given.",
        file
      )
    }
  }

  /// Reads the metadata. Without a key, readable metadata are read and not checked; with a key, the header is checked
  /// first.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata? {
    if options[.encryptionKey] == nil {
      let header = try EncryptionHeader.read(file).header
      if header.isMetadataReadable { return try decodeMetadata(header.metadata, file) }
    }
    let (header, keys, _) = try Encryption(options: options).open(file)
    if header.isMetadataReadable { return try decodeMetadata(header.metadata, file) }
    guard let bytes = keys.openMetadata(header.metadata) else {
      throw EncryptionHeader.fault(.fileCorrupt, "The metadata were changed since they were written.", file)
    }
    return try decodeMetadata(bytes, file)
  }

  private static func decodeMetadata(_ bytes: [UInt8], _ file: StoreInput) throws -> StoreMetadata {
    if let metadata = StoreMetadata(json: Data(bytes)) { return metadata }
    throw EncryptionHeader.fault(.fileCorrupt, "The metadata are not JSON as it should be.", file)
  }
}

// MARK: Encrypting

extension Encryption {
  /// Encrypts the file, on all processors, with new keys.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if the metadata are too long for the header.
  public func encode(_ bytes: FileBytes, of base: StoreType, _ metadata: StoreMetadata, to output: StoreOutput) throws {
    let salt = [UInt8].random(count: FileKeys.saltLength)
    let (master, derivation) = try masterForWriting()
    let keys = FileKeys(master: master, salt: salt)
    let json = Array(try metadata.json())
    let header = EncryptionHeader(
      derivation: derivation,
      fileSalt: salt,
      keyCheck: keys.check,
      chunkLength: Self.chunkLength,
      plainLength: bytes.region.count,
      baseType: base.rawValue,
      isMetadataReadable: leavesMetadataReadable,
      metadata: leavesMetadataReadable ? json : try keys.sealMetadata(json)
    )
    try header.checkLength()
    let headerBytes = header.bytes
    let tag = keys.tag(ofHeader: headerBytes)
    try output.write(headerBytes)
    try output.write(tag)
    let chunks = try Parallel.tryMap(header.chunkCount) { number in
      let start = number * Self.chunkLength
      let end = min(start + Self.chunkLength, bytes.region.count)
      return try keys.seal(
        UnsafeRawBufferPointer(rebasing: bytes.region.unsafeBytes[start..<end]),
        number: number,
        header: tag
      )
    }
    for chunk in chunks { try output.write(chunk) }
  }

  private func masterForWriting() throws -> (SymmetricKey, KeyDerivation?) {
    switch key.secret {
    case .key(let key): return (key, nil)
    case .passphrase(let passphrase):
      let derivation = passphrase.derivationForWriting
      return (try passphrase.key(derivation), derivation)
    }
  }
}
