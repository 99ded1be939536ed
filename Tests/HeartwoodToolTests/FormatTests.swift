import Foundation
import Testing

/// Files of all types by the tool.
@Suite struct FormatTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test(arguments: ["xml", "plist"]) func thereAndBackGivesTheSameBytes(_ type: String) throws {
    #expect(try heartwood("convert", "todo.csv", "todo.\(type)", "--verify").errors == "")
    #expect(try heartwood("verify", "todo.\(type)").text == "ok: 6 records\n")
    #expect(try heartwood("convert", "todo.\(type)", "copy.csv").errors == "")
    #expect(try folder.data("copy.csv") == folder.data("todo.csv"))
    #expect(try heartwood("dump", "todo.\(type)").text == heartwood("dump", "todo.csv").text)
  }

  @Test(arguments: ["xml", "plist", "heartwood"]) func severalEntitiesAreConverted(_ type: String) throws {
    try Library.write(to: folder.path("library.heartwood"))
    let expected = try heartwood("dump", "library.heartwood").text
    for other in ["xml", "plist", "heartwood"] {
      #expect(try heartwood("convert", "library.heartwood", "a.\(type)", "--force").errors == "")
      #expect(try heartwood("convert", "a.\(type)", "b.\(other)", "--force").errors == "")
      #expect(try heartwood("dump", "b.\(other)").text == expected)
    }
  }

  @Test func aFileWithoutAModelIsOpenedWithOneThatIsMadeOfIt() throws {
    let sample = Repository.root.appending(path: "Formats/XML/samples/core-data.xml")
    try FileManager.default.createDirectory(at: folder.path("alone"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: sample, to: folder.path("alone/store.xml"))
    let info = try heartwood("info", "alone/store.xml")
    #expect(info.status == 0)
    #expect(info.text.contains("made of the records"))
    #expect(info.text.contains("ToDo"))
    #expect(try heartwood("convert", "alone/store.xml", "alone/store.heartwood").status == 0)
    let dump = try heartwood("dump", "alone/store.xml").text
    #expect(try heartwood("dump", "alone/store.heartwood").text == dump)
    #expect(dump.split(separator: "\n").count == 4)
  }

  @Test func theContentOfAFileTellsItsType() throws {
    for type in ["xml", "plist"] {
      #expect(try heartwood("convert", "todo.csv", "todo.\(type)").status == 0)
      try FileManager.default.moveItem(at: folder.path("todo.\(type)"), to: folder.path("nameless-\(type)"))
    }
    #expect(try heartwood("info", "nameless-xml", "--json").text.hasPrefix("{\"type\":\"XML\""))
    #expect(try heartwood("info", "nameless-plist", "--json").text.hasPrefix("{\"type\":\"PropertyList\""))
  }
}
