import Foundation
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import HeartwoodWrappers
import Synchronization
import Testing

/// Counts how often files are decoded.
private final class DecodeCounter: Sendable, Equatable {
  private let storage = Mutex(0)

  var count: Int { storage.withLock { $0 } }
  func increment() { storage.withLock { $0 += 1 } }
  static func == (left: DecodeCounter, right: DecodeCounter) -> Bool { left === right }
}

extension StoreOptionKey<DecodeCounter?> {
  fileprivate static let decodeCounter = StoreOptionKey("decodeCounter")
}

/// Leaves the bytes as they are.
private struct CountingTransform: FileTransform {
  static let name = "Counted"
  static let displayName = "Counted"
  static let fileExtensions = ["counted"]
  static let mimeTypes: [String] = []

  private let counter: DecodeCounter?

  init(options: StoreOptions) throws {
    counter = options[.decodeCounter]
  }

  static func recognizes(prefix: [UInt8], base: any StoreClass.Type) -> Bool { base.recognizes(prefix: prefix) }

  func decode(_ file: StoreInput) throws -> FileBytes {
    counter?.increment()
    return FileBytes(copying: try file.bytes())
  }

  func encode(_ bytes: FileBytes, of base: StoreType, _ metadata: StoreMetadata, to output: StoreOutput) throws {
    try bytes.region.withBytes { try output.write(Array($0)) }
  }
}

extension ByteRegion {
  fileprivate func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try withExtendedLifetime(self) { try body(unsafeBytes) }
  }
}

@Suite struct TransformedStoreTests {
  @Test func aFileIsDecodedOnceForOpening() throws {
    var fixture = try WrapperFixture(TransformedStore<BinaryStore, CountingTransform>.self)
    let counter = DecodeCounter()
    fixture.options[.decodeCounter] = counter
    try fixture.write(["a", "b"], "CountedBinary")
    #expect(counter.count == 0)
    #expect(try fixture.read("CountedBinary") == ["a", "b"])
    #expect(counter.count == 1)
  }

  @Test func whoAsksWithOtherOptionsHasTheFileDecodedAnew() throws {
    var fixture = try WrapperFixture(EncryptedStore<BinaryStore>.self)
    fixture.options[.encryptionKey] = try EncryptionKey(bytes: Data(0..<32))
    try fixture.write(["a"], "EncryptedBinary")
    let file = try StoreInput(try fixture.files.openFile(atPath: WrapperFixture.path))
    _ = try EncryptedStore<BinaryStore>.readModel(from: file, options: fixture.options)
    var other = StoreOptions()
    other[.encryptionKey] = try EncryptionKey(bytes: Data(1..<33))
    let error = #expect(throws: PersistenceError.self) {
      try EncryptedStore<BinaryStore>.readModel(from: file, options: other)
    }
    #expect(error?.code == .encryptionKeyWrong)
  }

  @Test func modelsAreInferredThroughWrappers() throws {
    let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Formats/XML/samples/core-data.xml")
    let files = InMemoryFileSystem()
    try files.setContents([UInt8](try Data(contentsOf: url)), ofFileAtPath: "/plain")
    let plain = try StoreInput(try files.openFile(atPath: "/plain"))
    let expected = try #require(try XMLStore.inferModel(from: plain, options: StoreOptions()))
    #expect(try ReadOnlyStore<XMLStore>.inferModel(from: plain, options: StoreOptions()) == expected)
    #expect(
      try TransformedStore<XMLStore, CountingTransform>.inferModel(from: plain, options: StoreOptions()) == expected
    )
  }
}
