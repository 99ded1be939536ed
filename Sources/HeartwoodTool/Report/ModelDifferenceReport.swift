import Heartwood
import HeartwoodFormats

/// What `model diff` tells.
struct ModelDifferenceReport {
  let differences: ModelDifferences

  init(_ differences: ModelDifferences) {
    self.differences = differences
  }

  var json: JSONValue {
    .object([
      (
        "changes",
        .array(
          differences.changes.map { change in
            .object([
              ("kind", .string(change.kind.rawValue)), ("path", .string(change.path)),
              ("detail", .string(change.detail)),
              ("obstacle", .optional(change.obstacle)), ("changesStores", .boolean(change.changesStores)),
            ])
          }
        )
      ),
      ("requiresMigration", .boolean(differences.requiresMigration)),
      ("inferable", .boolean(differences.isInferable)),
    ])
  }

  var text: String {
    differences.changes.map(line).joined() + verdict + "\n"
  }

  /// What the models say breaks no line and commands no terminal.
  private func line(_ change: ModelChange) -> String {
    let marks: [ModelChange.Kind: String] = [.added: "+", .removed: "-", .renamed: ">", .changed: "~"]
    let detail = change.detail.isEmpty ? "" : "  \(change.detail)"
    let obstacle = change.obstacle.map { "  ! \($0)" } ?? ""
    return DisplayText.safe("\(marks[change.kind] ?? "~") \(change.path)\(detail)\(obstacle)") + "\n"
  }

  private var verdict: String {
    if differences.changes.isEmpty { return "The models are the same." }
    if !differences.requiresMigration { return "Stores of the first model can be opened with the second as they are." }
    if differences.isInferable { return "Stores of the first model can be migrated to the second by inference." }
    return
      "Stores of the first model cannot be migrated to the second by inference: see the lines with an exclamation mark."
  }
}
