import Heartwood
import HeartwoodFormats
import HeartwoodStore

/// What `verify` found.
struct VerificationReport {
  /// Something that is wrong with the file, or with a record.
  struct Finding {
    /// Nil where it is the file.
    let entityName: String?
    let reference: ReferenceID?
    let propertyName: String?
    let message: String

    /// Something that is wrong with the file.
    init(_ message: String) {
      (entityName, reference, propertyName) = (nil, nil, nil)
      self.message = message
    }

    init(_ finding: ContentsValidation.Finding) {
      entityName = finding.objectID.entity.name
      reference = finding.objectID.reference
      propertyName = nil
      message = finding.message
    }

    /// A value, or a record, that cannot be read.
    init(_ value: UnreadableValue) {
      (entityName, reference, propertyName) = (value.entityName, value.reference, value.propertyName)
      var error = value.error
      // The path is told before it, and the entity, too.
      error.context.path = nil
      error.context.entity = nil
      message = "\(error)"
    }

    fileprivate var text: String {
      let name = [entityName, reference?.text].compactMap(\.self).joined(separator: " ")
      return name.isEmpty ? message : "\(name): \(message)"
    }
  }

  /// Nil where the records cannot be read.
  let recordCount: Int?
  /// The first findings, up to a limit.
  let findings: [Finding]
  /// How many there are.
  private let count: Int
  /// Whether the file has more faults than were looked for.
  private let isIncomplete: Bool

  /// - Parameters:
  ///   - findings: the first ones.
  ///   - count: how many there are.
  ///   - limit: how many of the findings are told.
  ///   - isIncomplete: whether there may be more than were counted.
  init(recordCount: Int?, findings: [Finding], count: Int, limit: Int, isIncomplete: Bool) {
    self.recordCount = recordCount
    self.findings = Array(findings.prefix(limit))
    self.count = count
    self.isIncomplete = isIncomplete
  }

  private var hasMore: Bool { count > findings.count || isIncomplete }

  func text(path: String) -> String {
    let path = DisplayText.safe(path)
    let lines = findings.map { "heartwood: error: \(path): \(DisplayText.safe($0.text))\n" }
    guard hasMore else { return lines.joined() }
    let rest = Quantity.text(count - findings.count, "more finding")
    return lines.joined() + "heartwood: error: \(path): and \(isIncomplete ? "at least " : "")\(rest)\n"
  }

  var json: JSONValue {
    .object([
      ("ok", .boolean(findings.isEmpty)),
      ("records", recordCount.map { .integer($0) } ?? .null),
      ("findings", .array(findings.map(Self.json))),
      ("findingCount", .integer(count)),
      ("hasMoreFindings", .boolean(hasMore)),
    ])
  }

  private static func json(_ finding: Finding) -> JSONValue {
    .object([
      ("entity", .optional(finding.entityName)),
      ("id", .optional(finding.reference?.text)),
      ("property", .optional(finding.propertyName)),
      ("message", .string(finding.message)),
    ])
  }
}
