import Heartwood
import HeartwoodRecordText
import HeartwoodStore

/// The output of `verify`.
struct VerificationReport {
  /// A problem of the file or of a record.
  struct Finding {
    /// The name of the entity; nil for a problem of the file.
    let entityName: String?
    let reference: ReferenceID?
    let propertyName: String?
    let message: String

    /// Creates a problem of the file.
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

    /// Creates a problem of a value or a record that cannot be read.
    init(_ value: UnreadableValue) {
      (entityName, reference, propertyName) = (value.entityName, value.reference, value.propertyName)
      var error = value.error
      // The path and the entity are printed before the message.
      error.context.path = nil
      error.context.entity = nil
      message = "\(error)"
    }

    fileprivate var text: String {
      let name = [entityName, reference?.text].compactMap(\.self).joined(separator: " ")
      return name.isEmpty ? message : "\(name): \(message)"
    }
  }

  /// The number of records; nil if they cannot be read.
  let recordCount: Int?
  /// The first findings, up to a limit.
  let findings: [Finding]
  /// The number of findings.
  private let count: Int
  /// Whether the file may have further faults that were not looked for.
  private let isIncomplete: Bool

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - findings: the first findings.
  ///   - count: the number of findings.
  ///   - limit: the maximum number of findings to report.
  ///   - isIncomplete: whether there may be more findings than were counted.
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

// MARK: SalvageText

/// The output of `convert --salvage` for a damaged store.
enum SalvageText {
  /// The maximum number of losses to print. The file of `--report` contains all of them.
  static let mostLines = 100

  /// Returns one line for each loss, up to the limit, and a line with the totals.
  static func text(_ report: SalvageReport, source: String) -> String {
    let lines = report.losses.prefix(mostLines).map { line("\(source): \($0)") }
    let rest = report.losses.count - lines.count
    let more = rest > 0 ? line("\(source): There are \(rest) more; --report writes all of them to a file.") : ""
    return lines.joined() + more + line("\(source): \(report).")
  }

  private static func line(_ text: String) -> String { "heartwood: salvage: \(DisplayText.safe(text))\n" }

  /// Writes the whole report as JSON.
  static func write(_ report: SalvageReport, to path: String) throws {
    _ = try AtomicFile(path: path, fileSystem: POSIXFileSystem()).replace(expecting: .anything) { output in
      try output.write(json(report).line)
    }
  }

  private static func json(_ report: SalvageReport) -> JSONValue {
    .object([
      ("isComplete", .boolean(report.isComplete)),
      ("records", .sorted(report.recordCounts.map { (key: $0.key, value: JSONValue.integer($0.value)) })),
      ("recordCount", .integer(report.recordCount)),
      ("lostRecordCount", .integer(report.lostRecordCount)),
      ("lostValueCount", .integer(report.lostValueCount)),
      ("droppedLinkCount", .integer(report.droppedLinkCount)),
      ("restoredLinkCount", .integer(report.restoredLinkCount)),
      ("invalidRecordCount", .integer(report.invalidRecordCount)),
      ("hasUncountedLosses", .boolean(report.hasUncountedLosses)),
      ("losses", .array(report.losses.map(json))),
    ])
  }

  private static func json(_ loss: SalvageReport.Loss) -> JSONValue {
    .object([
      ("kind", .string(loss.kind.description)),
      ("entity", .optional(loss.entity)),
      ("property", .optional(loss.property)),
      ("ids", .array(loss.references.map { .string($0.text) })),
      ("count", loss.count.map { .integer($0) } ?? .null),
      ("line", loss.line.map { .integer($0) } ?? .null),
      ("firstByte", (loss.byteRange?.lowerBound).map { .integer($0) } ?? .null),
      ("endByte", (loss.byteRange?.upperBound).map { .integer($0) } ?? .null),
      ("reason", .string(loss.reason)),
    ])
  }
}
