import ArgumentParser
import Foundation

/// Which file a command is about.
struct FileOptions: ParsableArguments {
  @Option(name: .shortAndLong, help: "The file of the list. Its extension tells its type.")
  var file: String?

  /// Opens the list for as long as `body` runs.
  func withList<Result>(_ body: (ToDoList) async throws -> Result) async throws -> Result {
    let list = try await ToDoList.open(file.map { URL(filePath: $0) })
    defer { list.container.close() }
    return try await body(list)
  }
}
