import ArgumentParser
import Heartwood
import HeartwoodRecordText
import HeartwoodStore

/// The arguments of a command that reads one store.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The store: a file, or the URL of a store that is not a file.", completion: .file())
  var store: String

  @Option(help: ModelLocator.help, completion: .file())
  var model: String?

  @Option(help: "The type of the store, if the name and the content of the file do not show it; see heartwood types.")
  var type: String?

  func validate() throws {
    try TypeName.check(type, "--type")
  }

  var source: StoreSource {
    StoreSource(path: store, typeName: type, modelPath: model)
  }
}

// MARK: TypeName

/// The names of store types in arguments.
enum TypeName {
  /// Refuses an unknown type. Nil stands for no type.
  static func check(_ name: String?, _ option: String) throws {
    guard let name else { return }
    do {
      _ = try StoreRegistry.tool.format(for: StoreType(name))
    } catch {
      throw ValidationError("\(option): \(DisplayText.safe(error.message))")
    }
  }
}

// MARK: ModelArguments

/// The arguments of a command that reads one model.
struct ModelArguments: ParsableArguments {
  @Argument(help: "The model, or a store that holds one.", completion: .file())
  var model: String

  @Option(help: "The version of the model in a bundle. By default, the current one.")
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
