import ArgumentParser

/// The cases that measure Heartwood's PostgreSQL store. Each prints one line of JSON.
@main
struct PostgreSQLCases: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "postgresql-cases",
    abstract: "The cases that measure Heartwood's PostgreSQL store.",
    subcommands: [InsertItemsCommand.self, SaveItemCommand.self, RenewItemsCommand.self]
  )
}
