import ArgumentParser

/// Deletes a to-do.
struct RemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "remove", abstract: "Deletes a to-do.")

  @OptionGroup var options: FileOptions
  @Argument(help: "The number of the to-do.")
  var number: Int

  func run() async throws {
    try await options.withList { try await $0.remove(number: number) }
  }
}
