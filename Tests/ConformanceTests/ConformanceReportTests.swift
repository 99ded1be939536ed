import Heartwood
import HeartwoodTesting
import Testing

@Suite struct ConformanceReportTests {
  @Test func everyBehaviourIsReported() throws {
    let conformance = StoreConformance.flawed(ForgetsUserInfo.self)
    let report = conformance.report()
    #expect(report.storeType == ForgetsUserInfo.name)
    #expect(report.entries.map(\.name) == conformance.cases.map(\.name))
    #expect(report.implemented.contains("keeps its identifier"))
    let failed = report.failed.map(\.name)
    #expect(failed.contains("keeps the user's metadata"))
    #expect(failed.allSatisfy { $0.contains("metadata") || $0.contains("bytes") }, "\(failed)")
    let declined = try #require(report.declined.first { $0.name == "keeps its model" })
    #expect(declined.reason == .embeddedModel)
    #expect(report.description.contains("declined: keeps its model, which needs the model in the file"))
    #expect(report.description.contains("\(report.implemented.count) implemented"))
  }
}
