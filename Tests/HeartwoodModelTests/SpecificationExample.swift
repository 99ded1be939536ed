import Foundation
import HeartwoodModel
import Testing

/// The model that `Formats/Model/README.md` shows as JSON.
enum SpecificationExample {
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [item(), try toDo(), project()],
      configurations: ["Cloud": ["Project", "ToDo"]],
      versionIdentifiers: ["2.0"]
    )
  }

  private static func item() -> EntityDefinition {
    EntityDefinition(
      name: "Item",
      isAbstract: true,
      properties: [.attribute("identifier", .uuid)],
      uniquenessConstraints: [["identifier"]]
    )
  }

  private static func toDo() throws -> EntityDefinition {
    EntityDefinition(
      name: "ToDo",
      managedObjectClassName: "ToDo",
      superentityName: "Item",
      properties: [
        .attribute("done", .boolean, default: .boolean(false)),
        .attribute(
          "memo",
          .string,
          optional: true,
          rules: AttributeRules(minLength: 1, maxLength: 200, pattern: "\\S.*"),
          userInfo: ["label": "What to do"]
        ),
        .attribute(
          "priority",
          .decimal,
          optional: true,
          default: .decimal(try #require(Decimal(string: "0.5"))),
          rules: AttributeRules(minValue: .decimal(0), maxValue: .decimal(1))
        ),
        .attribute("creationDate", .date, default: .date(Date(timeIntervalSinceReferenceDate: 495_828_900))),
        .attribute(
          AttributeDescription(
            name: "picture",
            type: .binary,
            allowsExternalBinaryDataStorage: true,
            preservesValueInHistoryOnDeletion: true
          )
        ),
        .attribute(
          AttributeDescription(
            name: "color",
            type: .transformable,
            valueTransformerName: "ColorTransformer",
            attributeValueClassName: "Color",
            renamingIdentifier: "colour",
            versionHashModifier: "2"
          )
        ),
        .attribute("isOverdue", .boolean, transient: true),
        .toOne("project", "Project", inverse: "toDos"),
      ]
    )
  }

  private static func project() -> EntityDefinition {
    EntityDefinition(
      name: "Project",
      superentityName: "Item",
      properties: [.toMany("toDos", "ToDo", inverse: "project", ordered: true, count: 1...100, deleteRule: .cascade)],
      renamingIdentifier: "List",
      versionHashModifier: "b",
      userInfo: ["owner": "me"]
    )
  }
}
