import Foundation
import Heartwood
import HeartwoodTesting
import HeartwoodWrappers
import Logging
import Testing

/// The kit, run through the wrappers: a store inside of one behaves as it does alone.
@Suite struct WrapperConformanceTests {
  static let conformances =
    wrapped(BinaryStore.self) + wrapped(CSVStore.self) + wrapped(XMLStore.self) + wrapped(PropertyListStore.self)
    + [
      conformance(LoggingStore<InMemoryStore>.self, of: InMemoryStore.self),
      conformance(FaultInjectingStore<InMemoryStore>.self, of: InMemoryStore.self),
    ]

  /// A store with files in each wrapper.
  private static func wrapped<Base: AtomicStore & StoreClass>(_ base: Base.Type) -> [StoreConformance] {
    [
      conformance(EncryptedStore<Base>.self, of: base, isEncrypted: true),
      conformance(CompressedStore<Base>.self, of: base, hidesChanges: true),
      conformance(LoggingStore<Base>.self, of: base),
      conformance(FaultInjectingStore<Base>.self, of: base),
    ]
  }

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
