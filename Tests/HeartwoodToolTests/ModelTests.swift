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

  @Test func severalBesideAreListed() throws {
    try copyModel(to: "A.xcdatamodeld")
    try FileManager.default.moveItem(at: folder.path("ToDo.xcdatamodeld"), to: folder.path("B.xcdatamodeld"))
    let outcome = try heartwood("dump", "todo.csv")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("A.xcdatamodeld, B.xcdatamodeld"))
    #expect(outcome.errors.contains("--model"))
  }

  @Test func noneBesideIsAnErrorThatSaysWhatToDo() throws {
    try FileManager.default.removeItem(at: folder.path("ToDo.xcdatamodeld"))
    let outcome = try heartwood("info", "todo.csv", "--json")
    #expect(outcome.status == 1)
    #expect(outcome.text == "")
    #expect(outcome.errors.hasPrefix("heartwood: error: todo.csv: "))
    #expect(outcome.errors.contains("--model"))
  }

  @Test(arguments: ["models/M.xcdatamodeld", "models/M.xcdatamodeld/ToDo.xcdatamodel", "todo.heartwood", "model.json"])
  func modelsCanBeGiven(_ path: String) throws {
    let dump = try heartwood("dump", "todo.csv").text
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    try FileManager.default.createDirectory(at: folder.path("models"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: folder.path("ToDo.xcdatamodeld"), to: folder.path("models/M.xcdatamodeld"))
    try Data(Self.jsonModel.utf8).write(to: folder.path("model.json"))
    let outcome = try heartwood("dump", "todo.csv", "--model", path)
    #expect(outcome.errors == "")
    #expect(outcome.text == dump)
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

  @Test func anotherModelThanTheFilesIsRefused() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    try Library.write(to: folder.path("library.heartwood"))
    let outcome = try heartwood("dump", "todo.heartwood", "--model", "library.heartwood")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("another version of the model"))
  }
}
