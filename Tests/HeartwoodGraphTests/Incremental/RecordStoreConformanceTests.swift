import Heartwood
import HeartwoodTesting
import Testing

/// The kit, run over an incremental store that has no file.
@Suite struct RecordStoreConformanceTests {
  private static let conformance = StoreConformance(
    RecordStore.self,
    detectsEveryChange: true,
    writesSameBytes: true,
    tellsModelVersion: true,
    options: { _ in
      var options = StoreOptions()
      options[.recordDatabase] = RecordDatabase()
      return options
    },
    refuses: { _, _ in false }
  )

  @Test(arguments: conformance.cases)
  func conforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }
}
