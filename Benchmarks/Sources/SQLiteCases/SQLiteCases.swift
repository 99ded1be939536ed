import ArgumentParser

/// The cases that measure Heartwood's SQLite store. Each prints one line of JSON.
@main
struct SQLiteCases: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sqlite-cases",
    abstract: "The cases that measure Heartwood's SQLite store.",
    subcommands: [
      InsertItemsCommand.self, InsertListsCommand.self, ReadItemsCommand.self, SaveItemCommand.self,
      FilterItemsCommand.self, PrefetchCommand.self, MigrateItemsCommand.self, UpdateItemsCommand.self,
      WalkItemsCommand.self, RenewItemsCommand.self, TurnsCommand.self, TurnsPartnerCommand.self,
      PinCommand.self,
    ]
  )
}
