import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite("Writing model files")
struct DataModelWritingTests {
  @Test("A control character, for which XML has no form, is refused with its place")
  func controlCharacters() throws {
    let model = try ManagedObjectModel(entities: [
      .entity("Note", .attribute("text", .string, optional: true, default: .string("a\u{1}b")))
    ])
    let error = try #require(throws: ModelFileError.self) { try model.dataModelContents() }
    #expect(error.message.contains("defaultValueString of attribute “text”"), "\(error)")
  }

  @Test(
    "What was read is written, with what the model has no place for",
    arguments: [ModelFixture.everything, ModelFixture.notes, ModelFixture.fetching]
  )
  func same(_ text: String) throws {
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(text, to: "contents"))
    let written = try file.contents()
    #expect(try CanonicalXML.lines(of: written) == CanonicalXML.lines(of: Data(text.utf8)))
    #expect(try CanonicalXML.lines(of: file.contents(of: file.model)) == CanonicalXML.lines(of: Data(text.utf8)))
    #expect(try DataModelFile(contentsOf: folder.write(written, to: "again")).model == file.model)
  }

  @Test("A model becomes a file that says the same", arguments: [ModelFixture.everything, ModelFixture.fetching])
  func fresh(_ text: String) throws {
    let folder = try ScratchFolder()
    let model = try ManagedObjectModel(contentsOf: folder.write(text, to: "contents"))
    let file = try DataModelFile(contentsOf: folder.write(model.dataModelContents(), to: "fresh"))
    #expect(file.model == model)
    #expect(file.notes.isEmpty)
  }

  @Test("A changed model changes just what differs")
  func changed() throws {
    let folder = try ScratchFolder()
    let text = """
      <model userDefinedModelVersionIdentifier="" extra="kept">
      <entity name="A" syncable="YES" novelty="1">
      <attribute name="a" attributeType="String" optional="YES" spotlightIndexingEnabled="YES"/>
      <attribute name="gone" attributeType="String"/>
      <userInfo><entry key="k" value="v"/></userInfo>
      </entity>
      <elements><element name="A" positionX="7"/></elements>
      </model>
      """
    let file = try DataModelFile(contentsOf: folder.write(text, to: "contents"))
    let changed = try ManagedObjectModel(entities: [
      .entity(
        "A",
        userInfo: ["k": "w"],
        .attribute("a", .string, default: .string("x")),
        .attribute("new", .integer16, optional: true)
      )
    ])
    let written = try file.contents(of: changed)
    let expected = """
      <model userDefinedModelVersionIdentifier="" extra="kept">
      <entity name="A" syncable="YES" novelty="1">
      <attribute name="a" attributeType="String" spotlightIndexingEnabled="YES" defaultValueString="x"/>
      <attribute name="new" optional="YES" attributeType="Integer 16"/>
      <userInfo><entry key="k" value="w"/></userInfo>
      </entity>
      <elements><element name="A" positionX="7"/></elements>
      </model>
      """
    #expect(try CanonicalXML.lines(of: written) == CanonicalXML.lines(of: Data(expected.utf8)))
    #expect(try ManagedObjectModel(contentsOf: folder.write(written, to: "again")) == changed)
  }

  /// What a file says of an attribute, also what its type does not have, and the attribute of another type that it becomes.
  private static let retyped: [(String, PropertyDescription)] = [
    (
      #"attributeType="Date" defaultDateTimeInterval="0" defaultValueString="2001" minDateTimeInterval="-9" minValueString="2000""#,
      .attribute("a", .string, optional: true)
    ),
    (#"attributeType="Binary" defaultValueString="AP8Q""#, .attribute("a", .string, optional: true)),
    (#"attributeType="Integer 16" regularExpressionString="x+""#, .attribute("a", .string, optional: true)),
    (#"attributeType="Boolean" minValueString="5" maxValueString="7""#, .attribute("a", .integer16, optional: true)),
    (
      #"attributeType="String" defaultDateTimeInterval="5" maxDateTimeInterval="9""#,
      .attribute("a", .date, optional: true)
    ),
    (
      #"attributeType="Integer 16" defaultValueString="5" minValueString="1""#,
      .attribute(
        "a",
        .integer32,
        optional: true,
        default: .integer(5),
        rules: AttributeRules(minValue: .integer(1))
      )
    ),
  ]

  @Test("An attribute of another type has no values that are left over", arguments: retyped)
  func leftOverValues(_ text: String, _ attribute: PropertyDescription) throws {
    let folder = try ScratchFolder()
    let element = "<attribute name=\"a\" optional=\"YES\" \(text)/>"
    let contents = "<model><entity name=\"A\">\(element)</entity></model>"
    let file = try DataModelFile(contentsOf: folder.write(contents, to: "contents"))
    let changed = try ManagedObjectModel(entities: [.entity("A", attribute)])
    let written = try file.contents(of: changed)
    #expect(try ManagedObjectModel(contentsOf: folder.write(written, to: "written")) == changed)
  }

  @Test("Several attributes of one composite come back as they were")
  func composites() throws {
    let flags = [(true, false), (false, false), (false, true)]
    let model = try Self.composed(["home", "work", "rest"], flags)
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(model.dataModelContents(), to: "fresh"))
    #expect(file.model.entities[0].properties == model.entities[0].properties)
    #expect(file.model.entityVersionHashesByName == model.entityVersionHashesByName)
    let alike = try Self.composed(["home", "work"], [(true, true), (false, false)])
    let again = try DataModelFile(contentsOf: folder.write(alike.dataModelContents(), to: "again"))
    #expect(again.model == alike)
  }

  @Test("A part of a composite changes in a file that says of the parts what might be said of the whole")
  func changedComposite() throws {
    let text = """
      <model><entity name="A">
      <attribute name="home" attributeType="Composite" composite="Address" novelty="1"/></entity>
      <composite name="Address">
      <attribute name="street" optional="YES" attributeType="String"/>
      <attribute name="city" optional="YES" attributeType="String"/>
      </composite></model>
      """
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(text, to: "contents"))
    for flags in [(true, false), (false, true), (false, false)] {
      let changed = try Self.composed(["home", "work"], [flags, (true, true)])
      let written = try DataModelFile(contentsOf: folder.write(file.contents(of: changed), to: "written"))
      #expect(written.model.entities[0].properties == changed.entities[0].properties)
      #expect(written.notes.map(\.message) == ["“novelty” of “home” is not known: it is ignored and has no effect."])
    }
  }

  /// A model in which attributes are addresses, with whether street and city are optional.
  private static func composed(
    _ names: [String],
    _ flags: [(Bool, Bool)]
  ) throws -> ManagedObjectModel {
    var entity = EntityDefinition(name: "A")
    for (name, flags) in zip(names, flags) {
      for (part, isOptional) in [("street", flags.0), ("city", flags.1)] {
        entity.properties.append(.attribute("\(name)_\(part)", .string, optional: isOptional))
      }
      let elements = ["street", "city"].map {
        CompositeAttributeDescription.Element(name: $0, attributeName: "\(name)_\($0)")
      }
      entity.compositeAttributes.append(
        CompositeAttributeDescription(name: name, compositeName: "Address", elements: elements)
      )
    }
    return try ManagedObjectModel(entities: [entity])
  }

  private static let ordered = """
    <model><entity name="A">
    <attribute name="a" attributeType="String"/>
    <attribute name="b" attributeType="String"/>
    <relationship name="r" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="A"/>
    <fetchIndex name="i">
    <fetchIndexElement property="a" type="Binary" order="ascending"/>
    <fetchIndexElement property="b" type="Binary" order="descending"/>
    </fetchIndex>
    <uniquenessConstraints><uniquenessConstraint>
    <constraint value="a"/><constraint value="b"/>
    </uniquenessConstraint></uniquenessConstraints>
    </entity>
    <entity name="B"/>
    <configuration name="C"><memberEntity name="A"/><memberEntity name="B"/></configuration></model>
    """

  @Test("What is in another order is written in this order")
  func reordered() throws {
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(Self.ordered, to: "contents"))
    var entity = file.model.entities[0].definition
    entity.properties.reverse()
    entity.properties.insert(.attribute("c", .date, optional: true), at: 1)
    entity.uniquenessConstraints = [["b", "a"]]
    entity.fetchIndexes = entity.fetchIndexes.map {
      FetchIndexDescription(name: $0.name, elements: $0.elements.reversed())
    }
    let changed = try ManagedObjectModel(
      entities: [.entity("B"), entity],
      configurations: ["C": ["B", "A"]]
    )
    let written = try file.contents(of: changed)
    #expect(try ManagedObjectModel(contentsOf: folder.write(written, to: "written")) == changed)
  }

  @Test(
    "An index that an older version of Xcode wrote down can be taken away",
    arguments: [[], ["byAIndex"], ["other"]]
  )
  func olderIndexes(_ names: [String]) throws {
    let text = """
      <model><entity name="A">
      <attribute name="a" attributeType="String" indexed="YES"/>
      <attribute name="b" attributeType="String"/>
      <compoundIndexes><compoundIndex><index value="a,b"/></compoundIndex></compoundIndexes>
      </entity></model>
      """
    let folder = try ScratchFolder()
    let file = try DataModelFile(contentsOf: folder.write(text, to: "contents"))
    #expect(file.model.entities[0].fetchIndexes.map(\.name) == ["byAIndex", "byAAndBIndex"])
    var entity = file.model.entities[0].definition
    entity.fetchIndexes = names.map { FetchIndexDescription(name: $0, properties: ["a"]) }
    let changed = try ManagedObjectModel(entities: [entity])
    let written = try file.contents(of: changed)
    #expect(try ManagedObjectModel(contentsOf: folder.write(written, to: "written")) == changed)
  }
}
