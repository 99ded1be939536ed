import ArgumentParser
import Heartwood
import HeartwoodModelFiles
import HeartwoodFoundation
import HeartwoodStore

struct ModelConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Writes a model in another form: an .xcdatamodeld, an .xcdatamodel, or JSON.",
    discussion: """
      The forms of Xcode keep everything in a file of Xcode, also what a model does not represent, such as the positions \
      of the entities in the editor. A bundle with several versions is not replaced.

      EXAMPLE
        heartwood model convert todo.heartwood ToDo.xcdatamodeld
        heartwood model convert ToDo.xcdatamodeld ToDo.json
      """
  )

  @OptionGroup var arguments: ModelArguments

  @Argument(help: "The file or folder to write. Its extension determines the form.", completion: .file())
  var destination: String

  @Flag(help: "Replace what is there.")
  var force = false

  func run() throws {
    let located = try arguments.load()
    try ModelOutput(destination: destination, replaces: force, source: arguments.model).write(located)
  }
}

// MARK: ModelOutput

/// The file or folder to which a model is written. Its name determines the form.
struct ModelOutput {
  let destination: String
  let replaces: Bool
  /// The file or folder from which the model is read. It is never replaced.
  let source: String

  func write(_ located: LocatedModel) throws {
    let url = URL(argument: destination)
    try checkPlace(url)
    let version = Self.versionName(inBundleAt: url)
    switch url.pathExtension {
    case "json": try write(try located.model.encoded(), to: url)
    case "xcdatamodel": try writeContents(located, to: url)
    case "xcdatamodeld":
      try writeContents(located, to: url.appending(path: version))
      try write(Data(Self.versionList(version).utf8), to: url.appending(path: ".xccurrentversion"))
    default:
      throw ToolError(
        at: destination,
        "The name does not show the form. Give one that ends with .xcdatamodeld, .xcdatamodel or .json."
      )
    }
  }

  /// Refuses to replace the source, a bundle with other versions, or, without `--force`, anything.
  private func checkPlace(_ url: URL) throws {
    let folder = url.deletingLastPathComponent()
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw ToolError(at: destination, "Its folder cannot be found. Create it, or choose another name.")
    }
    guard FileManager.default.fileExists(atPath: destination) else { return }
    guard replaces else {
      throw ToolError(at: destination, "There is a file already. Choose another name, or replace it with --force.")
    }
    try checkIsNotSource(url)
    guard url.pathExtension == "xcdatamodeld" else { return }
    let others = try FileManager.default.contentsOfDirectory(atPath: destination)
      .filter { $0.hasSuffix(".xcdatamodel") && $0 != Self.versionName(inBundleAt: url) }.sorted()
    guard others.isEmpty else {
      throw ToolError(
        at: destination,
        "The bundle has other versions, \(others.joined(separator: ", ")). Choose another name, or write a single "
          + ".xcdatamodel into the bundle."
      )
    }
  }

  /// Refuses a destination that would overwrite the source, also if a link refers to it.
  private func checkIsNotSource(_ url: URL) throws {
    let fileSystem = POSIXFileSystem()
    let version = url.appending(path: Self.versionName(inBundleAt: url))
    let source = try fileSystem.status(atPath: source)
    for place in [url, url.appending(path: "contents"), version, version.appending(path: "contents")] {
      guard let status = try fileSystem.status(atPath: place.path) else { continue }
      try Destination.check(destination, status, isNot: source)
    }
  }

  /// Returns the name of the version in a new bundle, which is the name of the bundle.
  private static func versionName(inBundleAt url: URL) -> String {
    "\(url.deletingPathExtension().lastPathComponent).xcdatamodel"
  }

  private func writeContents(_ located: LocatedModel, to folder: URL) throws {
    let contents = try located.file?.contents() ?? located.model.dataModelContents()
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
