import Foundation
import HeartwoodModelFiles
import HeartwoodGeneration

/// The program that the plugin runs: `HeartwoodGenerate MODEL FILE` writes one file with the classes of a model.
/// `heartwood generate` has more options, but takes longer to build.
@main enum HeartwoodGenerate {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard let model = arguments.first, let output = arguments.last, arguments.count == 2 else {
      stop(with: "Give a model and a file to write. This is for the plugin HeartwoodClasses: use heartwood generate.")
    }
    do {
      try generate(URL(filePath: model), to: URL(filePath: output))
    } catch {
      stop(with: "\(error)")
    }
  }

  private static func generate(_ url: URL, to output: URL) throws {
    let file = try DataModelFile(contentsOf: url)
    for note in file.notes { write("\(url.path): warning: \(note)") }
    var options = GenerationOptions()
    options.hasHumanFiles = false
    options.scalarAttributes = file.scalarAttributes
    let name = url.deletingPathExtension().lastPathComponent
    let generator = CodeGenerator(file.model, named: name, options: options)
    let contents = try generator.file(named: output.lastPathComponent).contents
    try Data(contents.utf8).write(to: output, options: .atomic)
  }

  private static func stop(with message: String) -> Never {
    write(message)
    exit(1)
  }

  private static func write(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
