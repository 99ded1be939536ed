import Foundation
import HeartwoodModel

/// A compiled model with everything in it that is read, and the model that it stands for.
enum CompiledModelFixture {
  static func archive() -> (builder: ArchiveBuilder, root: Int) {
    let builder = ArchiveBuilder()
    let (person, pet) = (builder.reserve(), builder.reserve())
    let root = builder.object(
      "NSManagedObjectModel",
      [
        "NSEntities": .reference(builder.dictionary(["Person": person, "Pet": pet])),
        "NSVersionIdentifiers": .reference(builder.object("NSSet", ["NS.objects": .references([builder.text("v1")])])),
        "NSConfigurations": .reference(
          builder.dictionary([
            "PF_DEFAULT_CONFIGURATION_NAME": builder.array([person, pet]), "Local": builder.array([pet]),
          ])
        ),
        "NSFetchRequestTemplates": .reference(builder.dictionary(["adults": template(builder, person)])),
      ]
    )
    fillPerson(builder, person)
    fillPet(builder, pet, person: person)
    return (builder, root)
  }

  private static func template(_ builder: ArchiveBuilder, _ entity: Int) -> Int {
    let path = builder.object("NSKeyPathSpecifierExpression", ["NSKeyPath": .reference(builder.text("age"))])
    let key = builder.object(
      "NSKeyPathExpression",
      [
        "NSOperand": .reference(builder.object("NSSelfExpression", [:])),
        "NSArguments": .reference(builder.array([path])),
      ]
    )
    let variable = builder.object("NSVariableExpression", ["NSVariable": .reference(builder.text("AGE"))])
    let predicate = comparison(builder, key, 3, variable)
    return builder.object(
      "NSFetchRequest",
      ["NSEntity": .reference(entity), "NSPredicate": .reference(predicate), "NSFetchLimit": .integer(5)]
    )
  }

  private static func comparison(_ builder: ArchiveBuilder, _ left: Int, _ type: Int, _ right: Int) -> Int {
    builder.object(
      "NSComparisonPredicate",
      [
        "NSLeftExpression": .reference(left), "NSRightExpression": .reference(right),
        "NSPredicateOperator": .reference(
          builder.object(
            "NSComparisonPredicateOperator",
            ["NSOperatorType": .integer(type), "NSModifier": .integer(0)]
          )
        ),
      ]
    )
  }

  private static func constant(_ builder: ArchiveBuilder, _ value: Int) -> Int {
    builder.object("NSConstantValueExpression", ["NSConstantValue": .reference(value)])
  }

  private static func attribute(
    _ builder: ArchiveBuilder,
    _ name: String,
    _ type: Int,
    _ fields: [String: ArchiveBuilder.Field] = [:]
  ) -> Int {
    let name = builder.text(name)
    let common: [String: ArchiveBuilder.Field] = [
      "NSPropertyName": .reference(name), "NSRenamingIdentifier": .reference(name), "NSAttributeType": .integer(type),
    ]
    return builder.object("NSAttributeDescription", common.merging(fields) { $1 })
  }

  private static func fillPerson(_ builder: ArchiveBuilder, _ number: Int) {
    let properties = personAttributes(builder).merging(["pets": pets(builder)]) { $1 }
    let unique = builder.array([builder.array([builder.text("age"), builder.text("born")])])
    let element = builder.object(
      "NSFetchIndexElementDescription",
      ["NSPropertyName": .reference(builder.text("age")), "NSAscending": .flag(false)]
    )
    let index = builder.object(
      "NSFetchIndexDescription",
      ["NSIndexName": .reference(builder.text("byAge")), "NSIndexElements": .reference(builder.array([element]))]
    )
    _ = builder.object(
      "NSEntityDescription",
      [
        "NSEntityName": .reference(builder.text("Person")),
        "NSClassNameForEntity": .reference(builder.text("NSManagedObject")),
        "NSProperties": .reference(builder.dictionary(properties)), "NSUniqueTuples": .reference(unique),
        "NSFetchIndexDescriptions": .reference(builder.array([index])),
        "NSRenamingIdentifier": .reference(builder.text("Human")),
        "NSUserInfo": .reference(builder.dictionary(["a": builder.text("b")])),
      ],
      at: number
    )
  }

  private static func personAttributes(_ builder: ArchiveBuilder) -> [String: Int] {
    let isAdult = comparison(
      builder,
      builder.object("NSSelfExpression", [:]),
      3,
      constant(builder, builder.value(.integer(18)))
    )
    let decimal = builder.object(
      "NSDecimalNumberPlaceholder",
      [
        "NS.mantissa": .data([0xD2, 0x04, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), "NS.mantissa.bo": .integer(1),
        "NS.exponent": .integer(-2), "NS.length": .integer(1), "NS.negative": .flag(true),
      ]
    )
    let date = builder.object("NSDate", ["NS.time": .real(86_400)])
    let fields: [(name: String, type: Int, [String: ArchiveBuilder.Field])] = [
      (
        "age", 100,
        [
          "NSDefaultValue": .reference(builder.value(.integer(20))),
          "NSValidationPredicates": .reference(builder.array([isAdult])),
        ]
      ),
      ("balance", 400, ["NSDefaultValue": .reference(decimal), "NSIsOptional": .flag(true)]),
      ("born", 900, ["NSDefaultValue": .reference(date), "NSIsOptional": .flag(true)]),
      (
        "photo", 1_000,
        [
          "NSFlagsKey": .integer(20), "NSIsOptional": .flag(true),
          "NSVersionHashModifier": .reference(builder.text("2")),
        ]
      ),
    ]
    return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, attribute(builder, $0.name, $0.type, $0.2)) })
  }

  private static func pets(_ builder: ArchiveBuilder) -> Int {
    builder.object(
      "NSRelationshipDescription",
      [
        "NSPropertyName": .reference(builder.text("pets")), "NSIsOptional": .flag(true), "NSIsOrdered": .flag(true),
        "NSMaxCount": .integer(0), "NSDeleteRule": .integer(2),
        "_NSDestinationEntityName": .reference(builder.text("Pet")),
        "_NSInverseRelationshipName": .reference(builder.text("owner")),
      ]
    )
  }

  private static func fillPet(_ builder: ArchiveBuilder, _ number: Int, person: Int) {
    let owner = builder.object(
      "NSRelationshipDescription",
      [
        "NSPropertyName": .reference(builder.text("owner")), "NSMaxCount": .integer(1), "NSDeleteRule": .integer(3),
        "_NSDestinationEntityName": .reference(builder.text("Person")),
        "_NSInverseRelationshipName": .reference(builder.text("pets")), "NSIsOptional": .flag(true),
      ]
    )
    _ = builder.object(
      "NSEntityDescription",
      [
        "NSEntityName": .reference(builder.text("Pet")), "NSClassNameForEntity": .reference(builder.text("PetObject")),
        "NSProperties": .reference(builder.dictionary(["owner": owner])), "NSIsAbstract": .flag(true),
      ],
      at: number
    )
  }

  static func model() throws -> ManagedObjectModel {
    let person = EntityDefinition(
      name: "Person",
      properties: [
        .attribute("age", .integer16, default: .integer(20), rules: AttributeRules(minValue: .integer(18))),
        .attribute("balance", .decimal, optional: true, default: .decimal(Decimal(-1_234) / 100)),
        .attribute("born", .date, optional: true, default: .date(Date(timeIntervalSinceReferenceDate: 86_400))),
        .toMany("pets", "Pet", inverse: "owner", ordered: true, deleteRule: .cascade),
        .attribute(
          AttributeDescription(
            name: "photo",
            type: .binary,
            allowsExternalBinaryDataStorage: true,
            preservesValueInHistoryOnDeletion: true,
            versionHashModifier: "2"
          )
        ),
      ],
      uniquenessConstraints: [["age", "born"]],
      fetchIndexes: [
        FetchIndexDescription(
          name: "byAge",
          elements: [FetchIndexElementDescription(.property("age"), isAscending: false)]
        )
      ],
      renamingIdentifier: "Human",
      userInfo: ["a": "b"]
    )
    let pet = EntityDefinition(
      name: "Pet",
      managedObjectClassName: "PetObject",
      isAbstract: true,
      properties: [.toOne("owner", "Person", inverse: "pets", deleteRule: .deny)]
    )
    return try ManagedObjectModel(
      entities: [person, pet],
      configurations: ["Local": ["Pet"]],
      versionIdentifiers: ["v1"],
      fetchRequestTemplates: [
        FetchRequestTemplate(
          name: "adults",
          entityName: "Person",
          predicate: try FetchPredicate(format: "age >= $AGE"),
          fetchLimit: 5
        )
      ]
    )
  }
}
