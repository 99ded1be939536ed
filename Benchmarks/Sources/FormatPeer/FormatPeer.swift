import ArgumentParser

/// What other libraries do with XML and property lists.
@main
struct FormatPeer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "format-peer",
    abstract: "libxml2's and Foundation's side of the comparison.",
    subcommands: [
      ReadXMLCommand.self, WriteXMLCommand.self, ReadPropertyListCommand.self, WritePropertyListCommand.self,
    ]
  )
}

/// Why a case cannot be measured.
struct PeerError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
