import Foundation
import HeartwoodFormats
import HeartwoodModel
import Testing

@Suite("Writing model files")
struct DataModelWritingTests {
  @Test(
    "What was read is written, with what the model has no place for",
    arguments: [ModelFixture.everything, ModelFixture.notes, ModelFixture.fetching]
  )
  func same(_ text: String) throws {
    let folder = try TemporaryFolder()
    let file = try DataModelFile(contentsOf: folder.write(text, to: "contents"))
    let written = file.contents()
    #expect(try CanonicalXML.lines(of: written) == CanonicalXML.lines(of: Data(text.utf8)))
    #expect(try CanonicalXML.lines(of: file.contents(of: file.model)) == CanonicalXML.lines(of: Data(text.utf8)))
    #expect(try DataModelFile(contentsOf: folder.write(written, to: "again")).model == file.model)
  }

  @Test("A model becomes a file that says the same", arguments: [ModelFixture.everything, ModelFixture.fetching])
  func fresh(_ text: String) throws {
    let folder = try TemporaryFolder()
    let model = try ManagedObjectModel(contentsOf: folder.write(text, to: "contents"))
    let file = try DataModelFile(contentsOf: folder.write(model.dataModelContents(), to: "fresh"))
    #expect(file.model == model)
    #expect(file.notes.isEmpty)
  }

  @Test("A changed model changes just what differs")
  func changed() throws {
    let folder = try TemporaryFolder()
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
    let written = file.contents(of: changed)
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
}
