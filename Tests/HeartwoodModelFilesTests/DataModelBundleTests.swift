import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite("Bundles of model versions")
struct DataModelBundleTests {
  private static func list(_ body: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>\(body)</dict>
    </plist>
    """
  }

  private static func current(_ name: String) -> String {
    list("<key>Other</key><string>x</string>\n<key>_XCCurrentVersionName</key>\n<string>\(name)</string>")
  }

  private func write(_ versions: [String], current: String?, in folder: ScratchFolder) throws -> URL {
    for name in versions {
      try folder.write("<model><entity name=\"\(name)\"/></model>", to: "M.xcdatamodeld/\(name).xcdatamodel/contents")
    }
    if let current { try folder.write(current, to: "M.xcdatamodeld/.xccurrentversion") }
    return folder.url.appending(path: "M.xcdatamodeld")
  }

  @Test("The current version is read, or the one that is named")
  func versions() throws {
    let folder = try ScratchFolder()
    let bundle = try write(["B", "A", "C"], current: Self.current("B.xcdatamodel"), in: folder)
    #expect(try DataModelFile.versions(at: bundle) == ["A", "B", "C"])
    #expect(try DataModelFile.currentVersion(at: bundle) == "B")
    #expect(try ManagedObjectModel(contentsOf: bundle).entities.map(\.name) == ["B"])
    #expect(try ManagedObjectModel(contentsOf: bundle, version: "C").entities.map(\.name) == ["C"])
    let file = try DataModelFile(contentsOf: bundle, version: "A.xcdatamodel")
    #expect(file.model.entities.map(\.name) == ["A"])
    #expect(file.url.path.hasSuffix("M.xcdatamodeld/A.xcdatamodel/contents"))
  }

  @Test(
    "The only version needs no list",
    arguments: [nil, list(""), current("A.xcdatamodel"), current("B.xcdatamodel"), ""]
  )
  func onlyVersion(_ list: String?) throws {
    let folder = try ScratchFolder()
    let bundle = try write(["A"], current: list, in: folder)
    #expect(try ManagedObjectModel(contentsOf: bundle).entities.map(\.name) == ["A"])
  }

  @Test("A folder of one model is read, and so is the file in it")
  func oneModel() throws {
    let folder = try ScratchFolder()
    let bundle = try write(["A"], current: nil, in: folder)
    let model = bundle.appending(path: "A.xcdatamodel")
    #expect(try ManagedObjectModel(contentsOf: model, version: "A").entities.map(\.name) == ["A"])
    #expect(try ManagedObjectModel(contentsOf: model.appending(path: "contents")).entities.map(\.name) == ["A"])
    #expect(try DataModelFile.versions(at: model) == ["A"])
  }

  @Test(
    "What is wrong with a bundle is said",
    arguments: [
      (nil, nil, "names no version. Say which one to read: A, B."),
      (nil, "Z", "There is no version “Z”. There are: A, B."),
      (nil, "../A", "There is no version “../A”"),
      (current("Z.xcdatamodel"), nil, "names the version “Z”, which does not exist"),
      (current("../../secret"), nil, "which does not exist"),
      (list("<key>_XCCurrentVersionName</key><integer>1</integer>"), nil, "is not a string"),
      (list("<key>_XCCurrentVersionName</key>"), nil, "a key without a value"),
      ("bplist00\u{0}", nil, "too short"),
      ("<plist><dict>", nil, "neither a binary property list nor one in XML"),
      ("<dict/>", nil, "not a property list with one value"),
      ("<plist><array/></plist>", nil, "not a property list with a dictionary"),
      ("", nil, "neither a binary property list nor one in XML"),
    ] as [(String?, String?, String)]
  )
  func faults(_ list: String?, _ version: String?, _ message: String) throws {
    let folder = try ScratchFolder()
    let bundle = try write(["A", "B"], current: list, in: folder)
    let error = #expect(throws: ModelFileError.self) { try ManagedObjectModel(contentsOf: bundle, version: version) }
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    #expect(error?.file.hasPrefix(bundle.path) == true)
  }

  @Test(
    "What is no model is refused with a reason",
    arguments: [
      ("nothing/here.xcdatamodeld", nil, "no such file"),
      ("Old.xcdatamodel", "elements", "The model cannot be read"),
      ("Empty.xcdatamodeld", "readme.txt", "There is no model here"),
      ("Some.momd", "Some.mom", "The model cannot be read"),
      ("Some.momd/Some.omo", nil, "no such file"),
      ("Other.momd", "Other.omo", "There is no model here"),
    ]
  )
  func noModel(_ path: String, _ file: String?, _ message: String) throws {
    let folder = try ScratchFolder()
    if let file { try folder.write("", to: "\(path)/\(file)") }
    let error = #expect(throws: ModelFileError.self) {
      try ManagedObjectModel(contentsOf: folder.url.appending(path: path))
    }
    #expect(error?.message.contains(message) == true)
    let remote = try #require(URL(string: "https://example.org/M.xcdatamodeld"))
    #expect(throws: ModelFileError.self) { try ManagedObjectModel(contentsOf: remote) }
  }
}
