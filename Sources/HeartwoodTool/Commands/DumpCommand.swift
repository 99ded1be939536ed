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
    let entities = try DumpedEntities(name: entity, of: opened.store, path: arguments.store)
    let output = RecordOutput(entities: opened.model.model.entities)
    switch format {
    case .json: try output.writeJSON(entities.tables)
    case .csv: try output.writeFields(try entities.only)
    case .table: try output.writeTables(entities.tables)
    }
  }
}
