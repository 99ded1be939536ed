import HeartwoodModel
import Testing

/// What no store depends on is told, too, where it differs.
@Suite("Differences of models beside what stores keep")
struct ModelComparisonTests {
  private static let attributes: [PropertyDescription] = [
    .attribute("x", .string, optional: true), .attribute("y", .string, optional: true),
  ]

  private static func entity(
    fetched: [FetchedPropertyDescription] = [],
    indexes: [FetchIndexDescription] = [],
    composites: [CompositeAttributeDescription] = [],
    was identifier: String? = nil
  ) -> EntityDefinition {
    EntityDefinition(
      name: "A",
      properties: attributes,
      fetchedProperties: fetched,
      fetchIndexes: indexes,
      compositeAttributes: composites,
      renamingIdentifier: identifier
    )
  }

  private func changes(_ old: EntityDefinition, _ new: EntityDefinition) throws -> [String] {
    let models = try [old, new].map { try ManagedObjectModel(entities: [$0, .entity("B")]) }
    return changes(models[0], models[1])
  }

  private func changes(_ old: ManagedObjectModel, _ new: ManagedObjectModel) -> [String] {
    let differences = ModelDifferences(from: old, to: new)
    #expect(!differences.requiresMigration)
    #expect(differences.isInferable)
    return differences.changes.map(\.description)
  }

  @Test func fetchedProperties() throws {
    func property(_ entityName: String, optional: Bool = true, _ userInfo: [String: String] = [:]) throws
      -> FetchedPropertyDescription
    {
      let request = FetchRequestTemplate(
        name: "f",
        entityName: entityName,
        predicate: try FetchPredicate(format: "x == $FETCH_SOURCE.x")
      )
      return FetchedPropertyDescription(name: "f", fetchRequest: request, isOptional: optional, userInfo: userInfo)
    }
    let (none, one) = (Self.entity(), Self.entity(fetched: [try property("A")]))
    #expect(try changes(one, one).isEmpty)
    let added = "changed A.f: fetched property: none → A where x == $FETCH_SOURCE.x"
    #expect(try changes(none, one) == [added])
    #expect(try changes(one, none) == ["changed A.f: fetched property: A where x == $FETCH_SOURCE.x → none"])
    let other = Self.entity(fetched: [try property("B", optional: false, ["key": "value"])])
    #expect(
      try changes(one, other) == [
        "changed A.f: fetched property: A where x == $FETCH_SOURCE.x → B where x == $FETCH_SOURCE.x",
        "changed A.f: optional: yes → no", "changed A.f: user info: … → …",
      ]
    )
  }

  @Test func compositeAttributes() throws {
    func composite(_ name: String) -> CompositeAttributeDescription {
      CompositeAttributeDescription(
        name: "c",
        compositeName: "C",
        elements: [.init(name: "first", attributeName: name)]
      )
    }
    let entities = ["x", "y"].map { Self.entity(composites: [composite($0)]) }
    #expect(try changes(Self.entity(), entities[0]) == ["changed A.c: composite attribute: none → C (first: x)"])
    #expect(
      try changes(entities[0], entities[1]) == ["changed A.c: composite attribute: C (first: x) → C (first: y)"]
    )
  }

  @Test func indexesAndIdentifiers() throws {
    let ascending = FetchIndexDescription(name: "i", properties: ["x"])
    var descending = ascending
    descending.elements[0].isAscending = false
    #expect(
      try changes(Self.entity(indexes: [ascending]), Self.entity(indexes: [descending]))
        == ["changed A: indexes: i (x) → i (x descending)"]
    )
    #expect(try changes(Self.entity(), Self.entity(was: "Z")) == ["changed A: renaming identifier: none → “Z”"])
  }

  @Test func fetchRequests() throws {
    func model(_ template: FetchRequestTemplate) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [Self.entity(), .entity("B")], fetchRequestTemplates: [template])
    }
    let predicate = try FetchPredicate(format: "x == $X")
    let first = FetchRequestTemplate(name: "r", entityName: "A", predicate: predicate)
    var (second, third) = (first, first)
    second.entityName = "B"
    third.predicate = nil
    third.resultType = .count
    third.fetchLimit = 5
    third.returnsDistinctResults = true
    #expect(
      try changes(model(first), model(second)) == ["changed fetch request r: fetch: A where x == $X → B where x == $X"]
    )
    #expect(
      try changes(model(first), model(third))
        == ["changed fetch request r: fetch: A where x == $X → all A, as count, at most 5, distinct"]
    )
  }

  @Test func localization() throws {
    let models = try [[:], ["Entity/A": "Apfel"], ["Entity/A": "Apple"]].map {
      try ManagedObjectModel(entities: [Self.entity()], localizationDictionary: $0)
    }
    #expect(changes(models[0], models[1]) == ["changed model: localization of Entity/A: none → “Apfel”"])
    #expect(changes(models[1], models[2]) == ["changed model: localization of Entity/A: “Apfel” → “Apple”"])
  }
}
