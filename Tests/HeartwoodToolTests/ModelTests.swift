import Foundation
import Testing

/// Where the tool finds the model.
@Suite struct ModelTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  private func copyModel(to name: String) throws {
    try FileManager.default.copyItem(at: folder.path("ToDo.xcdatamodeld"), to: folder.path(name))
  }

  @Test func theOnlyBundleBesideIsTaken() throws {
    try FileManager.default.moveItem(at: folder.path("ToDo.xcdatamodeld"), to: folder.path("Other.xcdatamodeld"))
    #expect(try heartwood("info", "todo.csv").text.contains("Other.xcdatamodeld"))
  }

  @Test func theNamesakeBesideIsPreferred() throws {
    try copyModel(to: "Other.xcdatamodeld")
    #expect(try heartwood("info", "todo.csv").text.contains("ToDo.xcdatamodeld"))
  }

  /// A name may have dots before that of its extension.
  @Test func theNamesakeOfTheWholeNameIsPreferred() throws {
    try FileManager.default.moveItem(at: folder.path("todo.csv"), to: folder.path("My.Todo.csv"))
    try copyModel(to: "Other.xcdatamodeld")
    try copyModel(to: "My.xcdatamodeld")
    #expect(try heartwood("info", "My.Todo.csv").text.contains("My.xcdatamodeld"))
    try copyModel(to: "My.ToDo.xcdatamodeld")
    #expect(try heartwood("info", "My.Todo.csv").text.contains("My.ToDo.xcdatamodeld"))
    try FileManager.default.removeItem(at: folder.path("My.xcdatamodeld"))
    #expect(try heartwood("info", "My.Todo.csv").text.contains("My.ToDo.xcdatamodeld"))
  }

  @Test func withoutACurrentVersionTheNewestIsTaken() throws {
    let bundle = folder.path("ToDo.xcdatamodeld")
    let only = try #require(
      try FileManager.default.contentsOfDirectory(atPath: bundle.path).first { $0.hasSuffix(".xcdatamodel") }
    )
    for name in ["V 2.xcdatamodel", "V 10.xcdatamodel"] {
      try FileManager.default.copyItem(at: bundle.appending(path: only), to: bundle.appending(path: name))
    }
    let list = bundle.appending(path: ".xccurrentversion")
    if FileManager.default.fileExists(atPath: list.path) { try FileManager.default.removeItem(at: list) }
    let hash = try heartwood("model", "hash", "ToDo.xcdatamodeld")
    #expect(hash.status == 0, "\(hash.errors)")
    #expect(hash.errors.contains("names no version"), "\(hash.errors)")
    #expect(hash.errors.contains("The newest version was read, which is V 10."), "\(hash.errors)")
    #expect(try heartwood("info", "todo.csv").status == 0)
  }

  @Test func membersOfAJSONModelThatAreNotKnownAreNoted() throws {
    let text =
      #"{"format":1,"entities":[{"name":"A","properties":[{"kind":"attribute","name":"t","type":"string","isOptional":true}]}]}"#
    try Data(text.utf8).write(to: folder.path("m.json"))
    let outcome = try heartwood("model", "hash", "m.json")
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("m.json: entities[0 “A”].properties[0 “t”].isOptional is not a member"))
  }

  @Test func severalBesideAreListed() throws {
    try copyModel(to: "A.xcdatamodeld")
    try FileManager.default.moveItem(at: folder.path("ToDo.xcdatamodeld"), to: folder.path("B.xcdatamodeld"))
    let outcome = try heartwood("dump", "todo.csv")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("A.xcdatamodeld, B.xcdatamodeld"))
    #expect(outcome.errors.contains("--model"))
  }

  @Test func aModelWithMoreEntitiesThanTheFileIsNotItsOwn() throws {
    try Library.write(to: folder.path("library.heartwood"))
    for command in [["info", "todo.csv"], ["dump", "todo.csv", "--entity", "Book", "--format", "csv"]] {
      let outcome = try heartwood(command + ["--model", "library.heartwood"])
      #expect(outcome.status == 1)
      #expect(
        outcome.errors.contains(
          "The model does not belong to this file: give the file's own with --model. (model library.heartwood)"
        ),
        "\(outcome.errors)"
      )
    }
  }

  @Test func noneBesideIsAnErrorThatSaysWhatToDo() throws {
    try FileManager.default.removeItem(at: folder.path("ToDo.xcdatamodeld"))
    let outcome = try heartwood("info", "todo.csv", "--json")
    #expect(outcome.status == 1)
    #expect(outcome.text == "")
    #expect(outcome.errors.hasPrefix("heartwood: error: todo.csv: "))
    #expect(outcome.errors.contains("--model"))
  }

  @Test(arguments: [
    "models/M.xcdatamodeld", "models/M.xcdatamodeld/ToDo.xcdatamodel", "todo.heartwood", "todo.xml",
    "todo.plist", "xml.plist", "model.json",
  ])
  func modelsCanBeGiven(_ path: String) throws {
    let dump = try heartwood("dump", "todo.csv").text
    for name in ["todo.heartwood", "todo.xml", "todo.plist"] {
      #expect(try heartwood("convert", "todo.csv", name).status == 0)
    }
    let list = try PropertyListSerialization.propertyList(from: try folder.data("todo.plist"), format: nil)
    let text = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    let body = String(decoding: text, as: UTF8.self).drop { $0 != "\n" }
    try folder.write("<?xml version=\"1.0\"?>\n<!-- a <model> -->\n\(body)", to: "xml.plist")
    try FileManager.default.createDirectory(at: folder.path("models"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: folder.path("ToDo.xcdatamodeld"), to: folder.path("models/M.xcdatamodeld"))
    try Data(Self.jsonModel.utf8).write(to: folder.path("model.json"))
    let outcome = try heartwood("dump", "todo.csv", "--model", path)
    #expect(outcome.errors == "")
    #expect(outcome.text == dump)
  }

  @Test(arguments: ["ToDo.xcdatamodeld", "ToDo.xcdatamodeld/"])
  func aGivenBundleIsTakenInTheVersionThatTheFileFits(_ model: String) throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    let dump = try heartwood("dump", "todo.csv").text
    try folder.addVersions()
    for name in ["todo.csv", "todo.heartwood"] {
      let outcome = try heartwood("dump", name, "--model", model)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.text == dump)
      let newer = try heartwood("dump", name, "--model", "ToDo.xcdatamodeld/ToDo 2.xcdatamodel")
      #expect(newer.status == 1)
      #expect(newer.text == "")
    }
  }

  private static let jsonModel = """
    {"format": 1, "entities": [{"name": "ToDo", "properties": [
      {"kind": "attribute", "name": "done", "type": "boolean", "default": "false"},
      {"kind": "attribute", "name": "memo", "type": "string", "optional": true},
      {"kind": "attribute", "name": "sortOrder", "type": "integer32", "default": "0"},
      {"kind": "attribute", "name": "creationDate", "type": "date", "optional": true}]}]}
    """

  @Test(arguments: ["nix.json", "todo.csv", "broken.json", "."])
  func whatIsNoModelIsRefused(_ path: String) throws {
    try folder.write("{\"format\":1}", to: "broken.json")
    let outcome = try heartwood("dump", "todo.csv", "--model", path)
    #expect(outcome.status == 1)
    #expect(outcome.text == "")
    #expect(outcome.errors.hasPrefix("heartwood: error: "))
  }

  @Test(arguments: [
    ("", "It is not JSON"), ("[]", "It is not a JSON object."), ("{}", "It has no format."),
    ("{\"format\":1}", "It has no entities."),
    ("{\"format\":9,\"entities\":[]}", "format: The model is of format 9"),
    ("{\"format\":1,\"entities\":[{\"name\":3}]}", "entities[0].name has the wrong type."),
    (
      jsonModel.replacing("\"boolean\"", with: "\"colour\""),
      "entities[0].properties[0].type: It is not a known name."
    ),
    (jsonModel.replacing("\"memo\"", with: "\"done\""), "The model has a fault:"),
  ])
  func aModelThatCannotBeReadIsToldWithItsFileAndPlace(_ text: String, _ reason: String) throws {
    try folder.write(text, to: "model.json")
    let outcome = try heartwood("model", "show", "model.json")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("heartwood: error: model.json: The model"), "\(outcome.errors)")
    #expect(outcome.errors.contains(reason), "\(outcome.errors)")
    #expect(!outcome.errors.contains("DecodingError") && !outcome.errors.contains("CodingKeys"))
  }

  @Test func aModelThatTheSystemDoesNotGiveIsToldInItsWords() throws {
    let contents = folder.path("Bad.xcdatamodel/contents")
    try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
    let outcome = try heartwood("model", "show", "Bad.xcdatamodel")
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.contains("Check that it exists, and its permissions. (Is a directory)"),
      "\(outcome.errors)"
    )
  }

  @Test(arguments: ["model show pipe", "dump todo.csv --model pipe", "generate pipe --output out"])
  func aPipeIsNoModel(_ arguments: String) throws {
    let outcome = try heartwood.shell("mkfifo pipe; heartwood \(arguments)")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("pipe: This is neither a file nor a folder."), "\(outcome.errors)")
    #expect(!outcome.errors.contains("ermission"), "\(outcome.errors)")
  }

  @Test func aModelInAStoreThatCannotBeReadIsToldWithTheFile() throws {
    let corrupt = Repository.root.appending(path: "Formats/PropertyList/samples/corrupt/boolean-for-text.plist")
    try FileManager.default.copyItem(at: corrupt, to: folder.path("bad.plist"))
    for command in ["verify", "dump", "model show"] {
      let outcome = try heartwood.shell("heartwood \(command) bad.plist")
      #expect(outcome.status == 1)
      #expect(
        outcome.errors.hasPrefix("heartwood: error: bad.plist: The model, which must be JSON, cannot be read: "),
        "\(outcome.errors)"
      )
    }
    let model = "{\"format\":1,\"entities\":[{\"name\":\"Thing\",\"properties\":[\(Self.thing)]}]}"
    try folder.write(model, to: "thing.json")
    let given = try heartwood("verify", "bad.plist", "--model", "thing.json")
    #expect(given.errors.contains("at byte 154"), "\(given.errors)")
  }

  private static let thing = """
    {"kind": "attribute", "name": "name", "type": "string", "optional": true},
    {"kind": "attribute", "name": "size", "type": "integer16", "optional": true},
    {"kind": "relationship", "name": "next", "destination": "Thing", "optional": true},
    {"kind": "relationship", "name": "others", "destination": "Thing", "optional": true, "toMany": true}
    """

  @Test(arguments: ["dump owners.xml", "info owners.xml", "fetch owners.xml A", "verify owners.xml"])
  func aModelThatWasMadeOfTheRecordsIsTold(_ arguments: String) throws {
    try FileManager.default.removeItem(at: folder.path("ToDo.xcdatamodeld"))
    try folder.write(CoreDataXML.oneOwner, to: "owners.xml")
    let outcome = try heartwood.shell("heartwood \(arguments)")
    #expect(outcome.status == 0)
    #expect(outcome.errors.hasPrefix("heartwood: note: owners.xml: The file holds no model"), "\(outcome.errors)")
  }

  @Test(arguments: ["dump owners.xml", "info owners.xml", "fetch owners.xml A", "verify owners.xml"])
  func aBundleThatIsNotTheFilesDoesNotHideWhatTheFileTells(_ arguments: String) throws {
    try folder.addVersions()
    try folder.write(CoreDataXML.oneOwner, to: "owners.xml")
    let outcome = try heartwood.shell("heartwood \(arguments)")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let note = "owners.xml: The file holds no model, and was not written with that of ./ToDo.xcdatamodeld"
    #expect(outcome.errors.hasPrefix("heartwood: note: \(note)"), "\(outcome.errors)")
    let given = try heartwood.shell("heartwood \(arguments) --model ToDo.xcdatamodeld")
    #expect(given.status == 1)
    #expect(given.text == "")
  }

  @Test func aModelThatWasOnlyFoundIsNamedInTheError() throws {
    try folder.write("#D35CF030-1EC1-4667-9666-70C8247A1010\n1, 2\n", to: "other.csv")
    let outcome = try heartwood("info", "other.csv")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("heartwood: error: other.csv:2:"), "\(outcome.errors)")
    #expect(outcome.errors.contains("read with the model ./ToDo.xcdatamodeld)"), "\(outcome.errors)")
  }

  @Test func theModelInAFileIsItsOwnWhateverTheHashesAre() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.plist").status == 0)
    var list = try #require(
      try PropertyListSerialization.propertyList(from: try folder.data("todo.plist"), format: nil) as? [String: Any]
    )
    var metadata = try #require(list["metadata"] as? [String: Any])
    metadata["modelVersionHashes"] = ["ToDo": Data([1])]
    list["metadata"] = metadata
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    try data.write(to: folder.path("todo.plist"))
    #expect(try heartwood("info", "todo.plist").status == 0)
    #expect(try heartwood("dump", "todo.plist").text == (try heartwood("dump", "todo.csv").text))
    #expect(try heartwood("dump", "todo.plist", "--model", "ToDo.xcdatamodeld").status == 1)
  }

  @Test func anotherModelThanTheFilesIsRefused() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    try Library.write(to: folder.path("library.heartwood"))
    let outcome = try heartwood("dump", "todo.heartwood", "--model", "library.heartwood")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("another version of the model"))
  }
}
