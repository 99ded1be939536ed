import Heartwood
import HeartwoodFormats
import HeartwoodStore

/// Records on standard output.
struct RecordOutput {
  /// The entities of the model.
  let entities: [EntityDescription]

  /// An object on a line for each record.
  func writeJSON(_ tables: [NodeTable]) throws {
    for table in tables {
      try RecordJSON(entity: table.entity, among: entities).write(table, to: StandardOutput.write)
    }
  }

  /// Comma-separated fields below a header.
  func writeFields(_ table: NodeTable) throws {
    let fields = RecordFields(entity: table.entity, among: entities)
    try StandardOutput.writeSafely(fields.header)
    try fields.write(table, to: StandardOutput.writeSafely)
  }

  /// A table for people for each entity, with a title where there are several.
  func writeTables(_ tables: [NodeTable]) throws {
    var isFirst = true
    for table in tables {
      if tables.count > 1 {
        let title = "\(table.entity.name): \(Quantity.text(table.count, "record"))"
        try StandardOutput.write("\(isFirst ? "" : "\n")\(title)\n")
        isFirst = false
      }
      let text = RecordTable(table, among: entities, width: Terminal.standardOutput.width)
      try StandardOutput.write(text.header)
      try text.write(table, to: StandardOutput.write)
    }
  }
}
