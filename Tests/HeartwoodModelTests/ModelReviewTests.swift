import HeartwoodModel
import Testing

@Suite("Reviewing models")
struct ModelReviewTests {
  @Test("A sound model has no warnings")
  func sound() throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "A",
        .attribute("a", .string, optional: true),
        .attribute("b", .integer16, default: .integer(0)),
        .toMany("bs", "B", inverse: "a")
      ),
      .entity("B", .toOne("a", "A", inverse: "bs")),
    ])
    #expect(ModelReview(model).warnings.isEmpty)
  }

  @Test(
    "What is mostly a mistake is told",
    arguments: [
      (.entity("A", .toOne("a", "A", inverse: nil)), [.missingInverse]),
      (.entity("A", .attribute("a", .string)), [.missingDefault]),
      (.entity("A", .attribute("objectID", .string, optional: true)), [.reservedName]),
      (.entity("ManagedObject", .attribute("a", .string, optional: true)), [.reservedName]),
      (.entity("a", .attribute("B", .string, optional: true)), [.nameCase, .nameCase]),
      (.entity("A"), [.noProperties]),
      (.entity("A", abstract: true, .attribute("a", .string, optional: true)), [.abstractWithoutSubentities]),
      (.entity("A", .toOne("a", "A", inverse: "a", deleteRule: .noAction)), [.noAction]),
      (
        .entity(
          "A",
          .relationship(
            RelationshipDescription(
              name: "a",
              destinationEntityName: "A",
              inverseRelationshipName: "a",
              isOrdered: true
            )
          )
        ),
        [.orderOfOne]
      ),
      (.entity("A", .attribute("a", .transformable, optional: true)), [.missingTransformer]),
      (.entity("A", .toMany("a", "A", inverse: "a", optional: false)), [.impossibleCount]),
      (
        .entity(
          "A",
          unique: [["a"], ["b"]],
          .attribute("a", .string, optional: true),
          .attribute("b", .string, optional: true)
        ),
        [.uncertainHash]
      ),
      (
        EntityDefinition(
          name: "A",
          properties: [.attribute("a", .uri, optional: true), .attribute("b", .date, optional: true)],
          fetchIndexes: [
            FetchIndexDescription(name: "byB", properties: ["b", "a"]),
            FetchIndexDescription(name: "byA", properties: ["a", "b"]),
          ]
        ),
        [.unusedIndex]
      ),
    ] as [(EntityDefinition, [ModelReview.Warning.Kind])]
  )
  func warnings(_ entity: EntityDefinition, _ kinds: [ModelReview.Warning.Kind]) throws {
    let warnings = ModelReview(try ManagedObjectModel(entities: [entity])).warnings
    #expect(warnings.map(\.kind) == kinds)
    #expect(warnings.allSatisfy { $0.path.hasPrefix(entity.name) && !$0.message.isEmpty })
  }
}
