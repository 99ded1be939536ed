import Foundation
import Testing

@Suite struct ModelCommandTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  private static let first = """
    <model userDefinedModelVersionIdentifier="1">
    <entity name="Person" syncable="YES">
    <attribute name="name" optional="YES" attributeType="String"/>
    <attribute name="age" optional="YES" attributeType="Integer 16"/>
    <relationship name="pets" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Pet" inverseName="owner"/>
    </entity>
    <entity name="Pet"><relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="pets"/></entity>
    <elements><element name="Person" positionX="7"/></elements>
    </model>
    """

  private static func second(_ properties: String) -> String {
    first.replacing("<attribute name=\"age\" optional=\"YES\" attributeType=\"Integer 16\"/>", with: properties)
  }

  init() throws {
    folder = try WorkFolder()
    try FileManager.default.createDirectory(at: folder.path("M.xcdatamodel"), withIntermediateDirectories: true)
    try folder.write(Self.first, to: "M.xcdatamodel/contents")
    try FileManager.default.createDirectory(at: folder.path("N.xcdatamodel"), withIntermediateDirectories: true)
    try folder.write(Self.second(""), to: "N.xcdatamodel/contents")
  }

  @Test func theRulesOfAttributesAreShown() throws {
    let rules = #"minValueString="1" maxValueString="5" defaultValueString="3""#
    let text = #"minValueString="2" maxValueString="9" regularExpressionString="[a-z]*""#
    try folder.write(
      """
      <model><entity name="User"><attribute name="stars" attributeType="Integer 16" \(rules)/>
      <attribute name="name" optional="YES" attributeType="String" \(text)/></entity></model>
      """,
      to: "M.xcdatamodel/contents"
    )
    let table = try heartwood("model", "show", "M.xcdatamodel").text
    #expect(table.contains("default 3, from 1, to 5"), "\(table)")
    #expect(table.contains("at least 2 long, at most 9 long, as [a-z]*"), "\(table)")
  }

  @Test func hashesAreOneObject() throws {
    let outcome = try heartwood("model", "hash", "M.xcdatamodel", "--json")
    #expect(outcome.status == 0)
    let object = try #require(try outcome.json() as? [String: Any])
    let entities = try #require(object["entities"] as? [String: String])
    #expect(entities.keys.sorted() == ["Person", "Pet"])
    #expect(entities.values.allSatisfy { Data(base64Encoded: $0)?.count == 32 })
    #expect(Data(base64Encoded: try #require(object["checksum"] as? String))?.count == 32)
    #expect(Data(base64Encoded: try #require(object["digest"] as? String))?.count == 64)
    #expect(Set(object.keys) == ["entities", "checksum", "digest"])
    let lines = try heartwood("model", "hash", "M.xcdatamodel").lines
    #expect(lines.first == "Person    \(try #require(entities["Person"]))")
  }

  @Test func documentedHashIsPrinted() throws {
    try folder.write(
      """
      <model><entity name="User"><attribute name="name" attributeType="String"/>
      <attribute name="petName" optional="YES" attributeType="String"/></entity></model>
      """,
      to: "contents"
    )
    let hash = "azH06XtpHRbEyCC65V+JQI1HATvUIVHs/eHqx/5L55g="
    #expect(try heartwood("model", "hash", "contents").lines.first == "User      \(hash)")
  }

  @Test func modelsAreShownInEveryForm() throws {
    let table = try heartwood("model", "show", "M.xcdatamodel")
    #expect(table.status == 0)
    #expect(table.lines[0] == "ENTITY  PROPERTY  TYPE       NOTES")
    #expect(table.text.contains("        pets      Pet []     optional, inverse owner, cascade\n"))
    #expect(table.text.contains("\nversion 1\n"))
    let mermaid = try heartwood("model", "show", "M.xcdatamodel", "--format", "mermaid").text
    #expect(mermaid.hasPrefix("erDiagram\n  Person {\n    string name \"optional\"\n"))
    #expect(mermaid.contains("  Person |o--o{ Pet : \"pets / owner\"\n"))
    let dot = try heartwood("model", "show", "M.xcdatamodel", "--format", "dot").text
    #expect(dot.hasPrefix("digraph model {\n"))
    #expect(
      dot.contains(
        "\"Person\" -> \"Pet\" [headlabel=\"pets\", arrowhead=crow, dir=both, taillabel=\"owner\", arrowtail=tee];"
      )
    )
    let json = try #require(
      try heartwood("model", "show", "M.xcdatamodel", "--format", "json").json() as? [String: Any]
    )
    #expect((json["entities"] as? [[String: Any]])?.count == 2)
  }

  @Test(arguments: ["todo.heartwood", "todo.sqlite"])
  func modelOfAStoreIsShown(_ store: String) throws {
    #expect(try heartwood("convert", "todo.csv", store).status == 0)
    let outcome = try heartwood("model", "hash", store, "--json")
    #expect(outcome.status == 0)
    #expect(outcome.text == (try heartwood("model", "hash", "ToDo.xcdatamodeld", "--json").text))
    let hashes = try heartwood("model", "hash", store).lines.filter { $0.hasPrefix("ToDo ") }.compactMap {
      $0.split(separator: " ").last
    }
    let info = try heartwood("info", store).text
    #expect(hashes.count == 1 && hashes.allSatisfy { info.contains("hash of ToDo") && info.contains($0) })
  }

  @Test func versionsAreChosen() throws {
    #expect(try heartwood("model", "show", "ToDo.xcdatamodeld", "--model-version", "ToDo").status == 0)
    let missing = try heartwood("model", "show", "ToDo.xcdatamodeld", "--model-version", "Nix")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("There is no version “Nix”. There are: ToDo."))
  }

  @Test func warningsAreListed() throws {
    let text = """
      <model><entity name="thing"><attribute name="hash" attributeType="String"/>
      <relationship name="other" optional="YES" maxCount="1" deletionRule="No Action" destinationEntity="thing"/></entity></model>
      """
    try folder.write(text, to: "contents")
    let outcome = try heartwood("model", "check", "contents", "--json")
    #expect(outcome.status == 1)
    let kinds = try outcome.jsonLines().map { $0["kind"] as? String }
    #expect(kinds == ["nameCase", "reservedName", "missingDefault", "missingInverse", "noAction"])
    #expect(try heartwood("model", "check", "contents").lines.last == "5 warnings")
    let sound = try heartwood("model", "check", "M.xcdatamodel")
    #expect(sound.status == 0)
    #expect(sound.text == "0 warnings\n")
  }

  @Test(arguments: [
    (#"<attribute name="age" optional="YES" attributeType="Integer 16"/>"#, "The models are the same.", true),
    (
      #"<attribute name="years" optional="YES" attributeType="Integer 16" elementID="age"/>"#,
      "> Person.years  was age", true
    ),
    (
      #"<attribute name="age" optional="YES" attributeType="Date"/>"#,
      "~ Person.age  type: integer16 → date  ! values", false
    ),
    (
      #"<attribute name="age" attributeType="Integer 16"/>"#, "~ Person.age  optional: yes → no  ! it becomes required",
      false
    ),
    (
      #"<attribute name="age" attributeType="Integer 16" defaultValueString="1"/>"#,
      "~ Person.age  optional: yes → no\n", true
    ),
    ("", "- Person.age", true),
  ])
  func differencesAreToldWithWhatHindersAMigration(_ properties: String, _ line: String, _ isInferable: Bool) throws {
    try folder.write(Self.second(properties), to: "N.xcdatamodel/contents")
    let outcome = try heartwood("model", "diff", "M.xcdatamodel", "N.xcdatamodel")
    let areSame = line.hasPrefix("The")
    #expect(outcome.status == (areSame ? 0 : 1))
    #expect(outcome.text.contains(line))
    let json = try #require(
      try heartwood("model", "diff", "M.xcdatamodel", "N.xcdatamodel", "--json").json() as? [String: Any]
    )
    #expect(json["inferable"] as? Bool == isInferable)
    #expect(json["requiresMigration"] as? Bool == !areSame)
  }

  private static let commandingModel = #"""
    {"format": 1, "versionIdentifiers": ["\u001b]0;v\u0007"], "configurations": {"C\u001b[1m": ["ToDo"]},
    "entities": [{"name": "ToDo", "properties": [
      {"kind": "attribute", "name": "done", "type": "boolean", "default": "false"},
      {"kind": "attribute", "name": "memo", "type": "string", "optional": true},
      {"kind": "attribute", "name": "sortOrder", "type": "integer32", "default": "0"},
      {"kind": "attribute", "name": "creationDate", "type": "date", "optional": true}],
      "indexes": [{"name": "i\u001b[2m", "elements": [{"property": "memo"}]},
        {"name": "j\u001b[2m", "elements": [{"expression": "sortOrder * 2"}]}]}],
    "fetchRequests": [{"name": "x\u001b[31mred\n", "entity": "ToDo"}]}
    """#

  /// What is in a file may neither break a line nor command a terminal.
  @Test(arguments: [
    (
      "model show evil.json",
      [#"version \u001b]0;v\u0007"#, #"configuration C\u001b[1m: ToDo"#, #"fetch request x\u001b[31mred\n: ToDo"#]
    ),
    (
      "model diff M.xcdatamodel evil.json",
      [
        #"~ fetch request x\u001b[31mred\n  fetch: none → all ToDo"#,
        #"~ model  version identifiers: 1 → \u001b]0;v\u0007"#,
      ]
    ), ("model check evil.json", [#"ToDo.j\u001b[2m: "#]),
    ("fetch todo.csv ToDo --model evil.json --where 'memo == \"x\"' --explain", [#"by the index i\u001b[2m"#]),
  ])
  func whatAModelSaysIsShownSafely(_ arguments: String, _ texts: [String]) throws {
    try folder.write(Self.commandingModel, to: "evil.json")
    let outcome = try heartwood.shell("heartwood \(arguments)")
    for text in texts { #expect(outcome.text.contains(text), "\(outcome.text)\(outcome.errors)") }
    #expect(outcome.text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" })
  }

  @Test(arguments: ["Out.xcdatamodeld", "Out.xcdatamodel", "Out.json"])
  func convertedModelsAreTheSame(_ name: String) throws {
    #expect(try heartwood("model", "convert", "M.xcdatamodel", name).status == 0)
    #expect(try heartwood("model", "diff", "M.xcdatamodel", name).text == "The models are the same.\n")
    let again = try heartwood("model", "convert", "M.xcdatamodel", name)
    #expect(again.status == 1)
    #expect(again.errors.contains("There is a file already"))
    #expect(try heartwood("model", "convert", "M.xcdatamodel", name, "--force").status == 0)
  }

  @Test func noVersionOfABundleIsReplacedByAnother() throws {
    try folder.addVersions()
    let versions = ["ToDo.xcdatamodeld/ToDo.xcdatamodel/contents", "ToDo.xcdatamodeld/.xccurrentversion"]
    let before = try versions.map(folder.data)
    let other = try heartwood("model", "convert", "M.xcdatamodel", "ToDo.xcdatamodeld", "--force")
    #expect(other.status == 1)
    #expect(other.errors.contains("The bundle has other versions, ToDo 2.xcdatamodel."), "\(other.errors)")
    let same = try heartwood("model", "convert", "ToDo.xcdatamodeld", "./ToDo.xcdatamodeld", "--force")
    #expect(same.status == 1)
    #expect(same.errors.contains("are the same file"), "\(same.errors)")
    #expect(try versions.map(folder.data) == before)
  }

  @Test func theModelItselfIsNoDestination() throws {
    #expect(try heartwood("model", "convert", "M.xcdatamodel", "Out.xcdatamodeld").status == 0)
    let model = "Out.xcdatamodeld/Out.xcdatamodel"
    for (source, destination) in [(model, "Out.xcdatamodeld"), (model, model), ("\(model)/contents", model)] {
      let outcome = try heartwood("model", "convert", source, destination, "--force")
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("are the same file"), "\(outcome.errors)")
    }
    let nowhere = try heartwood("model", "convert", "M.xcdatamodel", "nowhere/Out.json")
    #expect(nowhere.status == 1)
    #expect(nowhere.errors.contains("cannot be found"), "\(nowhere.errors)")
    #expect(!folder.exists("nowhere"))
  }

  @Test func canvasIsKept() throws {
    #expect(try heartwood("model", "convert", "M.xcdatamodel", "Out.xcdatamodel").status == 0)
    let text = String(decoding: try folder.data("Out.xcdatamodel/contents"), as: UTF8.self)
    #expect(text.contains("<element name=\"Person\" positionX=\"7\"/>"))
  }

  @Test(arguments: ["show", "check", "diff", "hash", "convert"])
  func everyModelCommandHasHelpWithAnExample(_ command: String) throws {
    let outcome = try heartwood("help", "model", command)
    #expect(outcome.text.contains("EXAMPLE\n  heartwood model \(command)"))
  }

  @Test func faultyModelIsAnErrorWithItsLine() throws {
    try folder.write("<model>\n<entity name=\"A\" parentEntity=\"B\"/>\n</model>", to: "contents")
    let outcome = try heartwood("model", "check", "contents")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("contents:2: A: The parent “B” does not exist."))
  }
}
