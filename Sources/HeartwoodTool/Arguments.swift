import ArgumentParser
import HeartwoodModel

/// What is to be known of the arguments before any command reads them.
enum Arguments {
  static func check() throws {
    try checkEncoding()
    try checkHelp()
    try checkCommand()
  }

  /// Refuses a command that is not there, which the parser takes for one argument too many.
  private static func checkCommand() throws {
    guard let name = CommandLine.arguments.dropFirst().first, !name.hasPrefix("-"), name != "help" else { return }
    guard subcommand(name, of: HeartwoodCommand.self) == nil else { return }
    let names = HeartwoodCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
    let advice = NameSuggestion.closest(to: name, among: names).map { "Did you mean \($0)? " } ?? ""
    throw unknown(name, advice)
  }

  private static func subcommand(
    _ name: String,
    of command: any ParsableCommand.Type
  ) -> (any ParsableCommand.Type)? {
    command.configuration.subcommands.first { $0.configuration.commandName == name }
  }

  private static func unknown(_ command: String, _ advice: String = "") -> ValidationError {
    ValidationError("There is no command “\(command)”. \(advice)heartwood help lists them.")
  }

  /// Refuses help for a command that is not there, for which the parser shows that of the command above it.
  private static func checkHelp() throws {
    let names = CommandLine.arguments.dropFirst()
    guard names.first == "help" else { return }
    var command: any ParsableCommand.Type = HeartwoodCommand.self
    for name in names.dropFirst() where !name.hasPrefix("-") && name != "help" {
      guard let next = subcommand(name, of: command) else {
        throw unknown(names.dropFirst().joined(separator: " "))
      }
      command = next
    }
  }

  /// Refuses bytes that are not UTF-8. Swift would put other characters in their place, and so name another file.
  private static func checkEncoding() throws {
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil else { continue }
      throw ValidationError(
        "Argument \(index), “\(String(cString: argument))”, is not UTF-8, so it names no file that can be reached. "
          + "Give the file another name, or a link to it."
      )
    }
  }
}
