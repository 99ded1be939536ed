import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodTesting
import Testing

/// What is wrong in a model file and no reason to refuse it: it is read as far as it can be, with a note.
@Suite("Model files that are not quite right")
struct LenientModelTests {
  private func file(_ lines: String) throws -> DataModelFile {
    let folder = try ScratchFolder()
    return try DataModelFile(contentsOf: folder.write("<model>\n\(lines)\n</model>", to: "contents"))
  }

  private func attribute(_ attributes: String) throws -> (AttributeDescription, notes: [DataModelFile.Note]) {
    let file = try file("<entity name=\"A\">\n<attribute name=\"a\" \(attributes)/>\n</entity>")
    return (try #require(file.model.entity(named: "A")?.property(named: "a")?.attribute), file.notes)
  }

  @Test(
    "Defaults spelt for another type",
    arguments: [
      ("Boolean", "0.0", .boolean(false)), ("Boolean", "1.0", .boolean(true)), ("Boolean", "No", .boolean(false)),
      ("Integer 16", "NO", .integer(0)), ("Integer 32", "YES", .integer(1)), ("Integer 64", "0.0", .integer(0)),
      ("Integer 16", "2.5", .integer(2)), ("Integer 64", " 7", .integer(7)), ("Double", "NO", .double(0)),
      ("Float", "true", .float(1)), ("Decimal", "NO", .decimal(0)),
      ("UUID", " E899556C-BE1A-42A3-A634-F8411915C05F ", .null),
    ] as [(String, String, PropertyValue)]
  )
  func otherSpellings(_ type: String, _ text: String, _ expected: PropertyValue) throws {
    let (attribute, notes) = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
    if type == "UUID" {
      #expect(attribute.defaultValue == PropertyValue(text: text.trimmingCharacters(in: .whitespaces), type: .uuid))
    } else {
      #expect(attribute.defaultValue == expected)
    }
    #expect(notes.map(\.line) == [3])
    #expect(notes.first?.message.contains("“\(text)”, is spelt for another type than \(type)") == true)
  }

  @Test(
    "Defaults of the type's own spelling have no note",
    arguments: [
      ("Boolean", "1", .boolean(true)), ("Boolean", "NO", .boolean(false)), ("Decimal", "0", .decimal(0)),
      ("Double", "0", .double(0)), ("Integer 16", "-3", .integer(-3)), ("Integer 16", "", .null),
    ] as [(String, String, PropertyValue)]
  )
  func ownSpellings(_ type: String, _ text: String, _ expected: PropertyValue) throws {
    let (attribute, notes) = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
    #expect(attribute.defaultValue == expected)
    #expect(notes.isEmpty)
  }

  @Test(
    "A default that is no value is none",
    arguments: [
      ("Integer 16", "many"), ("Integer 16", "40000"), ("Boolean", "perhaps"), ("UUID", "12"), ("Decimal", "ten"),
    ]
  )
  func noValues(_ type: String, _ text: String) throws {
    let (attribute, notes) = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
    #expect(attribute.defaultValue.isNull)
    #expect(notes.map(\.line) == [3])
    #expect(notes.first?.message.contains("is not a value of the type \(type): new objects begin without one") == true)
  }

  @Test("Default dates for people are read if they are the same to all of them")
  func dates() throws {
    let (read, notes) = try attribute("attributeType=\"Date\" defaultValueString=\"2016-09-17 18:15:00 +0000\"")
    #expect(read.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 495_828_900)))
    #expect(notes.first?.message.contains("read as 2016-09-17T18:15:00Z") == true)
    for text in ["9/17/16", "today"] {
      let (other, notes) = try attribute("attributeType=\"Date\" defaultValueString=\"\(text)\"")
      #expect(other.defaultValue.isNull)
      #expect(notes.first?.message.contains("given only as a text for people, “\(text)”") == true)
    }
    let (wrong, wrongNotes) = try attribute("attributeType=\"Date\" defaultDateTimeInterval=\"today\"")
    #expect(wrong.defaultValue.isNull)
    #expect(wrongNotes.count == 1)
  }

  @Test(
    "A rule that is none holds nothing up",
    arguments: [
      ("Integer 16", "minValueString", "few"), ("String", "maxValueString", "2.5"),
      ("Date", "maxDateTimeInterval", "today"), ("String", "regularExpressionString", "[a"),
    ]
  )
  func rules(_ type: String, _ name: String, _ text: String) throws {
    let (attribute, notes) = try attribute("attributeType=\"\(type)\" \(name)=\"\(text)\"")
    #expect(attribute.rules.isEmpty)
    #expect(notes.map(\.line) == [3])
    #expect(notes.first?.message.contains("“\(name)” of “a”") == true)
    #expect(notes.first?.message.contains("values are not checked against it") == true)
  }

  @Test(
    "Bounds that no value meets are left out",
    arguments: [
      ("Integer 16", "minValueString=\"9\" maxValueString=\"-1\""),
      ("String", "minValueString=\"5\" maxValueString=\"4\""),
      ("Date", "minDateTimeInterval=\"1\" maxDateTimeInterval=\"0\""),
    ]
  )
  func contradictions(_ type: String, _ attributes: String) throws {
    let (attribute, notes) = try attribute("attributeType=\"\(type)\" \(attributes)")
    #expect(attribute.rules.isEmpty)
    #expect(notes.map(\.line) == [3])
    #expect(notes.first?.message.contains("of “a” is above the greatest") == true)
  }

  @Test("A configuration lists entities that exist, once")
  func configurations() throws {
    let file = try file(
      """
      <configuration name="C"><memberEntity name="B"/><memberEntity name="Gone"/>
      <memberEntity name="B"/><memberEntity name="A"/></configuration>
      <entity name="A"/><entity name="B"/>
      """
    )
    #expect(file.model.configurations == ["C": ["B", "A"]])
    #expect(file.notes.map(\.line) == [2, 3])
    #expect(file.notes.first?.message.contains("“Gone”, which does not exist") == true)
  }

  @Test("A derived attribute whose expression cannot be read is left as it is")
  func derivation() throws {
    let (attribute, notes) = try attribute(
      "attributeType=\"String\" derived=\"YES\" derivationExpression=\"b +\""
    )
    #expect(attribute.derivationExpression == nil)
    #expect(notes.first?.message.contains("its values stay as they are") == true)
  }

  @Test("What no record depends on is left out where it is at fault")
  func besideRecords() throws {
    let file = try file(
      """
      <entity name="A">
      <attribute name="a" attributeType="String"/>
      <fetchIndex name="i"><fetchIndexElement property="x"/></fetchIndex>
      <fetchIndex name="j"><fetchIndexElement property="a"/></fetchIndex>
      <fetchedProperty name="f"/>
      <fetchedProperty name="a"><fetchRequest name="r" entity="A"/></fetchedProperty>
      <userInfo><entry key="k" value="1"/><entry key="k" value="2"/><entry value="3"/></userInfo>
      </entity>
      <fetchRequest name="r" entity="B"/>
      <fetchRequest name="s" entity="A" resultType="9"/>
      <fetchRequest name="t" entity="A"/>
      """
    )
    let entity = try #require(file.model.entity(named: "A")).definition
    #expect(entity.fetchIndexes.map(\.name) == ["j"])
    #expect(entity.fetchedProperties.isEmpty)
    #expect(entity.userInfo == ["k": "2"])
    #expect(file.model.fetchRequestTemplates.map(\.name) == ["t"])
    #expect(file.notes.map(\.line) == [4, 6, 7, 8, 8, 10, 11])
    // The file keeps what the model has not.
    let text = String(decoding: try file.contents(), as: UTF8.self)
    #expect(text.contains("<fetchRequest name=\"r\" entity=\"B\"/>"))
  }

  @Test("A uniqueness constraint that names a relationship is hashed, and not enforced")
  func unenforced() throws {
    let file = try file(
      """
      <entity name="A">
      <attribute name="a" attributeType="String"/>
      <relationship name="b" optional="YES" destinationEntity="A" maxCount="1"/>
      <uniquenessConstraints>
      <uniquenessConstraint><constraint value="a"/><constraint value="b"/></uniquenessConstraint>
      <uniquenessConstraint><constraint value="a"/></uniquenessConstraint>
      </uniquenessConstraints>
      </entity>
      """
    )
    let entity = try #require(file.model.entity(named: "A"))
    #expect(entity.definition.uniquenessConstraints == [["a", "b"], ["a"]])
    #expect(entity.uniquenessConstraints == [[0]])
    #expect(file.notes.map(\.line) == [6])
    let again = try ManagedObjectModel(encoded: file.model.encoded())
    #expect(again == file.model)
    #expect(again.entity(named: "A")?.versionHash == entity.versionHash)
    #expect(ModelReview(again).warnings.contains { $0.kind == .unenforcedConstraint })
    #expect(throws: ModelValidationError.self) {
      try ManagedObjectModel(entities: [
        .entity("A", unique: [["b"]], .toOne("b", "A", inverse: nil))
      ])
    }
  }

  @Test("Everything that is wrong is said at once")
  func allProblems() throws {
    let error = #expect(throws: ModelFileError.self) {
      try file(
        """
        <entity name="A">
        <attribute name="a" attributeType="Text"/>
        <attribute attributeType="String"/>
        <relationship name="r" destinationEntity="A" deletionRule="Explode"/>
        </entity>
        <entity/>
        <configuration/>
        """
      )
    }
    #expect(error?.problems.map(\.line) == [3, 4, 5, 7, 8])
  }
}
