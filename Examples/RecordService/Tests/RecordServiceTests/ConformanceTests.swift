import Foundation
import Heartwood
import HeartwoodTesting
import RecordServer
import RecordService
import Testing

@Suite struct ConformanceTests {
  /// Runs as long as the tests do.
  private static let server = RecordServer(token: "secret")

  private static func conformance(_ root: URL) -> StoreConformance {
    StoreConformance(
      RecordServiceFormat(client: RecordServiceClient(token: "secret")),
      at: { name in root.appending(path: name) },
      detectsEveryChange: false,
      writesSameBytes: false,
      tellsModelVersion: true,
      options: { _ in StoreOptions() },
      refuses: { _, _ in false }
    )
  }

  @Test func conforms() async throws {
    let url = try await Self.server.start()
    let report = try await onThread { Self.conformance(url).report() }
    #expect(report.failed.isEmpty, "\(report)")
    await Self.server.stop()
  }
}
