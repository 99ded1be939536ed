import Heartwood
import HeartwoodTesting
import ColumnFile
import Testing

@Suite struct ColumnFileStoreTests {
  static let conformance = StoreConformance(
    ColumnFileStore.self,
    detectsEveryChange: true,
    writesSameBytes: true,
    tellsModelVersion: true,
    options: { _ in StoreOptions() },
    refuses: { _, _ in false }
  )

  @Test(arguments: conformance.cases)
  func conforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }
}
