import ArgumentParser

/// The command `todo`, under which all others are.
@main struct ToDoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "todo",
    abstract: "Keeps a list of what is to be done.",
    discussion: """
      The list is in a file of the user, or in the one that --file names. Its extension tells its type: .heartwood, .csv, .xml, .plist or \
      .sqlite.
      """,
    subcommands: [
      AddCommand.self, ListCommand.self, DoneCommand.self, MoveCommand.self, RemoveCommand.self, ExportCommand.self,
    ],
    defaultSubcommand: ListCommand.self
  )
}
