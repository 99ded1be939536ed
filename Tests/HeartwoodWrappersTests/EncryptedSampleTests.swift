import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import HeartwoodWrappers
import TestSupport
import Testing

/// The samples of the specification: what was once written stays readable, by the second reader too.
@Suite struct EncryptedSampleTests {
  private static let type: StoreType = "EncryptedCSV"
  private static let folder = FormatFolder("Encrypted")
  private static let key = Data(0..<32)
  private static let passphrase = "correct horse battery staple"
  /// The file inside of all samples.
  private static let inside = """
    #3C1A6A0E-4B56-4C19-8D23-9A51B4B0D8E1
    Bread, 8F0D5B1E-6C8B-4E0B-9C1D-2F2A4C1E7A01
    "Milk, and übrig", 8F0D5B1E-6C8B-4E0B-9C1D-2F2A4C1E7A02

    """

  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    var hasPassphrase = false
    var isMetadataReadable = false

    var testDescription: String { name }
    var fileName: String { "\(name).encrypted" }
    /// What the second reader is told of the key.
    var arguments: [String] {
      if hasPassphrase { return ["--passphrase", passphrase] }
      return ["--key", key.map { String(($0 >> 4), radix: 16) + String($0 & 15, radix: 16) }.joined()]
    }

    func options() throws -> StoreOptions {
      var options = StoreOptions()
      options[.encryptionKey] =
        try hasPassphrase ? EncryptionKey(passphrase: passphrase) : EncryptionKey(bytes: key)
      options[.leavesMetadataReadable] = isMetadataReadable
      return options
    }
  }

  private static let samples = [
    Sample(name: "version-1-key"), Sample(name: "version-1-passphrase", hasPassphrase: true),
    Sample(name: "version-1-readable-metadata", isMetadataReadable: true),
  ]

  private static func fixture(_ sample: Sample) throws -> WrapperFixture {
    var fixture = try WrapperFixture(EncryptedStore<CSVStore>.self, CSVStore.self)
    fixture.options = try sample.options()
    return fixture
  }

  private static func bytes(_ sample: Sample) throws -> [UInt8] {
    try folder.bytes(sample.fileName) {
      let fixture = try fixture(sample)
      try fixture.setBytes(Array(inside.utf8))
      let coordinator = try fixture.coordinator(.csv)
      let store = try #require(coordinator.persistentStores.first)
      let copy = "/copy"
      try coordinator.copyPersistentStore(store, to: URL(filePath: copy), type: type, options: fixture.options)
      return try #require(fixture.files.contents(ofFileAtPath: copy))
    }
  }

  @Test(arguments: samples)
  func isRead(_ sample: Sample) throws {
    let fixture = try Self.fixture(sample)
    try fixture.setBytes(try Self.bytes(sample))
    #expect(try fixture.read(Self.type) == ["Bread", "Milk, and übrig"])
    let coordinator = try fixture.coordinator(Self.type)
    #expect(coordinator.persistentStores.first?.identifier.uuidString == "3C1A6A0E-4B56-4C19-8D23-9A51B4B0D8E1")
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"), arguments: samples)
  func theIndependentReaderReadsIt(_ sample: Sample) throws {
    _ = try Self.bytes(sample)
    let path = Self.folder.url.appending(path: "samples/\(sample.fileName)").path
    let result = try PythonReader.run(sample.arguments + [path], of: "Encrypted")
    // Some builds of Python have no scrypt.
    if sample.hasPassphrase, result.errors.contains("no scrypt") { return }
    #expect(result.status == 0, "\(result.errors)")
    #expect(String(decoding: result.output, as: UTF8.self) == Self.inside)
    let metadata = try PythonReader.run(["--metadata", path], of: "Encrypted")
    #expect(metadata.status == (sample.isMetadataReadable ? 0 : 1), "\(metadata.errors)")
    #expect(String(decoding: metadata.output, as: UTF8.self).contains("3C1A6A0E") == sample.isMetadataReadable)
  }

  @Test(.enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"))
  func theIndependentReaderTellsAWrongKey() throws {
    let path = Self.folder.url.appending(path: "samples/\(Self.samples[0].fileName)").path
    let wrong = String(repeating: "ab", count: EncryptionKey.byteCount)
    let result = try PythonReader.run(["--key", wrong, path], of: "Encrypted")
    #expect(result.status == 1 && result.output.isEmpty)
    #expect(result.errors.contains("at byte 72"), "\(result.errors)")
  }
}

// MARK: Files that must be refused

extension EncryptedSampleTests {
  /// What is done to the first sample.
  enum Damage: String, CaseIterable, Sendable {
    case cutShort = "cut-short"
    case cutInHeader = "cut-in-header"
    case longer
    case flippedBitInChunk = "flipped-bit-in-chunk"
    case flippedBitInMetadata = "flipped-bit-in-metadata"
    case flippedBitInTag = "flipped-bit-in-tag"
    case newerReaderNeeded = "newer-reader-needed"
    case otherLength = "other-length"

    var fileName: String { "corrupt/\(rawValue).encrypted" }
    var code: PersistenceError.Code { self == .newerReaderNeeded ? .fileFormatUnsupported : .fileCorrupt }

    func applied(to bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      let metadataEnd = Int(bytes[12]) + Int(bytes[13]) << 8 - 32
      switch self {
      case .cutShort: bytes.removeLast(8)
      case .cutInHeader: bytes.removeSubrange(100...)
      case .longer: bytes += Array(repeating: 0, count: 64)
      case .flippedBitInChunk: bytes[bytes.count - 20] ^= 1
      case .flippedBitInMetadata: bytes[metadataEnd - 20] ^= 1
      case .flippedBitInTag: bytes[metadataEnd + 1] ^= 1
      case .newerReaderNeeded: bytes[10] = 2
      case .otherLength: bytes[96] -= 1
      }
      return bytes
    }
  }

  private static func bytes(_ damage: Damage) throws -> [UInt8] {
    try folder.bytes(damage.fileName) { damage.applied(to: try bytes(samples[0])) }
  }

  @Test(arguments: Damage.allCases)
  func isRefused(_ damage: Damage) throws {
    let fixture = try Self.fixture(Self.samples[0])
    try fixture.setBytes(try Self.bytes(damage))
    let error = try fixture.readingError(Self.type)
    #expect(error.code == damage.code)
    #expect(error.context.byteOffset != nil, "\(error)")
  }

  @Test(
    .enabled(if: PythonReader.exists, "there is no python3 to run the independent reader"),
    arguments: Damage.allCases
  )
  func theIndependentReaderRefusesIt(_ damage: Damage) throws {
    _ = try Self.bytes(damage)
    let path = Self.folder.url.appending(path: "samples/\(damage.fileName)").path
    let result = try PythonReader.run(Self.samples[0].arguments + [path], of: "Encrypted")
    #expect(result.status == 1 && result.errors.contains("at byte") && result.output.isEmpty, "\(result.errors)")
  }

  @Test func everyFileIsTestedAndExplained() throws {
    let names = try Self.folder.names("samples/corrupt").filter { $0.hasSuffix(".encrypted") }
    #expect(names == Damage.allCases.map { "\($0.rawValue).encrypted" }.sorted())
    #expect(
      try Self.folder.names("samples").filter { $0.hasSuffix(".encrypted") } == Self.samples.map(\.fileName).sorted()
    )
    let specification = try Self.folder.specification
    for name in names + Self.samples.map(\.fileName) {
      #expect(specification.contains("`\(name)`"), "\(name) is not explained")
    }
  }
}
