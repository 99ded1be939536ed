import ArgumentParser

/// Gives a to-do another place.
struct MoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "move", abstract: "Gives a to-do another place.")

  @OptionGroup var options: FileOptions
  @Argument(help: "The number of the to-do.")
  var number: Int
  @Argument(help: "The number that it is to have.")
  var place: Int

  func run() async throws {
    try await options.withList { try await $0.move(number: number, to: place) }
  }
}
