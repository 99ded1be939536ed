import HeartwoodMacros
import Testing

/// What the macros make of a class is what a person could write.
@Suite("Descriptions of classes with macros")
struct DescribedEntityTests {
  @Test("An entity has its options, attributes and indexes")
  func item() throws {
    let expected = EntityDefinition(
      name: "Item",
      managedObjectClassName: "Item",
      isAbstract: true,
      properties: [
        .attribute(
          AttributeDescription(
            name: "memo",
            type: .string,
            isOptional: false,
            defaultValue: .string(""),
            renamingIdentifier: "title",
            versionHashModifier: "1",
            userInfo: ["k": "v"]
          )
        ),
        .attribute("code", .string, optional: true),
        .attribute("due", .date, optional: true),
      ],
      uniquenessConstraints: [["code"], ["memo", "code"]],
      fetchIndexes: [
        FetchIndexDescription(name: "byMemoIndex", properties: ["memo"]),
        FetchIndexDescription(name: "byDueAndMemo", properties: ["due", "memo"]),
      ],
      renamingIdentifier: "Note",
      versionHashModifier: "2",
      userInfo: ["a": "b"]
    )
    #expect(try Item.entityDefinition == expected)
  }

  @Test("Every option of an attribute is reached", arguments: expectedAttributes)
  func attribute(_ expected: AttributeDescription) throws {
    let attributes = try #require(try Errand.entityDefinition).properties.compactMap(\.attribute)
    #expect(attributes.count == Self.expectedAttributes.count)
    #expect(attributes.first { $0.name == expected.name } == expected)
  }

  private static let expectedAttributes: [AttributeDescription] = [
    AttributeDescription(name: "isDone", type: .boolean, isOptional: false, defaultValue: .boolean(false)),
    AttributeDescription(
      name: "stars",
      type: .integer16,
      isOptional: false,
      defaultValue: .integer(3),
      rules: AttributeRules(minValue: .integer(1), maxValue: .integer(5))
    ),
    AttributeDescription(
      name: "tag",
      type: .string,
      isOptional: false,
      defaultValue: .string("none"),
      rules: AttributeRules(
        minLength: 2,
        maxLength: 10,
        pattern: "[a-z]*",
        predicates: [ValidationPredicate(.literal(true), warning: "is wrong.")]
      )
    ),
    AttributeDescription(name: "count", type: .integer32),
    AttributeDescription(name: "priority", type: .integer16, isOptional: false, defaultValue: .integer(0)),
    AttributeDescription(name: "place", type: .transformable),
    AttributeDescription(name: "note", type: .string, isTransient: true),
    AttributeDescription(
      name: "picture",
      type: .binary,
      allowsExternalBinaryDataStorage: true,
      preservesValueInHistoryOnDeletion: true
    ),
    AttributeDescription(
      name: "shout",
      type: .string,
      derivationExpression: .function(.uppercase, [.key("memo")])
    ),
    AttributeDescription(
      name: "secret",
      type: .transformable,
      valueTransformerName: "ReversingTransformer",
      attributeValueClassName: "Array<String>"
    ),
    AttributeDescription(name: "description", type: .string),
    AttributeDescription(name: "default", type: .double, isOptional: false, defaultValue: .double(-1.5)),
  ]

  @Test("Every option of a relationship is reached, and inverses are named on both sides")
  func relationships() throws {
    let model = try ManagedObjectModel(of: [Item.self, Errand.self, List.self])
    let todo = try #require(model.entity(named: "Errand"))
    #expect(todo.superentity?.name == "Item")
    let list = RelationshipDescription(
      name: "list",
      destinationEntityName: "Folder",
      inverseRelationshipName: "items",
      isOptional: false,
      minCount: 1,
      versionHashModifier: "1",
      userInfo: ["k": "v"]
    )
    let steps = RelationshipDescription(
      name: "steps",
      destinationEntityName: "Errand",
      isToMany: true,
      isOrdered: true,
      deleteRule: .noAction,
      minCount: 1,
      maxCount: 3,
      renamingIdentifier: "parts"
    )
    let fans = RelationshipDescription(
      name: "fans",
      destinationEntityName: "Errand",
      inverseRelationshipName: "fans",
      isToMany: true,
      isTransient: true
    )
    #expect(todo.definition.properties.compactMap(\.relationship) == [list, steps, fans])
    let folder = try #require(model.entity(named: "Folder"))
    #expect(folder.definition.managedObjectClassName == "List")
    let relationships = folder.definition.properties.compactMap(\.relationship)
    #expect(relationships.map(\.name) == ["items", "parent", "children"])
    #expect(relationships.map(\.inverseRelationshipName) == ["list", "children", "parent"])
    #expect(relationships.map(\.deleteRule) == [.cascade, .nullify, .nullify])
    #expect(relationships.map(\.isOrdered) == [false, false, true])
  }

  @Test("A relationship may lead back to another than the one that leads to it")
  func oneSidedInverse() throws {
    let model = try ManagedObjectModel(of: [Reader.self, Book.self])
    let writer = try #require(model.entity(named: "Book")?.definition.properties.first?.relationship)
    #expect(writer.hasOneSidedInverse && writer.inverseRelationshipName == "books")
    let books = try #require(model.entity(named: "Reader")?.definition.properties.first?.relationship)
    #expect(books.inverseRelationshipName == "reader")
  }

  @Test("A class that describes nothing is refused")
  func undescribed() throws {
    #expect(throws: PersistenceError.self) { try ManagedObjectModel(of: [Errand.self, Undescribed.self]) }
    #expect(throws: ModelValidationError.self) { try ManagedObjectModel(of: [Errand.self, List.self]) }
    #expect(throws: FetchPredicateError.self) { try ManagedObjectModel(of: [Miscounted.self]) }
  }

  @Test("A property may be called as the requirement of Identifiable is")
  func propertyCalledID() throws {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: ManagedObjectModel(of: [Keyed.self]),
      objectClasses: [Keyed.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let object = try context.insert(Keyed.self)
    object.id = "a"
    #expect(object.id == "a" && identity(object) == object.objectID)
    #expect(try context.count(Keyed.self, where: Keyed.idKey == "a") == 1)
  }

  private func identity<Object: Identifiable>(_ object: Object) -> Object.ID { object.id }

  private final class Undescribed: ManagedObject {}
}

@Entity final class Keyed: ManagedObject {
  @Attribute var id: String = ""
}

@Entity final class Reader: ManagedObject {
  @Relationship(inverse: \Book.reader) var books: RelatedSet<Book>
}

@Entity final class Book: ManagedObject {
  @Relationship(.oneSidedInverse, inverse: "books") var writer: Reader?
  @Relationship var reader: Reader?
}

@Entity final class Miscounted: ManagedObject {
  @Attribute(derivedFrom: "SUM(") var count: Int?
}
