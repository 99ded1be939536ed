import Foundation
import Testing

/// The file that a migration begins with.
@Suite struct MigrateSourceTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test(arguments: ["empty.csv", "empty.heartwood", "empty.sqlite"])
  func aFileWithoutAByteIsOfNoVersion(_ name: String) throws {
    try folder.write("", to: name)
    let outcome = try heartwood("migrate", name, "--to-model", "ToDo.xcdatamodeld")
    #expect(outcome.status == 1)
    #expect(outcome.text == "")
    #expect(outcome.errors == "heartwood: error: \(name): The file is empty; there is no store in it.\n")
  }

  @Test func aFolderIsNoFile() throws {
    try FileManager.default.createDirectory(at: folder.path("folder.csv"), withIntermediateDirectories: true)
    let outcome = try heartwood("migrate", "folder.csv", "--to-model", "ToDo.xcdatamodeld")
    #expect(outcome.status == 1)
    #expect(outcome.errors == "heartwood: error: folder.csv: It is not a file.\n")
  }

  @Test func aTildeIsACharacterOfAName() throws {
    try FileManager.default.createDirectory(at: folder.path("~"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: folder.path("ToDo.xcdatamodeld"), to: folder.path("~/ToDo.xcdatamodeld"))
    try FileManager.default.moveItem(at: folder.path("todo.csv"), to: folder.path("~/todo.csv"))
    #expect(try heartwood("dump", "~/todo.csv").lines.count == 6)
    #expect(try heartwood("fetch", "~/todo.csv", "ToDo").lines.count == 6)
    let outcome = try heartwood("migrate", "~/todo.csv", "--to-model", "~/ToDo.xcdatamodeld")
    #expect(outcome.text == "~/todo.csv: The store has this version of the model already.\n", "\(outcome.errors)")
    try folder.write("#D35CF030-1EC1-4667-9666-70C8247A1010\n1, 2\n", to: "~/bad.csv")
    let bad = try heartwood("migrate", "~/bad.csv", "--to-model", "~/ToDo.xcdatamodeld")
    #expect(bad.status == 1)
    #expect(bad.errors.contains("bad.csv:2"), "\(bad.errors)")
  }

  /// Writes the example as a property list with other version hashes than its model's.
  private func writePropertyList(hashes: [String: Data]?) throws {
    #expect(try heartwood("convert", "todo.csv", "todo.plist").status == 0)
    var list = try #require(
      try PropertyListSerialization.propertyList(from: try folder.data("todo.plist"), format: nil) as? [String: Any]
    )
    var metadata = try #require(list["metadata"] as? [String: Any])
    metadata["modelVersionHashes"] = hashes
    list["metadata"] = metadata
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    try data.write(to: folder.path("todo.plist"))
  }

  @Test func aFileOfHashesThatNoModelHasIsConvertedFirst() throws {
    try writePropertyList(hashes: ["ToDo": Data([1])])
    let model = "ToDo.xcdatamodeld/ToDo.xcdatamodel"
    try folder.addVersions()
    let refused = try heartwood("migrate", "todo.plist", "--to-model", "ToDo.xcdatamodeld", "--from-model", model)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("The given model has other version hashes of ToDo."), "\(refused.errors)")
    #expect(refused.errors.contains("Or make a new file with heartwood convert"), "\(refused.errors)")
    let without = try heartwood("migrate", "todo.plist", "--to-model", "ToDo.xcdatamodeld")
    #expect(without.errors.contains("--from-model"), "\(without.errors)")
    #expect(try heartwood("convert", "todo.plist", "copy.plist").status == 0)
    let migrated = try heartwood("migrate", "copy.plist", "--to-model", "ToDo.xcdatamodeld")
    #expect(migrated.text.hasSuffix("copy.plist: migrated, 6 records, 1 step, inferred\n"), "\(migrated.errors)")
  }

  @Test func aFileWithAModelAndNoHashesIsOfThatModel() throws {
    try writePropertyList(hashes: nil)
    let same = try heartwood("migrate", "todo.plist", "--to-model", "ToDo.xcdatamodeld")
    #expect(same.text == "todo.plist: The store has this version of the model already.\n", "\(same.errors)")

    let contents = "ToDo.xcdatamodeld/ToDo.xcdatamodel/contents"
    let model = String(decoding: try folder.data(contents), as: UTF8.self)
    try folder.write(model.replacing("name=\"memo\"", with: "name=\"text\" elementID=\"memo\""), to: contents)
    let outcome = try heartwood("migrate", "todo.plist", "--to-model", "ToDo.xcdatamodeld")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.text.hasSuffix("todo.plist: migrated, 6 records, 1 step, inferred\n"))
    #expect(try heartwood("fetch", "todo.plist", "ToDo", "--where", "text != nil").lines.count == 6)
  }
}
