import ArgumentParser

/// Shows the to-dos.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "Shows what is to be done.")

  @OptionGroup var options: FileOptions
  @Flag(help: "Whether what is done is shown too.")
  var all = false

  func run() async throws {
    for line in try await options.withList({ try await $0.lines(includingDone: all) }) { print(line) }
  }
}
