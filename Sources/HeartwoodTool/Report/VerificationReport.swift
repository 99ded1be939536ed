import Heartwood
import HeartwoodFormats
import HeartwoodStore

/// What `verify` found.
struct VerificationReport {
  /// Something that is wrong with the file, or with a record.
  struct Finding {
    /// Nil where it is the file.
    let objectID: ManagedObjectID?
    let message: String

    /// Something that is wrong with the file.
    init(_ message: String) {
      self.objectID = nil
      self.message = message
    }

    init(_ finding: ContentsValidation.Finding) {
      self.objectID = finding.objectID
      self.message = finding.message
    }

    fileprivate var text: String {
      objectID.map { "\($0.entity.name) \($0.reference): \(message)" } ?? message
    }
  }

  /// Nil where the records cannot be read.
  let recordCount: Int?
  /// The first findings, up to a limit.
  let findings: [Finding]
  private let hasMore: Bool

  /// - Parameter limit: how many of the findings are told.
  init(recordCount: Int?, findings: [Finding], limit: Int) {
    self.recordCount = recordCount
    self.findings = Array(findings.prefix(limit))
    self.hasMore = findings.count > limit
  }

  func text(path: String) -> String {
    let path = DisplayText.safe(path)
    let lines = findings.map { "heartwood: error: \(path): \(DisplayText.safe($0.text))\n" }
    return lines.joined() + (hasMore ? "heartwood: error: \(path): There are more findings.\n" : "")
  }

  var json: JSONValue {
    .object([
      ("ok", .boolean(findings.isEmpty)),
      ("records", recordCount.map { .integer($0) } ?? .null),
      ("findings", .array(findings.map(Self.json))),
      ("hasMoreFindings", .boolean(hasMore)),
    ])
  }

  private static func json(_ finding: Finding) -> JSONValue {
    .object([
      ("entity", .optional(finding.objectID?.entity.name)),
      ("id", .optional(finding.objectID?.reference.text)),
      ("message", .string(finding.message)),
    ])
  }
}
