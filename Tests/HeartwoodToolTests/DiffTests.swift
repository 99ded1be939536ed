import Foundation
import Testing

@Suite struct DiffTests {
  private static let identifier = "#D35CF030-1EC1-4667-9666-70C8247A1010\n"
  private static let ids = [
    "E899556C-BE1A-42A3-A634-F8411915C05F", "569485BA-A1E2-4E5B-88B5-6D5DB2C8AB8F",
    "803054FC-C497-4DD7-A078-CF592B994EB4",
  ]

  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  /// Writes a ToDo file of lines without their references, which get the `ids`.
  private func write(_ lines: [String], ids: [String] = Self.ids, to name: String) throws {
    try folder.write(Self.identifier + zip(lines, ids).map { "\($0), \($1)\n" }.joined(), to: name)
  }

  @Test func aConvertedStoreDoesNotDiffer() throws {
    _ = try heartwood("convert", "todo.csv", "todo.heartwood")
    let outcome = try heartwood("diff", "todo.csv", "todo.heartwood")
    #expect(outcome.status == 0)
    #expect(outcome.text == "no differences\n")
    #expect(outcome.errors == "")
  }

  @Test func removedAddedAndChangedRecordsAreShown() throws {
    let date = "2016-09-17 18:15:00 +0000"
    try write(["1, a, 1, \(date)", "0, b, 2, \(date)"], to: "first.csv")
    try write(["0, , 3, \(date)", "1, a, 1, \(date)"], ids: [Self.ids[1], Self.ids[2]], to: "second.csv")
    let outcome = try heartwood("diff", "first.csv", "second.csv")
    #expect(outcome.status == 1)
    #expect(
      outcome.text == """
        - ToDo \(Self.ids[0])
        ~ ToDo \(Self.ids[1])
            memo: "b" → null
            sortOrder: 2 → 3
        + ToDo \(Self.ids[2])
        1 record only in the first, 1 record only in the second, 1 record with other values

        """
    )
    let json = try heartwood("diff", "first.csv", "second.csv", "--json")
    #expect(json.status == 1)
    let changes = try json.jsonLines()
    #expect(changes.map { $0["change"] as? String } == ["removed", "changed", "added"])
    #expect(changes.map { $0["id"] as? String } == Self.ids)
    let values = try #require(changes[1]["values"] as? [String: [String: Any]])
    #expect(values.keys.sorted() == ["memo", "sortOrder"])
    #expect(values["sortOrder"]?["second"] as? Int == 3)
    #expect(values["memo"]?["second"] is NSNull)
  }

  @Test func recordsAreMatchedByValue() throws {
    let date = "2016-09-17 18:15:00 +0000"
    try write(["1, a, 1, \(date)", "0, b, 2, \(date)", "0, b, 2, \(date)"], to: "first.csv")
    let others = ["11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"]
    try write(["0, b, 2, \(date)", "1, a, 5, \(date)"], ids: others, to: "second.csv")
    let byReference = try heartwood("diff", "first.csv", "second.csv")
    #expect(byReference.lines.last == "3 records only in the first, 2 records only in the second")
    #expect(byReference.errors.contains("--match value"))
    #expect(try heartwood("diff", "first.csv", "second.csv", "--json").errors.contains("--match value"))
    #expect(try heartwood("diff", "first.csv", "second.csv", "--quiet").errors == "")
    let byValue = try heartwood("diff", "first.csv", "second.csv", "--match", "value")
    #expect(byValue.errors == "")
    #expect(byValue.text.hasPrefix("- ToDo \(Self.ids[0])\n- ToDo \(Self.ids[2])\n+ ToDo \(others[1])\n"))
    let byMemo = try heartwood("diff", "first.csv", "second.csv", "--match", "memo")
    #expect(
      byMemo.text == """
        ~ ToDo \(Self.ids[0])
            sortOrder: 1 → 5
        - ToDo \(Self.ids[2])
        1 record only in the first, 1 record with other values

        """
    )
    let unknown = try heartwood("diff", "first.csv", "second.csv", "--match", "momo")
    #expect(unknown.status == 1)
    #expect(unknown.errors.contains("momo"))
  }

  @Test func matchedRelationshipsAreFollowed() throws {
    try Library.write(to: folder.path("first.heartwood"))
    try Library.write(to: folder.path("second.heartwood"))
    #expect(try heartwood("diff", "first.heartwood", "second.heartwood").status == 1)
    let outcome = try heartwood("diff", "first.heartwood", "second.heartwood", "--match", "value")
    #expect(outcome.text == "no differences\n")
    #expect(outcome.status == 0)
  }

  @Test func entitiesOfOneModelOnlyAreTold() throws {
    try Library.write(to: folder.path("library.heartwood"))
    let outcome = try heartwood("diff", "todo.csv", "library.heartwood")
    #expect(outcome.status == 1)
    #expect(outcome.text.contains("~ identifier of the store: \"D35CF030-1EC1-4667-9666-70C8247A1010\" → \""))
    #expect(outcome.text.contains("- ToDo: 6 records; there is no such entity in library.heartwood\n"))
    #expect(outcome.text.contains("+ Book: 3 records; there is no such entity in todo.csv\n"))
  }

  @Test func quietLeavesTheStatusOnly() throws {
    try FileManager.default.copyItem(at: folder.path("todo.csv"), to: folder.path("same.csv"))
    let same = try heartwood("diff", "todo.csv", "same.csv", "--quiet")
    #expect((same.status, same.text) == (0, ""))
    try Library.write(to: folder.path("library.heartwood"))
    let other = try heartwood("diff", "todo.csv", "library.heartwood", "--quiet")
    #expect((other.status, other.text, other.errors) == (1, "", ""))
  }

  @Test func quietTellsNoNotes() throws {
    try FileManager.default.removeItem(at: folder.path("ToDo.xcdatamodeld"))
    try folder.write(CoreDataXML.oneOwner, to: "owners.xml")
    let told = try heartwood("diff", "owners.xml", "owners.xml")
    #expect(told.status == 0 && told.errors.hasPrefix("heartwood: note: "), "\(told.errors)")
    let quiet = try heartwood("diff", "owners.xml", "owners.xml", "--quiet")
    #expect((quiet.status, quiet.text, quiet.errors) == (0, "", ""))
  }

  @Test func aModelOfTheOtherStoreIsTakenWhereItFits() throws {
    try FileManager.default.removeItem(at: folder.path("ToDo.xcdatamodeld"))
    try folder.write(CoreDataXML.oneOwner, to: "owners.xml")
    #expect(try heartwood("convert", "owners.xml", "owners.heartwood").status == 0)
    let made = try heartwood("diff", "owners.xml", "owners.heartwood")
    #expect(made.text == "no differences\n", "\(made.errors)")
    #expect(made.errors.hasPrefix("heartwood: note: owners.xml: The file holds no model"), "\(made.errors)")
    let taken = try heartwood("diff", "owners.heartwood", "owners.xml")
    #expect(taken.text == "no differences\n", "\(taken.errors)")
  }

  @Test func referencesToOtherEntitiesThanTheRelationshipsNameThem() throws {
    let sample = Repository.root.appending(path: "Formats/PropertyList/samples/version-1-xml.plist")
    let first = try String(contentsOf: sample, encoding: .utf8)
      .replacing("<integer>42</integer>", with: "<integer>0</integer>")
    let task = "<string>Task</string><key>$id</key><integer>0</integer>"
    try folder.write(first, to: "first.plist")
    try folder.write(first.replacing(task, with: task.replacing("Task", with: "Note")), to: "second.plist")
    let outcome = try heartwood("diff", "first.plist", "second.plist")
    #expect(outcome.status == 1)
    #expect(outcome.text.contains(#",{"$entity":"Task","$id":"0"}] → ["#), "\(outcome.text)")
    #expect(outcome.text.contains(#",{"$entity":"Note","$id":"0"}]\#n"#), "\(outcome.text)")
  }

  /// What is in a file may neither break a line nor command a terminal.
  @Test func whatTheStoresSayIsShownSafely() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.plist").status == 0)
    var list = try #require(
      try PropertyListSerialization.propertyList(from: try folder.data("todo.plist"), format: nil) as? [String: Any]
    )
    var metadata = try #require(list["metadata"] as? [String: Any])
    metadata["userInfo"] = ["\u{1B}[31mred\n": 1]
    list["metadata"] = metadata
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    try data.write(to: folder.path("red.plist"))
    let outcome = try heartwood("diff", "todo.plist", "red.plist")
    #expect(outcome.text == "+ metadata \\u001b[31mred\\n: 1\n1 other difference\n")
    let missing = try heartwood("info", "\u{1B}[31m")
    #expect(missing.errors == "heartwood: error: \\u001b[31m: There is no such file.\n")
  }

  @Test func metadataAreShownWithTheirValues() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.plist").status == 0)
    func write(_ userInfo: [String: Any], to name: String) throws {
      let plain = try PropertyListSerialization.propertyList(from: try folder.data("todo.plist"), format: nil)
      var list = try #require(plain as? [String: Any])
      var metadata = try #require(list["metadata"] as? [String: Any])
      metadata["userInfo"] = userInfo
      list["metadata"] = metadata
      try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0).write(
        to: folder.path(name)
      )
    }
    try write(["a": 1, "b": "old", "c": [true]], to: "first.plist")
    try write(["b": "new", "c": [true], "d": 2], to: "second.plist")
    let outcome = try heartwood("diff", "first.plist", "second.plist")
    #expect(outcome.status == 1)
    #expect(
      outcome.text == """
        - metadata a: 1
        ~ metadata b: "old" → "new"
        + metadata d: 2
        3 other differences

        """
    )
    #expect(
      try heartwood("diff", "first.plist", "second.plist", "--json").lines == [
        #"{"change":"metadata","key":"a","values":{"first":1},"onlyIn":"first"}"#,
        #"{"change":"metadata","key":"b","values":{"first":"old","second":"new"}}"#,
        #"{"change":"metadata","key":"d","values":{"second":2},"onlyIn":"second"}"#,
      ]
    )
  }

  @Test func aFileThatIsNotThereIsAnError() throws {
    let outcome = try heartwood("diff", "todo.csv", "nothing.csv")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("heartwood: error: nothing.csv: There is no such file."))
  }
}
