import ArgumentParser

/// GRDB's side of the comparison.
@main
struct GRDBPeer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grdb-peer",
    abstract: "GRDB's side of the comparison.",
    subcommands: [
      CreateCommand.self, InsertCommand.self, UpdateCommand.self, CountCommand.self, ObjectsCommand.self,
      LinkCommand.self, QueryCommand.self, SaveOneCommand.self, CreateListsCommand.self, JoinCommand.self,
      VersionCommand.self,
    ]
  )
}
