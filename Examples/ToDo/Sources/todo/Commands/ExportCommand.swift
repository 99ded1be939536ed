import ArgumentParser
import Foundation

/// Writes the list as another file.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the list as another file, of the type that its extension tells."
  )

  @OptionGroup var options: FileOptions
  @Flag(help: "Replaces a file that stands there.")
  var force = false
  @Argument(help: "The new file.")
  var destination: String

  func run() async throws {
    try await options.withList { try $0.export(to: URL(filePath: destination), replacing: force) }
  }
}
