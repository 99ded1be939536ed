import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct KeyedValueTests {
  @Test func genericObjectsHaveValuesByName() throws {
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: Library.model, registry: .default)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let ann = try context.insert(entityName: "Person")
    let bob = try context.insert(entityName: "Employee")
    try ann.setValue("Ann", forKey: "name")
    try bob.setValue("Bob", forKey: "name")
    try bob.setValue(1000, forKey: "salary")
    try ann.setValue(bob, forKey: "spouse")
    try ann.setValue([bob], forKey: "students")
    try ann.setValue(Set([ann, bob]), forKey: "friends")
    try context.save()
    let people = try context.fetch(entityName: "Person")
    #expect(people.count == 2)
    #expect(try ann.value(forKey: "name") as? String == "Ann")
    #expect(try bob.value(forKey: "salary") as? Int == 1000)
    #expect(try ann.value(forKey: "spouse") as? ManagedObject === bob)
    #expect(try bob.value(forKey: "spouse") as? ManagedObject === ann)
    #expect(try bob.value(forKey: "mentor") as? ManagedObject === ann)
    #expect(try ann.value(forKey: "students") as? [ManagedObject] == [bob])
    #expect(Set(try #require(try ann.value(forKey: "friends") as? [ManagedObject])) == [ann, bob])
    try bob.setValue(nil, forKey: "salary")
    try ann.setValue(nil, forKey: "spouse")
    #expect(try bob.value(forKey: "salary") == nil)
    #expect(try bob.value(forKey: "spouse") == nil)
  }

  @Test func idsAreValuesOfRelationships() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    let bob = try context.person("Bob")
    try ann.setPropertyValue(.toMany([bob.objectID, ann.objectID, bob.objectID]), forKey: "students")
    #expect(ann.students == [bob, ann])
    #expect(ann.mentor == ann)
    #expect(try bob.propertyValue(forKey: "mentor") == .toOne(ann.objectID))
    try bob.setPropertyValue(.null, forKey: "mentor")
    #expect(try ann.propertyValue(forKey: "students") == .toMany([ann.objectID]))
  }

  @Test func mistakesAreTypedErrors() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    let book = try context.book("Book")
    let stranger = try TestStack().context().person("Stranger")
    func code(_ body: () throws -> Void) -> PersistenceError.Code? { persistenceError(body)?.code }
    #expect(code { _ = try ann.value(forKey: "nmae") } == .propertyUnknown)
    #expect(code { try ann.setValue("x", forKey: "nmae") } == .propertyUnknown)
    #expect(code { try ann.setPropertyValue(.integer(1), forKey: "name") } == .valueTypeMismatch)
    #expect(code { try ann.setValue(1, forKey: "name") } == .valueTypeMismatch)
    #expect(code { try ann.setValue(context, forKey: "name") } == .valueTypeMismatch)
    #expect(code { try ann.setValue("Bob", forKey: "spouse") } == .valueTypeMismatch)
    #expect(code { try ann.setValue(book, forKey: "spouse") } == .valueTypeMismatch)
    #expect(code { try ann.setValue([ann, book], forKey: "friends") } == .valueTypeMismatch)
    #expect(code { try ann.setValue(nil, forKey: "friends") } == .valueTypeMismatch)
    #expect(code { try ann.setValue(stranger, forKey: "spouse") } == .objectNotFound)
    #expect(code { try ann.setPropertyValue(.toOne(stranger.objectID), forKey: "spouse") } == .objectNotFound)
    #expect(ann.friends.isEmpty)
    #expect(ann.spouse == nil)
    let error = try #require(persistenceError { try ann.setValue(1, forKey: "name") })
    #expect(error.context.entity == "Person")
    #expect(error.context.property == "name")
  }

  @Test func numbersAreNotConverted() throws {
    let context = try TestStack().context()
    let values = try context.insert(entityName: "Values")
    func code(_ value: Any?, _ name: String) -> PersistenceError.Code? {
      persistenceError { try values.setValue(value, forKey: name) }?.code
    }
    for (name, range) in [
      ("integer16", Int16.min.asInt...Int16.max.asInt), ("integer32", Int32.min.asInt...Int32.max.asInt),
    ] {
      for number in [range.lowerBound, range.upperBound] {
        try values.setValue(number, forKey: name)
        #expect(try values.value(forKey: name) as? Int == number)
      }
      // What is out of range is reported by the save.
      for number in [range.lowerBound - 1, range.upperBound + 1] {
        #expect(code(number, name) == nil)
        #expect(try values.value(forKey: name) as? Int == number)
      }
    }
    // Narrower integers are integers; everything else would have to be converted.
    try values.setValue(Int16(7), forKey: "integer64")
    #expect(try values.value(forKey: "integer64") as? Int == 7)
    for stranger: Any in [7.0, Float(7), Decimal(7), NSNumber(value: 7), UInt8(7), UInt64.max, true, "7"] {
      #expect(code(stranger, "integer64") == .valueTypeMismatch, "\(type(of: stranger))")
    }
    #expect(try values.value(forKey: "integer64") as? Int == 7)
    #expect(code(1, "double") == .valueTypeMismatch)
    #expect(code(Float(1), "double") == .valueTypeMismatch)
    #expect(code(1.0, "float") == .valueTypeMismatch)
    #expect(code(1.0, "decimal") == .valueTypeMismatch)
    #expect(code(1, "boolean") == .valueTypeMismatch)
    #expect(code(NSNumber(value: true), "boolean") == .valueTypeMismatch)
    let error = try #require(persistenceError { try values.setValue("40000", forKey: "integer16") })
    #expect(error.message.contains("integer16") && error.context.property == "integer16")
  }

  @Test func optionalsAreWhatTheyHave() throws {
    let context = try TestStack().context()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    let book = try context.book("Book")
    try ann.setValue(Optional(bob) as Any, forKey: "spouse")
    try book.setValue(Optional("Title") as Any, forKey: "title")
    #expect(bob.spouse === ann && book.title == "Title")
    try ann.setValue(Person?.none as Any, forKey: "spouse")
    try book.setValue(String?.none as Any, forKey: "title")
    #expect(bob.spouse == nil && book.title == nil)
  }

  @Test func changesAreKnownByName() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    #expect(ann.changedValues() == ["name": .string("Ann")])
    #expect(ann.committedValues().isEmpty)
    try context.save()
    #expect(ann.changedValues().isEmpty)
    ann.name = "Anna"
    ann.friends = [ann]
    #expect(ann.changedValues() == ["name": .string("Anna"), "friends": .toMany([ann.objectID])])
    #expect(ann.committedValues()["name"] == .string("Ann"))
    #expect(ann.committedValues()["friends"] == .toMany([]))
  }
}

extension FixedWidthInteger {
  fileprivate var asInt: Int { Int(self) }
}
