import Foundation
import Heartwood
import HeartwoodFormats
import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodStore
import Testing

private enum ImportCorpus {
  static let folder = ProcessInfo.processInfo.environment["HEARTWOOD_CORPUS"].map { URL(filePath: $0) }
}

/// Imports by a model that was made for MagicalRecord, as it is.
@Suite(
  "Imports by a model of MagicalRecord's, from its public repository",
  .enabled(if: ImportCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct ImportCorpusTests {
  private func context() throws -> ManagedObjectContext {
    let bundle = try #require(ImportCorpus.folder)
      .appending(path: "magicalpanda__MagicalRecord/Tests/Fixtures/TestModel.xcdatamodeld")
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: try ManagedObjectModel(contentsOf: bundle))
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  @Test func valuesOfAllKinds() throws {
    let context = try context()
    let json = """
      {
        "int64TestAttribute": 12345678901234567, "int16TestAttribute": "7", "decimalTestAttribute": 1.2, "floatTestAttribute": 1e10,
        "booleanAsStringTestAttribute": "true", "numberAsStringTestAttribute": 5, "nullTestAttribute": null,
        "mappedAttributeWithStringValue": "mapped", "dateTestAttribute": "2011-07-23T22:30:40Z",
        "dateWithCustomFormat": "8/5/2011 1-56-04", "unixTimeTestAttribute": 1000, "unixTime13TestAttribute": 1000000
      }
      """
    let object = try #require(
      try context.importObjects(entityName: "SingleEntityWithNoRelationships", fromJSON: Data(json.utf8)).first
    )
    func date(_ name: String) throws -> String? { (try object.value(forKey: name) as? Date)?.ISO8601Format() }
    #expect(try object.propertyValue(forKey: "int64TestAttribute") == .integer(12_345_678_901_234_567))
    #expect(try object.propertyValue(forKey: "int16TestAttribute") == .integer(7))
    #expect(try object.propertyValue(forKey: "decimalTestAttribute") == PropertyValue(text: "1.2", type: .decimal))
    #expect(try object.propertyValue(forKey: "floatTestAttribute") == .float(1e10))
    #expect(try object.propertyValue(forKey: "booleanAsStringTestAttribute") == .boolean(true))
    #expect(try object.propertyValue(forKey: "numberAsStringTestAttribute") == .string("5"))
    #expect(try object.propertyValue(forKey: "nullTestAttribute") == .null)
    #expect(try object.propertyValue(forKey: "mappedStringAttribute") == .string("mapped"))
    let notThere = try object.propertyValue(forKey: "notInJsonAttribute")
    #expect(notThere == .string("Set From Core Data Model Editor"))
    #expect(try date("dateTestAttribute") == "2011-07-23T22:30:40Z")
    #expect(try date("dateWithCustomFormat") == "2011-08-05T01:56:04Z")
    #expect(try date("unixTimeTestAttribute") == "1970-01-01T00:16:40Z")
    #expect(try date("unixTime13TestAttribute") == "1970-01-01T00:16:40Z")
    #expect(context.hasChanges)
  }

  /// `MappedEntity` says that an attribute tells its objects apart which it does not have; its relationships name others.
  @Test func recordsInRecords() throws {
    let context = try context()
    func number() throws -> Int { try context.count(entityName: "MappedEntity") }
    let many = "SingleEntityRelatedToManyMappedEntitiesUsingMappedPrimaryKey"
    try context.importObjects(
      entityName: many,
      from: [["testPrimaryKey": 84, "mappedEntities": [1, 2, ["id": 3, "sampleAttribute": "three"]]]]
    )
    let again = try context.importObjects(entityName: many, from: [["testPrimaryKey": 84, "mappedEntities": [3, 4]]])
    #expect(try context.count(entityName: many) == 1 && number() == 4)
    #expect((try again[0].value(forKey: "mappedEntities") as? [ManagedObject])?.count == 4)
    let mapped = "SingleEntityRelatedToMappedEntityUsingMappedPrimaryKey"
    let one = try context.importObjects(entityName: mapped, from: [["someRandomAttributeName": ["id": 3]]])
    let three = try #require(try one[0].value(forKey: "mappedEntity") as? ManagedObject)
    #expect(try three.propertyValue(forKey: "sampleAttribute") == .string("three"))
    let record: ImportValue = ["mappedEntity": ["mappedEntityID": 42, "attributeValue": ["nestedValue": "nested"]]]
    let nested = try context.importObjects(
      entityName: "SingleEntityRelatedToMappedEntityWithNestedMappedAttributes",
      from: [record, record]
    )
    let other = try #require(try nested[1].value(forKey: "mappedEntity") as? ManagedObject)
    #expect(try other.propertyValue(forKey: "nestedAttribute") == .string("nested"))
    #expect(try number() == 5)
    let secondary = try context.importObjects(
      entityName: "SingleEntityRelatedToMappedEntityWithSecondaryMappings",
      from: [["actualMappedKey": "mapped", "actualRelatedObject": ["mappedEntityID": 42]]]
    )
    #expect(try secondary[0].propertyValue(forKey: "secondaryMappedAttribute") == .string("mapped"))
    #expect(try secondary[0].value(forKey: "mappedRelationship") as? ManagedObject === other)
    let mistake = persistenceError { try context.importObjects(entityName: "MappedEntity", from: [[:]]) }
    #expect(mistake?.code == .importMappingUnusable)
  }
}
