import Heartwood

/// The model that workers and the tests that start them agree on.
enum WorkerModel {
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [
        EntityDefinition(
          name: "Item",
          properties: [
            .attribute("name", .string),
            .attribute(
              AttributeDescription(
                name: "data",
                type: .binary,
                isOptional: true,
                allowsExternalBinaryDataStorage: true
              )
            ),
            .toMany("parts", "Part", inverse: "item", ordered: true),
          ],
          uniquenessConstraints: [["name"]]
        ),
        EntityDefinition(name: "Part", properties: [.toOne("item", "Item", inverse: "parts")]),
      ],
      versionIdentifiers: ["worker"]
    )
  }
}
