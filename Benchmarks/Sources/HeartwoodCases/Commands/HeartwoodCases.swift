import ArgumentParser

/// The cases that measure Heartwood inside a process. Each prints one line of JSON.
@main
struct HeartwoodCases: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heartwood-cases",
    abstract: "The cases that measure Heartwood inside a process.",
    subcommands: [
      OpenAndCountCommand.self, ObjectsCommand.self, FaultsCommand.self, InsertCommand.self, SaveCommand.self,
      WriteCommand.self, LoadCommand.self, SaveAsCommand.self, LinkCommand.self, PropertiesCommand.self,
      QueryCommand.self, LiveCommand.self, GapsCommand.self, SaveOneCommand.self, AppendCommand.self,
    ]
  )
}
