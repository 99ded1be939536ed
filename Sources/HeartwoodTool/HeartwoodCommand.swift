import ArgumentParser
import HeartwoodModel

/// Runs the command that the arguments ask for, and says how it ended.
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

/// The command `heartwood`, under which all others are.
struct HeartwoodCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heartwood",
    abstract: "Looks into files of records, checks and edits them, and converts one kind into another.",
    discussion: """
      EXAMPLE
        heartwood convert todo.csv todo.heartwood
        heartwood dump todo.heartwood --format table
        heartwood fetch todo.heartwood ToDo --where 'done == NO' --sort memo

      The status is 0, or 1 where something fails or is found, or 64 where the arguments are wrong.
      """,
    version: "0.1.0",
    subcommands: [
      ConvertCommand.self, MigrateCommand.self, InfoCommand.self, DumpCommand.self, FetchCommand.self, EditCommand.self,
      DiffCommand.self, HistoryCommand.self, BrowseCommand.self,
      TypesCommand.self, ModelCommand.self, RecoverModelCommand.self, GenerateCommand.self, VerifyCommand.self,
    ]
  )
}

// MARK: Arguments

/// What is to be known of the arguments before any command reads them.
enum Arguments {
  static func check() throws {
    try checkEncoding()
    try checkHelp()
    try checkCommand()
    try checkDashes()
  }

  /// Refuses a command that is not there, which the parser takes for one argument too many.
  private static func checkCommand() throws {
    guard CommandLine.arguments.dropFirst().first != "help" else { return }
    _ = try command(named: Array(CommandLine.arguments.dropFirst().prefix { !$0.hasPrefix("-") }))
  }

  /// Refuses help for a command that is not there, for which the parser shows that of the command above it.
  private static func checkHelp() throws {
    let names = CommandLine.arguments.dropFirst()
    guard names.first == "help" else { return }
    let path = names.dropFirst().filter { !$0.hasPrefix("-") && $0 != "help" }
    guard try command(named: path).depth < path.count else { return }
    throw unknown(path)
  }

  /// The command that names lead to, and how many of them do: what stands behind the name of one that has no others below it are its arguments.
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

  /// - Parameters:
  ///   - path: the names up to the one that is unknown.
  ///   - names: what there is in its place.
  private static func unknown(_ path: [String], among names: [String] = []) -> ValidationError {
    let parents = Array(path.dropLast())
    let closest = NameSuggestion.closest(to: path.last ?? "", among: names).map { name in
      (parents + [name]).joined(separator: " ")
    }
    let advice = closest.map { "Did you mean \($0)? " } ?? ""
    let list = (["heartwood help"] + (names.isEmpty ? [] : parents)).joined(separator: " ")
    return ValidationError("There is no command “\(path.joined(separator: " "))”. \(advice)\(list) lists them.")
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

// MARK: Dashes

extension Arguments {
  /// Refuses a name of a file that begins with a dash, which the parser takes for options of a letter each: an h among them asks for help.
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

  /// Whether what stands behind an argument is its value.
  private static func takesValue(_ argument: String, _ flags: [String]) -> Bool {
    argument.hasPrefix("--") && !argument.contains("=") && !flags.contains(argument)
  }

  /// The options of a command that take no value. No group of options has any.
  private static func flags(of command: any ParsableCommand.Type) -> [String] {
    Mirror(reflecting: command.init()).children.compactMap { child in
      guard child.value is Flag<Bool>, let label = child.label else { return nil }
      return "--" + label.drop { $0 == "_" }.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
    }
  }

  private static func dashed(_ argument: String) -> ValidationError {
    let isWord = argument.allSatisfy { $0.isLetter || $0 == "-" }
    let advice = isWord ? " An option has two: -\(argument)." : ""
    return ValidationError("\(argument) begins with a dash. Write ./\(argument), or put -- before it.\(advice)")
  }
}
