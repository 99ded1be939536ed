import ArgumentParser

/// The command `heartwood`, under which all others are.
struct HeartwoodCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heartwood",
    abstract: "Looks into files of records, checks them, and converts one kind into another.",
    discussion: """
      EXAMPLE
        heartwood convert todo.csv todo.heartwood
        heartwood dump todo.heartwood --format table
        heartwood fetch todo.heartwood ToDo --where 'done == NO' --sort memo

      The status is 0, or 1 where something fails or is found, or 64 where the arguments are wrong.
      """,
    version: "0.1.0",
    subcommands: [
      ConvertCommand.self, MigrateCommand.self, InfoCommand.self, DumpCommand.self, FetchCommand.self, DiffCommand.self,
      HistoryCommand.self,
      TypesCommand.self, ModelCommand.self, GenerateCommand.self, VerifyCommand.self,
    ]
  )
}
