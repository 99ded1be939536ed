import Heartwood
import HeartwoodFormats
import HeartwoodStore

/// What `verify` found.
struct VerificationReport {
  let recordCount: Int
  /// The first findings, up to a limit.
  let findings: [ContentsValidation.Finding]
  private let hasMore: Bool

  /// - Parameter limit: how many of the findings are told.
  init(recordCount: Int, findings: [ContentsValidation.Finding], limit: Int) {
    self.recordCount = recordCount
    self.findings = Array(findings.prefix(limit))
    self.hasMore = findings.count > limit
  }

  func text(path: String) -> String {
    let path = DisplayText.safe(path)
    let lines = findings.map { "heartwood: error: \(path): \(DisplayText.safe("\($0)"))\n" }
    return lines.joined() + (hasMore ? "heartwood: error: \(path): There are more findings.\n" : "")
  }

  var json: JSONValue {
    .object([
      ("ok", .boolean(findings.isEmpty)),
      ("records", .integer(recordCount)),
      ("findings", .array(findings.map(Self.json))),
      ("hasMoreFindings", .boolean(hasMore)),
    ])
  }

  private static func json(_ finding: ContentsValidation.Finding) -> JSONValue {
    .object([
      ("entity", .string(finding.objectID.entity.name)),
      ("id", .string(finding.objectID.reference.text)),
      ("message", .string(finding.message)),
    ])
  }
}
