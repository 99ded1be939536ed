import ArgumentParser
import Heartwood
import HeartwoodFormats
import HeartwoodStore

struct DumpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Prints the records of a store.",
    discussion: """
      As json, each line is an object: $entity, $id (the reference), the attributes and then the relationships in the order of \
      the model. A relationship is a reference or a list of them; one to a record of another entity than the relationship's, such \
      as of a subentity, is an object with $entity and $id, in the other forms too. Dates are ISO 8601 in UTC, binary data is \
      base64, decimal numbers are strings, nil is null. As csv, there is a header and a line for each record of one entity. As \
      table, columns are aligned, and cut to the width of a terminal.

      EXAMPLE
        heartwood dump todo.csv --entity ToDo --format table
      """
  )

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case json, csv, table
  }

  @OptionGroup var arguments: StoreArguments

  @Option(help: "Print only the records of this entity, without those of its subentities.")
  var entity: String?

  @Option(help: "The form of the output.")
  var format = Format.json

  func run() throws {
    let opened = try arguments.source.open()
    opened.model.tellNotes()
    let contents = try opened.store.engine.contents()
    let entities = try DumpedEntities(name: entity, contents: contents, path: arguments.store)
    let all = opened.model.model.entities
    switch format {
    case .json:
      try entities.forEach { try RecordJSON(entity: $0.entity, among: all).write($0, to: StandardOutput.write) }
    case .csv: try writeFields(try entities.only, all)
    case .table: try RecordTables.write(entities.tables, among: all)
    }
  }

  private func writeFields(_ table: NodeTable, _ all: [EntityDescription]) throws {
    let fields = RecordFields(entity: table.entity, among: all)
    try StandardOutput.write(fields.header)
    try fields.write(table, to: StandardOutput.write)
  }
}
