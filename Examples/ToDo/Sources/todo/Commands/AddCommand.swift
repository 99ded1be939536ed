import ArgumentParser
import Foundation

/// Adds a to-do.
struct AddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "add", abstract: "Adds a to-do as the last.")

  @OptionGroup var options: FileOptions
  @Option(help: "The day on which it is due, as in 2026-12-24.", transform: day)
  var due: Date?
  @Option(help: "How much it matters.")
  var priority = Priority.normal
  @Argument(help: "What is to be done.")
  var memo: String

  func run() async throws {
    try await options.withList { try await $0.add(memo, due: due, priority: priority) }
  }

  private static func day(_ text: String) throws -> Date {
    try Date(text, strategy: .iso8601.year().month().day())
  }
}
