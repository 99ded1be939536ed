import Foundation
import Heartwood
import HeartwoodTesting
import HeartwoodWrappers
import Logging
import Testing

/// The kit, run through the wrappers: a store inside of one behaves as it does alone.
@Suite struct WrapperConformanceTests {
  /// Each wrapper over a store of each kind: bytes with checksums, text, none at all. What a wrapper does to the bytes of a file does not depend on
  /// what they say, so that not every pair is tried.
  static let conformances = [
    conformance(EncryptedStore<BinaryStore>.self, of: BinaryStore.self, isEncrypted: true),
    conformance(EncryptedStore<CSVStore>.self, of: CSVStore.self, isEncrypted: true),
    conformance(CompressedStore<BinaryStore>.self, of: BinaryStore.self, hidesChanges: true),
    conformance(CompressedStore<XMLStore>.self, of: XMLStore.self, hidesChanges: true),
    conformance(LoggingStore<BinaryStore>.self, of: BinaryStore.self),
    conformance(LoggingStore<PropertyListStore>.self, of: PropertyListStore.self),
    conformance(LoggingStore<InMemoryStore>.self, of: InMemoryStore.self),
    conformance(FaultInjectingStore<BinaryStore>.self, of: BinaryStore.self),
    conformance(FaultInjectingStore<CSVStore>.self, of: CSVStore.self),
    conformance(FaultInjectingStore<InMemoryStore>.self, of: InMemoryStore.self),
  ]

  /// - Parameter hidesChanges: whether some changes of the file are lost before the store inside sees them.
  private static func conformance(
    _ wrapper: any (AtomicStore & StoreClass).Type,
    of base: any (AtomicStore & StoreClass).Type,
    isEncrypted: Bool = false,
    hidesChanges: Bool = false
  ) -> StoreConformance {
    let baseDetects = base == BinaryStore.self || base == InMemoryStore.self
    let isCSV = base == CSVStore.self
    let options = options(isEncrypted: isEncrypted)
    return StoreConformance(
      wrapper,
      detectsEveryChange: isEncrypted || baseDetects && !hidesChanges,
      writesSameBytes: !isEncrypted,
      // Encrypted files have metadata of their own.
      tellsModelVersion: isEncrypted || !isCSV,
      options: { _ in options },
      refuses: { value, _ in isCSV && StoreConformanceTests.isFarDate(value) }
    )
  }

  private static func options(isEncrypted: Bool) -> StoreOptions {
    var options = StoreOptions()
    options[.storeLogger] = SilentLog.logger
    if isEncrypted { options[.encryptionKey] = try? EncryptionKey(bytes: Data(0..<32)) }
    return options
  }

  @Test(arguments: conformances.flatMap(\.cases))
  func conforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }
}

/// A logger that says nothing.
enum SilentLog {
  static let logger = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
}
