import Heartwood
import HeartwoodRecordText
import HeartwoodModelFiles

/// The output of `migrate`.
struct MigrationOutcome {
  private let store: String
  private let isDry: Bool
  private let isRefused: Bool
  private let result: StoreMigrationRun.Result?

  /// Creates the output.
  ///
  /// - Parameters:
  ///   - isRefused: whether no record would be left, and nothing would keep the old ones.
  ///   - result: the result; nil if the store does not need a migration.
  init(store: String, isDry: Bool, isRefused: Bool, _ result: StoreMigrationRun.Result?) {
    self.store = store
    self.isDry = isDry
    self.isRefused = isRefused
    self.result = result
  }

  private var losses: MigrationLosses? { result.map(MigrationLosses.init) }

  var json: JSONValue {
    let report = result?.report
    return .object([
      ("steps", .array((result?.steps ?? []).map(Self.json))),
      ("entities", .array((report?.entities ?? []).map(Self.json))),
      ("findings", .array((report?.findings ?? []).map(Self.json) + (losses?.json ?? []))),
      ("inStore", .boolean(report?.isDoneInStore ?? false)),
      ("notInStoreBecause", .optional(report?.reasonNotInStore?.detail)),
      ("refused", .optional(refusal)),
    ])
  }

  private static func json(_ step: MigrationStep) -> JSONValue {
    .object([
      ("inferred", .boolean(step.isInferred)),
      ("mappings", .array(step.mappingModel.entityMappings.map { .string($0.name) })),
    ])
  }

  private static func json(_ entity: MigrationReport.Entity) -> JSONValue {
    .object([
      ("mapping", .string(entity.mappingName)), ("type", .string(entity.mappingType.rawValue)),
      ("source", .optional(entity.sourceName)), ("destination", .optional(entity.destinationName)),
      ("sourceCount", .integer(entity.sourceCount)), ("destinationCount", .integer(entity.destinationCount)),
    ])
  }

  private static func json(_ finding: MigrationReport.Finding) -> JSONValue {
    .object([
      ("kind", .string(finding.kind.rawValue)), ("entity", .string(finding.entity)),
      ("property", .string(finding.property)), ("count", .integer(finding.count)),
      ("obstacle", .boolean(finding.isObstacle)),
    ])
  }

  var text: String {
    let name = DisplayText.safe(store)
    guard let result else { return "\(name): The store has this version of the model already.\n" }
    let report = result.report
    let entities = LabelledLines.text(report.entities.map { (Self.label($0), Self.counts($0)) })
    let findings = report.findings.map { "\($0.isObstacle ? "! " : "")\($0)\n" }.joined()
    return entities + findings + (losses?.lines ?? []).joined() + "\(name): \(summary(result.steps, report))\n"
  }

  private static let emptied = "cannot be migrated without --backup: no record would be left"

  /// For a dry run, the reason for which the migration would fail, in words that need no context; nil if it would not
  /// fail.
  var refusal: String? {
    guard isDry else { return nil }
    if isRefused { return Self.emptied }
    guard let obstacles = result?.report.obstacles, !obstacles.isEmpty else { return nil }
    return "cannot be migrated: \(obstacles.map { "\($0)" }.joined(separator: "; "))"
  }

  private static func label(_ entity: MigrationReport.Entity) -> String {
    switch (entity.sourceName, entity.destinationName) {
    case (let source?, let destination?): source == destination ? source : "\(source) → \(destination)"
    case (nil, let destination?): "+ \(destination)"
    case (let source?, nil): "- \(source)"
    case (nil, nil): entity.mappingName
    }
  }

  private static func counts(_ entity: MigrationReport.Entity) -> String {
    let after = Quantity.text(entity.destinationCount, "record")
    return entity.sourceCount == entity.destinationCount ? after : "\(entity.sourceCount) → \(after)"
  }

  private func summary(_ steps: [MigrationStep], _ report: MigrationReport) -> String {
    let given = steps.count { !$0.isInferred }
    let words = [
      Quantity.text(report.destinationCount, "record"), Quantity.text(steps.count, "step"),
      given == 0 ? "inferred" : "\(Quantity.text(given, "mapping model"))",
    ]
    let way = report.isDoneInStore ? "by the store itself" : report.reasonNotInStore.map { "through memory: \($0)" }
    let text = (words + [way].compactMap(\.self)).joined(separator: ", ")
    if !isDry { return "migrated, \(text)" }
    if isRefused { return Self.emptied }
    return report.obstacles.isEmpty
      ? "can be migrated, \(text)" : "cannot be migrated: see the lines with an exclamation mark"
  }
}

// MARK: MigrationLosses

/// What a migration leaves out besides records and values, which are among its findings: the history, because it
/// belongs to the old model. In JSON, references that were replaced are included; in text output, a note reports them.
struct MigrationLosses {
  private let transactionCount: Int
  private let renamedCount: Int

  init(_ result: StoreMigrationRun.Result) {
    transactionCount = result.report.lostTransactionCount
    renamedCount = result.report.hasRenamedRecords ? result.report.destinationCount : 0
  }

  var lines: [String] {
    guard transactionCount > 0 else { return [] }
    return ["history: \(Quantity.text(transactionCount, "transaction")) left out: a history is not migrated\n"]
  }

  var json: [JSONValue] {
    [("removedHistory", transactionCount), ("renamedRecords", renamedCount)].filter { $0.1 > 0 }.map { kind, count in
      .object([
        ("kind", .string(kind)), ("entity", .string("")), ("property", .string("")), ("count", .integer(count)),
        ("obstacle", .boolean(false)),
      ])
    }
  }
}

// MARK: DestinationNotes

/// Notes about a file that was written as another type.
enum DestinationNotes {
  static func renamedRecords(of source: String) -> String {
    "The type assigns its own references: they differ from those in \(source)."
  }

  /// - Parameter source: the path of the store that contains the model.
  static func lackingModel(of source: String) -> String {
    noModel + "--model \(source), or with the copy that heartwood model convert \(source) NAME.json makes."
  }

  /// - Parameter model: the path of the model.
  static func lackingModel(at model: String) -> String { noModel + "--model \(model)." }

  private static let noModel = "The type keeps no model. Open the file with "
}
