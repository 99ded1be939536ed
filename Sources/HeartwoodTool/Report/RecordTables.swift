import Heartwood
import HeartwoodFormats
import HeartwoodStore

/// Records as tables for people: one for each entity, with a title where there are several.
enum RecordTables {
  /// - Parameter entities: those of the model.
  static func write(_ tables: [NodeTable], among entities: [EntityDescription]) throws {
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
