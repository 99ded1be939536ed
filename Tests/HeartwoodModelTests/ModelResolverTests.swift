import HeartwoodModel
import Testing

@Suite("Resolved models")
struct ModelResolverTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [
        .entity("Leaf", parent: "Middle", unique: [["code", "own"]], .attribute("own", .string)),
        .entity(
          "Root",
          abstract: true,
          unique: [["code"]],
          .attribute("code", .string),
          .toOne("owner", "Owner", inverse: "all")
        ),
        .entity("Owner", .attribute("title", .string), .toMany("all", "Root", inverse: "owner")),
        .entity("Middle", parent: "Root", .toMany("parts", "Middle", inverse: nil)),
      ],
      configurations: ["Half": ["Owner", "Leaf"]]
    )
  }

  @Test("A property has the same ordinal in an entity and in all its subentities")
  func ordinals() throws {
    let model = try model()
    for name in ["Root", "Middle", "Leaf"] {
      let entity = try #require(model.entity(named: name))
      #expect(entity.ordinal(ofProperty: "code") == 0)
      #expect(entity.ordinal(ofProperty: "owner") == 1)
      #expect(entity.relationshipTargets[1]?.entityOrdinal == 2)
      #expect(entity.relationshipTargets[1]?.inverseOrdinal == 1)
    }
    let leaf = try #require(model.entity(named: "Leaf"))
    #expect(leaf.properties.map(\.name) == ["code", "owner", "parts", "own"])
    #expect(leaf.attributesByName.keys.sorted() == ["code", "own"])
    #expect(leaf.relationshipsByName.keys.sorted() == ["owner", "parts"])
    let parts = try #require(leaf.relationshipTargets[2])
    #expect(parts.entityOrdinal == 3)
    #expect(parts.inverseOrdinal == nil)
    #expect(leaf.relationshipTargets[3] == nil)
    #expect(leaf.uniquenessConstraints == [[0], [0, 3]])
  }

  @Test("The hierarchy is known both ways")
  func hierarchy() throws {
    let model = try model()
    let root = try #require(model.entity(named: "Root"))
    let leaf = try #require(model.entity(named: "Leaf"))
    #expect(root.subentityOrdinals == [0, 3])
    #expect(leaf.superentity?.name == "Middle")
    #expect(leaf.rootEntity === root)
    #expect(leaf.isKind(of: root))
    #expect(!root.isKind(of: leaf))
    #expect(model.concreteEntities(under: root).map(\.name) == ["Leaf", "Middle"])
  }

  @Test("A one-sided inverse counts for the hash only")
  func oneSidedInverse() throws {
    var picture = RelationshipDescription(
      name: "artist",
      destinationEntityName: "Artist",
      inverseRelationshipName: "thumbnail",
      hasOneSidedInverse: true
    )
    func image() throws -> EntityDescription {
      let model = try ManagedObjectModel(entities: [
        .entity("Image", .relationship(picture), .toOne("thumbnail", "Artist", inverse: "thumbnail")),
        .entity("Artist", .toOne("thumbnail", "Image", inverse: "thumbnail")),
      ])
      #expect(try ManagedObjectModel(encoded: model.encoded()) == model)
      return model.entities[0]
    }
    let marked = try image()
    #expect(marked.relationshipTargets.map { $0?.inverseOrdinal } == [nil, 0])
    picture.hasOneSidedInverse = false
    #expect(throws: ModelValidationError.self) { try image() }
    picture.inverseRelationshipName = nil
    #expect(try image().versionHash != marked.versionHash)
  }

  @Test("A configuration has its entities in declared order")
  func configurations() throws {
    let model = try model()
    #expect(model.entities(forConfiguration: "Half")?.map(\.name) == ["Leaf", "Owner"])
    #expect(model.entities(forConfiguration: nil)?.count == 4)
    #expect(model.entities(forConfiguration: "Other") == nil)
  }
}
