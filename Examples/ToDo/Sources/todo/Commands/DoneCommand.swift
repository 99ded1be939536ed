import ArgumentParser

/// Notes that a to-do is done, or that it is not.
struct DoneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "done", abstract: "Notes that a to-do is done.")

  @OptionGroup var options: FileOptions
  @Flag(help: "Notes that it is not done after all.")
  var undo = false
  @Argument(help: "The number of the to-do.")
  var number: Int

  func run() async throws {
    try await options.withList { try await $0.setDone(!undo, number: number) }
  }
}
