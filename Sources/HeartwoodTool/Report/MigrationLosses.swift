import Heartwood

/// What a migration leaves out because the new model has no place for it, and the history, which tells of the old one. For programs, it has the
/// references too that the type of another file has replaced; who reads text is told that in a note.
struct MigrationLosses {
  private let entities: [MigrationReport.Entity]
  /// The paths of properties that are gone, such as `ToDo.memo`.
  private let properties: [String]
  private let transactionCount: Int
  private let renamedCount: Int

  init(_ result: StoreMigrationRun.Result) {
    let report = result.report
    entities = report.entities.filter { $0.destinationName == nil && $0.sourceCount > 0 }
    properties = result.steps.flatMap { step in
      ModelDifferences(from: step.sourceModel, to: step.destinationModel).changes
        .filter { $0.kind == .removed && $0.changesStores && $0.isOfProperty }.map(\.path)
    }
    transactionCount = report.lostTransactionCount
    renamedCount = report.hasRenamedRecords ? report.destinationCount : 0
  }

  var lines: [String] {
    entities.map { entity in
      let count = Quantity.text(entity.sourceCount, "record")
      return "\(entity.sourceName ?? entity.mappingName): \(count) left out: the new model has no such entity\n"
    } + properties.map { "\($0): all values left out: the new model has no such property\n" } + historyLines
  }

  private var historyLines: [String] {
    guard transactionCount > 0 else { return [] }
    return ["history: \(Quantity.text(transactionCount, "transaction")) left out: a history is not migrated\n"]
  }

  var json: [JSONValue] {
    entities.map { entity in
      Self.json("removedEntity", entity.sourceName ?? entity.mappingName, "", count: .integer(entity.sourceCount))
    }
      + properties.map { path in
        let names = path.split(separator: ".", maxSplits: 1).map(String.init)
        return Self.json("removedProperty", names.first ?? "", names.last ?? "", count: .null)
      } + storeJSON
  }

  /// What is of no entity.
  private var storeJSON: [JSONValue] {
    [("removedHistory", transactionCount), ("renamedRecords", renamedCount)].filter { $0.1 > 0 }.map { kind, count in
      Self.json(kind, "", "", count: .integer(count))
    }
  }

  private static func json(_ kind: String, _ entity: String, _ property: String, count: JSONValue) -> JSONValue {
    .object([
      ("kind", .string(kind)), ("entity", .string(entity)), ("property", .string(property)), ("count", count),
      ("obstacle", .boolean(false)),
    ])
  }
}
