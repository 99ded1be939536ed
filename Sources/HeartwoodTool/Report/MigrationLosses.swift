import Heartwood

/// What a migration leaves out beside records and values, which are among its findings: the history, which tells of the old model. For programs, it has
/// the references too that the type of another file has replaced; a note has that for people.
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
