import ArgumentParser
import HeartwoodModel

struct ModelShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints a model as a table, as a diagram, or as JSON.",
    discussion: """
      As mermaid and dot it is a diagram of the entities, their attributes and relationships, for the programs of those names. As \
      json it is the model in the form of Formats/Model.

      EXAMPLE
        heartwood model show ToDo.xcdatamodeld --model-version 'ToDo 2'
        heartwood model show todo.heartwood --format mermaid
      """
  )

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case table, mermaid, dot, json
  }

  @OptionGroup var arguments: ModelArguments

  @Option(help: "The form: \(Format.allCases.map(\.rawValue).joined(separator: ", ")).")
  var format = Format.table

  func run() throws {
    let model = try arguments.load().model
    switch format {
    case .table: try StandardOutput.write(ModelTable(model).text)
    case .mermaid: try StandardOutput.write(ModelDiagram(model).mermaid)
    case .dot: try StandardOutput.write(ModelDiagram(model).dot)
    case .json: try StandardOutput.write(String(decoding: try model.encoded(), as: UTF8.self) + "\n")
    }
  }
}
