import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Mapping models as Xcode keeps them: all that they say is read, or refused by name.
@Suite struct MappingModelFileTests {
  private static func models() throws -> (old: ManagedObjectModel, new: ManagedObjectModel) {
    let old = try ManagedObjectModel(entities: [
      .entity("Person", .attribute("name", .string, optional: true), .toMany("pets", "Pet", inverse: "owner")),
      .entity("Pet", .attribute("name", .string, optional: true), .toOne("owner", "Person", inverse: "pets")),
    ])
    let new = try ManagedObjectModel(entities: [
      .entity("Human", .attribute("name", .string, optional: true), .toMany("pets", "Pet", inverse: "owner")),
      .entity("Pet", .attribute("name", .string, optional: true), .toOne("owner", "Human", inverse: "pets")),
    ])
    return (old, new)
  }

  /// A file with one mapping, of persons.
  private func file(
    entity: String = "",
    relationship: String = "",
    attribute: String = "",
    other: String = ""
  ) throws -> (file: MappingModelFile, folder: ScratchFolder) {
    let types =
      ["MappingModel", "EntityMapping", "AttributeMapping", "RelationshipMapping"] + (other.isEmpty ? [] : ["Other"])
    let hashes = types.map { "<key>XDDev\($0)</key><data>AA==</data>" }.joined()
    let text = """
      <?xml version="1.0"?><!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
      <database><databaseInfo><version>134481920</version><UUID>6D9C5F52-0000-4000-8000-28A1F65F3F4D</UUID>
      <nextObjectID>106</nextObjectID><metadata><plist version="1.0"><dict><key>NSStoreModelVersionHashes</key>
      <dict>\(hashes)</dict></dict></plist></metadata></databaseInfo>
      <object type="XDDEVMAPPINGMODEL" id="z101">
      <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z102"></relationship></object>
      <object type="XDDEVENTITYMAPPING" id="z102"><attribute name="sourcename" type="string">Person</attribute>
      <attribute name="destinationname" type="string">Human</attribute>\(entity)
      <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z103"></relationship>
      <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING" idrefs="z104">
      </relationship></object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z103"><attribute name="name" type="string">name</attribute>\(attribute)
      <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z102"></relationship></object>
      <object type="XDDEVRELATIONSHIPMAPPING" id="z104"><attribute name="name" type="string">pets</attribute>\(relationship)
      <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z102"></relationship></object>
      \(other)</database>
      """
    let folder = try ScratchFolder()
    let url = folder.url.appending(path: "xcmapping.xml")
    try Data(text.utf8).write(to: url)
    return (try MappingModelFile(contentsOf: url), folder)
  }

  private static func attribute(_ name: String, _ type: String, _ value: String) -> String {
    "<attribute name=\"\(name)\" type=\"\(type)\">\(value)</attribute>"
  }

  private func mapping(_ file: MappingModelFile) throws -> EntityMapping {
    let models = try Self.models()
    let mapping = try file.mappingModel(forSourceModel: models.old, destinationModel: models.new)
    return try #require(mapping.entityMappings.first)
  }

  @Test(
    arguments: [
      (#"name BEGINSWITH "A""#, #"name BEGINSWITH "A""#), ("pets.@count \\u3e00 1", "pets.@count > 1"),
      ("TRUEPREDICATE", nil), ("", nil),
    ] as [(String, String?)]
  )
  func filterPredicatesAreRead(_ text: String, _ predicate: String?) throws {
    let made = try file(entity: Self.attribute("sourcefilterpredicatestring", "string", text))
    #expect(try mapping(made.file).sourcePredicate.map { "\($0)" } == predicate)
  }

  @Test(
    arguments: [
      (
        "", "",
        #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "pets", $source.pets)"#
      ),
      (
        "$source", "PersonToHuman",
        #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "PersonToHuman", $source)"#
      ),
      (
        "$source.pets", "PersonToHuman",
        #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "PersonToHuman", $source.pets)"#
      ),
      (
        "pets", "PersonToHuman",
        #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "PersonToHuman", $source.pets)"#
      ),
      (
        "", "PersonToHuman",
        #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "PersonToHuman", $source.pets)"#
      ),
      (
        "$source.pets", "",
        #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "pets", $source.pets)"#
      ),
    ]
  )
  func relationshipsAreRead(_ keyPath: String, _ name: String, _ expression: String) throws {
    let made = try file(
      relationship: (keyPath.isEmpty ? "" : Self.attribute("sourcekeypath", "string", keyPath))
        + (name.isEmpty ? "" : Self.attribute("sourcemappingname", "string", name))
    )
    #expect(made.file.notes == [])
    let models = try Self.models()
    // The mapping named makes records of another entity than the relationship has: that is found behind reading.
    do {
      let read = try mapping(made.file)
      #expect(read.relationshipMappings.map { $0.valueExpression.map { "\($0)" } } == [expression])
    } catch let error as ModelFileError {
      #expect(
        error.message.contains("PersonToHuman.pets: the expression \(expression) cannot be used"),
        "\(error.message)"
      )
      #expect(error.message.contains("makes records of Human, and the relationship has those of Pet"))
      #expect(models.new.entity(named: "Human") != nil && !name.isEmpty)
    }
  }

  @Test(
    "What is not understood is refused with the mapping, the property and the text",
    arguments: [
      (
        "entity", attribute("sourcefilterpredicatestring", "string", "age \\u3e00"),
        "PersonToHuman: the filter predicate “age >”"
      ),
      ("entity", attribute("mappingtypename", "string", "Magic"), "PersonToHuman: the mapping type “Magic”"),
      ("entity", attribute("sourceexpressiondata", "binary", "AA=="), "PersonToHuman: the source expression"),
      ("entity", attribute("wish", "string", "x"), "PersonToHuman: the value “wish”"),
      ("attribute", attribute("valueexpressiondata", "binary", "AA=="), "PersonToHuman.name: the value expression"),
      ("attribute", attribute("wish", "int16", "1"), "PersonToHuman.name: the value “wish”"),
      (
        "relationship", attribute("sourcekeypath", "string", "$source +"),
        "PersonToHuman.pets: the key path “$source +”"
      ),
      (
        "relationship", attribute("sourcekeypath", "string", "$source"),
        "PersonToHuman.pets: the key path “$source” names no relationship"
      ),
      (
        "other", "<object type=\"XDDEVOTHER\" id=\"z105\"><attribute name=\"a\" type=\"string\">x</attribute></object>",
        "the element XDDevOther"
      ),
    ]
  )
  func whatIsNotUnderstoodIsRefused(_ place: String, _ text: String, _ message: String) throws {
    let made = try file(
      entity: place == "entity" ? text : "",
      relationship: place == "relationship" ? text : "",
      attribute: place == "attribute" ? text : "",
      other: place == "other" ? text : ""
    )
    #expect(made.file.notes.count == 1 && made.file.notes.first?.hasPrefix(message) == true, "\(made.file.notes)")
    let error = #expect(throws: ModelFileError.self) { try mapping(made.file) }
    #expect(error?.file.hasSuffix("xcmapping.xml") == true)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func aFolderMayHaveTheNameOfACompiledOne() throws {
    let made = try file()
    let compiled = made.folder.url.appending(path: "PersonToHuman.cdm")
    try FileManager.default.createDirectory(at: compiled, withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: made.file.url, to: compiled.appending(path: "xcmapping.xml"))
    let read = try MappingModelFile(contentsOf: compiled)
    #expect(try mapping(read) == mapping(made.file))
    #expect(read.draft.entityMappings.first?.attributeMappings.map(\.name) == ["name"])
  }
}
