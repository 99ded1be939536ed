import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import HeartwoodWrappers
import Testing

@Suite struct EncryptionTests {
  private static let type: StoreType = "EncryptedCSV"
  private var fixture: WrapperFixture

  init() throws {
    fixture = try WrapperFixture(EncryptedStore<CSVStore>.self, EncryptedStore<BinaryStore>.self, CSVStore.self)
    fixture.options[.encryptionKey] = try EncryptionKey(bytes: Data(0..<32))
  }

  @Test func whatIsWrittenIsReadAndHidden() throws {
    try fixture.write(["secret", "other"], Self.type)
    #expect(try fixture.read(Self.type) == ["secret", "other"])
    let bytes = try fixture.bytes
    #expect(bytes.starts(with: Array("HWENC".utf8)))
    #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
  }

  @Test func noTwoSavesAreAlike() throws {
    try fixture.write(["secret"], Self.type)
    let first = try fixture.bytes
    let context = ManagedObjectContext(try fixture.coordinator(Self.type))
    let note = try #require(try context.fetch(entityName: "Note").first)
    try note.setPropertyValue(.string("others"), forKey: "text")
    try context.save()
    try note.setPropertyValue(.string("secret"), forKey: "text")
    try context.save()
    let second = try fixture.bytes
    #expect(first.count == second.count)
    // What is equal are the fixed parts and the lengths.
    #expect(zip(first, second).count { $0 == $1 } < 160)
  }

  @Test func aWrongKeyIsOneClearError() throws {
    try fixture.write(["secret"], Self.type)
    var other = fixture
    other.options[.encryptionKey] = try EncryptionKey(bytes: Data(1..<33))
    let error = try other.readingError(Self.type)
    #expect(error.code == .encryptionKeyWrong)
    #expect(error.context.path == WrapperFixture.path)
    other.options[.encryptionKey] = try EncryptionKey(passphrase: "secret")
    #expect(try other.readingError(Self.type).code == .encryptionKeyWrong)
    other.options[.encryptionKey] = nil
    #expect(try other.readingError(Self.type).code == .encryptionKeyMissing)
  }

  @Test func keysThatAreNoneAreRefused() {
    #expect(throws: PersistenceError.self) { try EncryptionKey(bytes: Data(0..<31)) }
    #expect(throws: PersistenceError.self) { try EncryptionKey(passphrase: "") }
  }

  @Test func keysDoNotShow() throws {
    let key = try EncryptionKey(passphrase: "hidden")
    var text = "\(key)"
    dump(key, to: &text)
    #expect(!text.contains("hidden"))
  }

  @Test func aPassphraseOpensWhatItLocked() throws {
    var fixture = fixture
    let key = try EncryptionKey(passphrase: "correct horse")
    fixture.options[.encryptionKey] = key
    try fixture.write(["secret"], Self.type)
    fixture.options[.encryptionKey] = try EncryptionKey(passphrase: "correct horse")
    #expect(try fixture.read(Self.type) == ["secret"])
    fixture.options[.encryptionKey] = try EncryptionKey(passphrase: "wrong horse")
    #expect(try fixture.readingError(Self.type).code == .encryptionKeyWrong)
  }

  /// The binary logarithm of N, r and p.
  @Test(arguments: [
    [4, 17, 1], [4, 255, 1], [16, 1, 1], [1, 8, 0], [1, 8, 17], [0, 8, 1], [25, 1, 1], [20, 16, 1],
  ])
  func parametersThatNobodyShouldFollowAreRefused(_ parameters: [UInt8]) throws {
    let error = try passphraseError(parameters)
    #expect(error.code == .fileCorrupt)
    #expect(error.context.byteOffset == 17)
  }

  @Test(arguments: [[1, 16, 1], [1, 16, 2], [4, 1, 1], [4, 8, 16]])
  func parametersWithinBoundsAreFollowed(_ parameters: [UInt8]) throws {
    #expect(try passphraseError(parameters).code == .encryptionKeyWrong)
  }

  /// The error of opening a file with a passphrase that tells these parameters of scrypt, and was locked otherwise.
  private func passphraseError(_ parameters: [UInt8]) throws -> PersistenceError {
    try fixture.write(["secret"], Self.type)
    var bytes = try fixture.bytes
    bytes.replaceSubrange(16..<20, with: [1] + parameters)
    try fixture.setBytes(bytes)
    var other = fixture
    other.options[.encryptionKey] = try EncryptionKey(passphrase: "correct horse")
    return try other.readingError(Self.type)
  }

  @Test(arguments: [false, true]) func metadataThatTheHeaderCannotHoldAreRefused(_ isReadable: Bool) throws {
    var options = fixture.options
    options[.leavesMetadataReadable] = isReadable
    let encryption = try Encryption(options: options)
    let file = try fixture.files.createTemporaryFile(besidePath: WrapperFixture.path, permissions: nil)
    let output = StoreOutput(file)
    var metadata = StoreMetadata(identifier: UUID(), storeType: .binary)
    metadata.userInfo = ["picture": .binary(Data(count: 13 << 20))]
    let error = #expect(throws: PersistenceError.self) {
      try encryption.encode(FileBytes(copying: [1, 2, 3]), of: .binary, metadata, to: output)
    }
    #expect(error?.code == .valueUnsupported)
    #expect(output.byteCount == 0)
    metadata.userInfo = ["picture": .binary(Data(count: 1 << 20))]
    try encryption.encode(FileBytes(copying: [1, 2, 3]), of: .binary, metadata, to: output)
    #expect(output.byteCount > 1 << 20)
  }

  @Test func everyChangedByteIsDetected() throws {
    try fixture.write(["secret"], Self.type)
    let good = try fixture.bytes
    for place in good.indices {
      var bad = good
      bad[place] ^= 0x40
      try fixture.setBytes(bad)
      let error = try fixture.readingError(Self.type)
      let expected: Set<PersistenceError.Code> = [
        .fileCorrupt, .fileMalformed, .fileFormatUnsupported, .encryptionKeyWrong,
      ]
      #expect(expected.contains(error.code), "byte \(place): \(error)")
    }
  }

  @Test func everyTruncationIsDetected() throws {
    try fixture.write(["secret"], Self.type)
    let good = try fixture.bytes
    for length in 1..<good.count {
      try fixture.setBytes(Array(good.prefix(length)))
      let code = try fixture.readingError(Self.type).code
      #expect(code == .fileCorrupt || code == .fileMalformed, "length \(length)")
    }
    try fixture.setBytes(good + [0])
    #expect(try fixture.readingError(Self.type).code == .fileCorrupt)
  }

  @Test(arguments: [false, true]) func metadataAreReadableByChoice(_ isReadable: Bool) throws {
    var fixture = fixture
    fixture.options[.leavesMetadataReadable] = isReadable
    let type: StoreType = "EncryptedBinary"
    let coordinator = try fixture.coordinator(type)
    let store = try #require(coordinator.persistentStores.first)
    try store.setUserInfo(["note": "visible"])
    let context = ManagedObjectContext(coordinator)
    _ = try context.insert(entityName: "Note")
    try context.save()
    #expect(String(decoding: try fixture.bytes, as: UTF8.self).contains("visible") == isReadable)
    let url = URL(filePath: WrapperFixture.path)
    func metadata(_ options: StoreOptions) throws -> StoreMetadata {
      try coordinator.metadataForPersistentStore(type: type, at: url, options: options)
    }
    #expect(try metadata(fixture.options).userInfo == ["note": "visible"])
    #expect(try metadata(fixture.options).identifier == store.identifier)
    if isReadable {
      #expect(try metadata(StoreOptions()).userInfo == ["note": "visible"])
    } else {
      let error = #expect(throws: PersistenceError.self) { try metadata(StoreOptions()) }
      #expect(error?.code == .encryptionKeyMissing)
    }
  }

  @Test func theTypeInsideIsTold() throws {
    try fixture.write(["secret"], "EncryptedBinary")
    #expect(try fixture.registry.type(ofFileAt: WrapperFixture.path, in: fixture.files) == "EncryptedBinary")
  }

  @Test func manyChunksComeBack() throws {
    let texts = (0..<40).map { number in String(repeating: "\(number) ", count: 50_000) }
    try fixture.write(texts, Self.type)
    #expect(try fixture.bytes.count > 3 << 20)
    #expect(try fixture.read(Self.type) == texts)
    // A chunk at another's place is no chunk.
    var bytes = try fixture.bytes
    let length = (1 << 20) + 16
    let start = bytes.count - 3 * length
    let part = Array(bytes[start..<(start + 16)])
    bytes.replaceSubrange(start..<(start + 16), with: bytes[(start + length)..<(start + length + 16)])
    bytes.replaceSubrange((start + length)..<(start + length + 16), with: part)
    try fixture.setBytes(bytes)
    let error = try fixture.readingError(Self.type)
    #expect(error.code == .fileCorrupt)
    #expect(error.context.byteOffset != nil)
  }
}
