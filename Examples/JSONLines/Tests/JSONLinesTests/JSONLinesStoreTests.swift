import Heartwood
import HeartwoodTesting
import JSONLines
import Testing

@Suite struct JSONLinesStoreTests {
  static let conformance = StoreConformance(
    JSONLinesStore.self,
    detectsEveryChange: false,
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
