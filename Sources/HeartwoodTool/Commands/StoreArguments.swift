import ArgumentParser

/// The arguments of a command that reads one store.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The file of the store.", completion: .file())
  var store: String

  @Option(help: ModelLocator.help, completion: .file())
  var model: String?

  @Option(help: "The type of the store, where the name and the content of the file do not tell; see heartwood types.")
  var type: String?

  func validate() throws {
    try TypeName.check(type, "--type")
  }

  var source: StoreSource {
    StoreSource(path: store, typeName: type, modelPath: model)
  }
}
