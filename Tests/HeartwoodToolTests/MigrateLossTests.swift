import Foundation
import Testing

/// What `migrate` must not drop: records, values, mapping models that lie there, and the form of the file.
@Suite struct MigrateLossTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws { folder = try WorkFolder() }

  private func write(_ text: String, to path: String) throws {
    let parent = folder.path(path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    try folder.write(text, to: path)
  }

  private func writeModel(_ path: String, _ entities: String) throws {
    try write("<model>\(entities)</model>", to: "\(path)/contents")
  }

  private static func entity(_ name: String, _ attributes: String..., id: String? = nil) -> String {
    let renamed = id.map { " elementID=\"\($0)\"" } ?? ""
    return "<entity name=\"\(name)\"\(renamed)>"
      + attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }.joined()
      + "</entity>"
  }

  @Test(arguments: ["heartwood", "sqlite", "plist"])
  func aLossIsRefusedAndAllowed(_ type: String) throws {
    try writeModel("Old.xcdatamodel", Self.entity("Note", "text", "memo"))
    try writeModel("New.xcdatamodel", Self.entity("Note", "text"))
    try write("#D35CF030-1EC1-4667-9666-70C8247A1010\na,b,1\nc,,2\n", to: "notes.csv")
    let store = "notes.\(type)"
    #expect(try heartwood("convert", "notes.csv", store, "--model", "Old.xcdatamodel").status == 0)
    let before = try folder.data(store)
    let line = "heartwood migrate \(store) --to-model New.xcdatamodel"
    let dry = try heartwood.shell("\(line) --dry-run")
    #expect(dry.status == 1)
    #expect(dry.lines.contains("! Note.memo: 1 record with a value that is left out"), "\(dry.text)\(dry.errors)")
    for options in ["", " --output other.\(type)", " --backup"] {
      let refused = try heartwood.shell(line + options)
      #expect(refused.status == 1)
      #expect(refused.errors.contains("Note.memo: 1 record with a value that is left out"), "\(refused.errors)")
      #expect(refused.errors.contains("--allow-loss"))
    }
    #expect(try folder.data(store) == before)
    #expect(!FileManager.default.fileExists(atPath: folder.path("notes.\(type).backup").path))
    #expect(try heartwood.shell("\(line) --dry-run --allow-loss").status == 0)
    let done = try heartwood.shell("\(line) --allow-loss")
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.lines.contains("Note.memo: 1 record with a value that is left out"), "\(done.text)")
    #expect(try heartwood("fetch", store, "Note", "--select", "text").lines.count == 2)
  }

  private static let mapping = """
    <?xml version="1.0"?><database><databaseInfo><version>134481920</version>
    <UUID>6D9C5F52-0000-4000-8000-28A1F65F3F4D</UUID><nextObjectID>106</nextObjectID><metadata><plist version="1.0"><dict>
    <key>NSStoreModelVersionHashes</key><dict><key>XDDevAttributeMapping</key><data>AA==</data><key>XDDevEntityMapping</key>
    <data>AA==</data><key>XDDevMappingModel</key><data>AA==</data></dict></dict></plist></metadata></databaseInfo>
    <object type="XDDEVMAPPINGMODEL" id="z101">
    <attribute name="sourcemodelpath" type="string">Notes.xcdatamodeld/Notes.xcdatamodel</attribute>
    <attribute name="destinationmodelpath" type="string">Notes.xcdatamodeld/Notes 2.xcdatamodel</attribute>
    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z102"></relationship></object>
    <object type="XDDEVENTITYMAPPING" id="z102"><attribute name="sourcename" type="string">Note</attribute>
    <attribute name="destinationname" type="string">Memo</attribute>
    <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z103"></relationship>
    </object><object type="XDDEVATTRIBUTEMAPPING" id="z103"><attribute name="name" type="string">text</attribute>
    <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z102"></relationship></object>
    </database>
    """

  /// The store's own model is of none of the versions, so that the mapping model beside them may be meant for it.
  @Test func aMappingModelOfAVersionThatIsNotThereIsNotPassedOver() throws {
    try writeModel("Old.xcdatamodel", Self.entity("Note", "text"))
    for version in ["Notes 2", "Notes 3"] {
      let entity = version == "Notes 2" ? Self.entity("Memo", "text") : Self.entity("Memo", "text", "title")
      try writeModel("Notes.xcdatamodeld/\(version).xcdatamodel", entity)
    }
    let current =
      "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>Notes 3.xcdatamodel</string></dict></plist>"
    try write(current, to: "Notes.xcdatamodeld/.xccurrentversion")
    try write(Self.mapping, to: "Map.xcmappingmodel/xcmapping.xml")
    try write("#D35CF030-1EC1-4667-9666-70C8247A1010\na,1\n", to: "notes.csv")
    #expect(try heartwood("convert", "notes.csv", "notes.heartwood", "--model", "Old.xcdatamodel").status == 0)
    let line = "heartwood migrate notes.heartwood --to-model Notes.xcdatamodeld"
    for options in ["", " --dry-run", " --allow-loss", " --backup"] {
      let refused = try heartwood.shell(line + options)
      #expect(refused.status == 1)
      #expect(refused.errors.contains("Map.xcmappingmodel"), "\(refused.errors)")
      #expect(refused.errors.contains("the bundle has no version “Notes”"), "\(refused.errors)")
    }
    let given = try heartwood.shell("\(line) --mapping Map.xcmappingmodel --output new.heartwood")
    #expect(given.status == 0, "\(given.errors)")
    #expect(try heartwood("fetch", "new.heartwood", "Memo").lines.count == 1)
    try writeModel("Notes.xcdatamodeld/Notes.xcdatamodel", Self.entity("Note", "text"))
    let done = try heartwood.shell(line)
    #expect(done.status == 0, "\(done.errors)")
    #expect(try heartwood("fetch", "notes.heartwood", "Memo").lines.count == 1)
  }

  @Test func aCSVFileKeepsItsForm() throws {
    try writeModel("N.xcdatamodeld/N.xcdatamodel", Self.entity("Note", "text", "memo"))
    try writeModel("N.xcdatamodeld/N 2.xcdatamodel", Self.entity("Note", "text", "memo", "title"))
    let current =
      "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>N 2.xcdatamodel</string></dict></plist>"
    try write(current, to: "N.xcdatamodeld/.xccurrentversion")
    let (id, row) = ("#D35CF030-1EC1-4667-9666-70C8247A1010", "E899556C-BE1A-42A3-A634-F8411915C001")
    for (old, new) in [
      (
        "\u{FEFF}\(id);;\r\ntext;memo;#\r\n\"a;b,c\";d;\(row)\r\n",
        "\u{FEFF}\(id);;;\r\ntext;memo;title;#\r\n\"a;b,c\";d;;\(row)\r\n"
      ),
      ("\(id)\n\"a\"\t\"b\"\t\"\(row)\"", "\(id)\n\"a\"\t\"b\"\t\t\"\(row)\""),
    ] {
      for options in ["", " --output other.csv --force"] {
        try folder.write(old, to: "notes.csv")
        let outcome = try heartwood.shell("heartwood migrate notes.csv --to-model N.xcdatamodeld" + options)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let made = try folder.data(options.isEmpty ? "notes.csv" : "other.csv")
        #expect(String(decoding: made, as: UTF8.self) == new)
      }
    }
  }

  @Test(arguments: ["<?xml", "bplist00"])
  func aPropertyListKeepsItsKind(_ beginning: String) throws {
    try writeModel("Old.xcdatamodel", Self.entity("Note", "text"))
    try writeModel("New.xcdatamodel", Self.entity("Note", "text", "memo"))
    try write("#D35CF030-1EC1-4667-9666-70C8247A1010\na,1\n", to: "notes.csv")
    #expect(try heartwood("convert", "notes.csv", "notes.plist", "--model", "Old.xcdatamodel").status == 0)
    let list = try PropertyListSerialization.propertyList(from: try folder.data("notes.plist"), format: nil)
    try PropertyListSerialization.data(
      fromPropertyList: list,
      format: beginning == "<?xml" ? .xml : .binary,
      options: 0
    )
    .write(to: folder.path("notes.plist"))
    let outcome = try heartwood("migrate", "notes.plist", "--to-model", "New.xcdatamodel")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try folder.data("notes.plist").starts(with: Data(beginning.utf8)))
    #expect(try heartwood("verify", "notes.plist").text == "ok: 1 record\n")
  }
}
