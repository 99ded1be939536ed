import Heartwood
import HeartwoodTesting
import HeartwoodWrappers
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The kit, run through the wrappers: a store inside of one behaves as it does alone.
@Suite struct WrapperConformanceTests {
  static let conformances = [
    StoreConformance(
      EncryptedStore<BinaryStore>.self,
      detectsEveryChange: true,
      writesSameBytes: false,
      options: encryption
    ),
    StoreConformance(
      EncryptedStore<CSVStore>.self,
      detectsEveryChange: true,
      writesSameBytes: false,
      options: encryption,
      refuses: { value, _ in StoreConformanceTests.isFarDate(value) }
    ),
    StoreConformance(CompressedStore<BinaryStore>.self, detectsEveryChange: false, writesSameBytes: true),
    StoreConformance(
      CompressedStore<CSVStore>.self,
      detectsEveryChange: false,
      writesSameBytes: true,
      refuses: { value, _ in StoreConformanceTests.isFarDate(value) }
    ),
    StoreConformance(LoggingStore<BinaryStore>.self, detectsEveryChange: true, writesSameBytes: true),
    StoreConformance(FaultInjectingStore<BinaryStore>.self, detectsEveryChange: true, writesSameBytes: true),
  ]

  @Sendable private static func encryption(_: ManagedObjectModel) -> StoreOptions {
    var options = StoreOptions()
    options[.encryptionKey] = try? EncryptionKey(bytes: Data(0..<32))
    return options
  }

  @Test(arguments: conformances.flatMap(\.cases))
  func conforms(_ testCase: ConformanceCase) throws {
    StoreLogging.isEnabled = false
    try testCase.run()
  }
}
