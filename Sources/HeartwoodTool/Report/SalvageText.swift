import Heartwood
import HeartwoodFormats
import HeartwoodStore

/// What `convert --salvage` says of a damaged store.
enum SalvageText {
  /// How many losses are shown; all are in the file of `--report`.
  static let mostLines = 100

  /// A line for each loss, up to a limit, and one that counts all.
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
