import ArgumentParser
import HeartwoodModel

/// Runs the command in the arguments, and ends with its status.
@main enum Main {
  static func main() {
    StandardOutput.prepare()
    do {
      try Arguments.check()
      var command = try HeartwoodCommand.parseAsRoot()
      try command.run()
      OpenedStores.close()
    } catch {
      OpenedStores.close()
      Failure(error).exit()
    }
  }
}

// MARK: HeartwoodCommand

/// The command `heartwood`, which has all other commands as subcommands.
struct HeartwoodCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heartwood",
    abstract: "Reads, checks and edits stores of records, and converts them to other types.",
    discussion: """
      EXAMPLE
        heartwood convert todo.csv todo.heartwood
        heartwood dump todo.heartwood --format table
        heartwood fetch todo.heartwood ToDo --where 'done == NO' --sort memo

      The status is 0, or 1 if something fails or is found, or 64 if the arguments are wrong.
      """,
    version: "0.1.0",
    subcommands: [
      ConvertCommand.self, ImportCommand.self, MigrateCommand.self, InfoCommand.self, DumpCommand.self,
      FetchCommand.self, EditCommand.self,
      DiffCommand.self, HistoryCommand.self, BrowseCommand.self,
      TypesCommand.self, ModelCommand.self, RecoverModelCommand.self, GenerateCommand.self, VerifyCommand.self,
      CompactCommand.self,
    ]
  )
}

// MARK: Arguments

/// Checks of the arguments before a command parses them.
enum Arguments {
  static func check() throws {
    try checkEncoding()
    try checkHelp()
    try checkCommand()
    try checkDashes()
  }

  /// Refuses an unknown command, for which the parser would report an unexpected argument.
  private static func checkCommand() throws {
    guard CommandLine.arguments.dropFirst().first != "help" else { return }
    _ = try command(named: Array(CommandLine.arguments.dropFirst().prefix { !$0.hasPrefix("-") }))
  }

  /// Refuses help for an unknown command, for which the parser would show the help of its parent.
  private static func checkHelp() throws {
    let names = CommandLine.arguments.dropFirst()
    guard names.first == "help" else { return }
    let path = names.dropFirst().filter { !$0.hasPrefix("-") && $0 != "help" }
    guard try command(named: path).depth < path.count else { return }
    throw unknown(path)
  }

  /// Returns the command with these names, and how many of the names belong to it. The names after a command without
  /// subcommands are its arguments.
  private static func command(named names: [String]) throws -> (type: any ParsableCommand.Type, depth: Int) {
    var command: any ParsableCommand.Type = HeartwoodCommand.self
    for (depth, name) in names.enumerated() {
      let subcommands = command.configuration.subcommands
      guard !subcommands.isEmpty else { return (command, depth) }
      guard let next = subcommands.first(where: { $0.configuration.commandName == name }) else {
        throw unknown(Array(names[...depth]), among: subcommands.compactMap { $0.configuration.commandName })
      }
      command = next
    }
    return (command, names.count)
  }

  /// Returns the error for an unknown command.
  ///
  /// - Parameters:
  ///   - path: the names up to the unknown one.
  ///   - names: the known names in its place.
  private static func unknown(_ path: [String], among names: [String] = []) -> ValidationError {
    let parents = Array(path.dropLast())
    let closest = NameSuggestion.closest(to: path.last ?? "", among: names).map { name in
      (parents + [name]).joined(separator: " ")
    }
    let advice = closest.map { "Did you mean \($0)? " } ?? ""
    let list = (["heartwood help"] + (names.isEmpty ? [] : parents)).joined(separator: " ")
    return ValidationError("There is no command “\(path.joined(separator: " "))”. \(advice)\(list) lists them.")
  }

  /// Refuses arguments that are not UTF-8. Swift would replace bytes, and so refer to another file.
  private static func checkEncoding() throws {
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil else { continue }
      throw ValidationError(
        "Argument \(index), “\(String(cString: argument))”, is not UTF-8, so no file can be found by it. "
          + "Give the file another name, or a link to it."
      )
    }
  }
}

// MARK: Dashes

extension Arguments {
  /// Refuses a file name that begins with a dash, which the parser takes for single-letter options. An h among them
  /// would print the help.
  private static func checkDashes() throws {
    let arguments = Array(CommandLine.arguments.dropFirst().prefix { $0 != "--" })
    let names = Array(arguments.prefix { !$0.hasPrefix("-") })
    // “help” has no options of its own.
    guard names.first != "help" else { return }
    let flags = flags(of: try command(named: names).type)
    for (index, argument) in arguments.enumerated() where argument.hasPrefix("-") && !argument.hasPrefix("--") {
      let isValue = index > 0 && takesValue(arguments[index - 1], flags)
      if argument.count > 2, !isValue { throw dashed(argument) }
    }
  }

  /// Returns whether the next argument is the value of an option.
  private static func takesValue(_ argument: String, _ flags: [String]) -> Bool {
    argument.hasPrefix("--") && !argument.contains("=") && !flags.contains(argument)
  }

  /// Returns the options of a command that have no value. Option groups have none of these.
  private static func flags(of command: any ParsableCommand.Type) -> [String] {
    Mirror(reflecting: command.init()).children.compactMap { child in
      guard child.value is Flag<Bool>, let label = child.label else { return nil }
      return "--" + label.drop { $0 == "_" }.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
    }
  }

  private static func dashed(_ argument: String) -> ValidationError {
    let isWord = argument.allSatisfy { $0.isLetter || $0 == "-" }
    let advice = isWord ? " Options have two dashes: -\(argument)." : ""
    return ValidationError("\(argument) begins with a dash. Write ./\(argument), or put -- before it.\(advice)")
  }
}
