import ArgumentParser

struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Tells what a store is: its type, identifier, size, entities and metadata.",
    discussion: """
      With --json it prints one object with the members type, identifier, formatVersion, size (in bytes, with the \
      write-ahead log and the folder of large data beside an SQLite file), entities (a list of objects with name and count), history \
      (null, or an object with transactions, purged and last), foreignTransactions (how many Core Data's own history in an SQLite file \
      has, which is not read) and metadata.

      EXAMPLE
        heartwood info todo.heartwood --json
      """
  )

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let opened = try arguments.source.open()
    opened.model.tellNotes()
    let report = try StoreReport(opened)
    try StandardOutput.write(json ? report.json.line : report.text)
  }
}
