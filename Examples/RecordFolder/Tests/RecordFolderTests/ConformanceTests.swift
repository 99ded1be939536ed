import Heartwood
import HeartwoodTesting
import RecordFolder
import Testing

@Suite struct ConformanceTests {
  static let conformance = StoreConformance(
    RecordFolderStore.self,
    detectsEveryChange: false,
    writesSameBytes: false,
    tellsModelVersion: true,
    options: { _ in StoreOptions() },
    refuses: { _, _ in false }
  )

  @Test(arguments: conformance.cases)
  func conforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }
}
