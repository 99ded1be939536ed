import ArgumentParser
import Heartwood
import HeartwoodStore

/// The arguments of a command that reads one model.
struct ModelArguments: ParsableArguments {
  @Argument(help: "The model, or a store that holds one.", completion: .file())
  var model: String

  @Option(help: "The version of the model in a bundle; without it, the current one.")
  var modelVersion: String?

  func load() throws -> LocatedModel {
    let located = try Self.load(model, version: modelVersion)
    located.tellNotes()
    return located
  }

  static func load(_ path: String, version: String?) throws -> LocatedModel {
    try ModelLocator(registry: .tool, fileSystem: POSIXFileSystem()).model(at: path, version: version)
  }
}
