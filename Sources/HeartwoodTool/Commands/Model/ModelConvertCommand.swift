import ArgumentParser
import Heartwood
import HeartwoodFormats
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct ModelConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Writes a model in another form: an .xcdatamodeld, an .xcdatamodel, or JSON.",
    discussion: """
      What a file of Xcode's says that a model has no place for, such as where the editor draws the entities, is kept in the \
      forms of Xcode's.

      EXAMPLE
        heartwood model convert todo.heartwood ToDo.xcdatamodeld
        heartwood model convert ToDo.xcdatamodeld ToDo.json
      """
  )

  @OptionGroup var arguments: ModelArguments

  @Argument(help: "The file or folder to write, whose name tells the form.", completion: .file())
  var destination: String

  @Flag(help: "Replace what is there.")
  var force = false

  func run() throws {
    let located = try arguments.load()
    let url = URL(filePath: destination)
    if FileManager.default.fileExists(atPath: destination) {
      guard force else {
        throw ToolError("\(destination): There is a file already. Choose another name, or replace it with --force.")
      }
    }
    let name = url.deletingPathExtension().lastPathComponent
    switch url.pathExtension {
    case "json": try write(try located.model.encoded(), to: url)
    case "xcdatamodel": try writeContents(located, to: url)
    case "xcdatamodeld":
      try writeContents(located, to: url.appending(path: "\(name).xcdatamodel"))
      try write(Data(Self.versionList("\(name).xcdatamodel").utf8), to: url.appending(path: ".xccurrentversion"))
    default:
      throw ToolError(
        "\(destination): The name tells no form. Give one that ends with .xcdatamodeld, .xcdatamodel or .json."
      )
    }
  }

  private func writeContents(_ located: LocatedModel, to folder: URL) throws {
    let contents = located.file?.contents() ?? located.model.dataModelContents()
    try write(contents, to: folder.appending(path: "contents"))
  }

  private func write(_ data: Data, to url: URL) throws {
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: url, options: .atomic)
  }

  private static func versionList(_ name: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
    \t<key>_XCCurrentVersionName</key>
    \t<string>\(name.replacing("&", with: "&amp;").replacing("<", with: "&lt;"))</string>
    </dict>
    </plist>

    """
  }
}
