import ArgumentParser
import Heartwood

struct TypesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "types",
    abstract: "Lists the types of stores: the names of their files and what they can do.",
    discussion: """
      EXAMPLE
        heartwood types --json
      """
  )

  @Flag(help: "Print one JSON list.")
  var json = false

  func run() throws {
    let report = TypesReport(StoreRegistry.tool.typeDescriptions)
    try StandardOutput.write(json ? report.json.line : report.text)
  }
}
