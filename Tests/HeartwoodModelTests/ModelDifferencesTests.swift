import HeartwoodModel
import Testing

@Suite("Differences of models")
struct ModelDifferencesTests {
  private func differences(_ old: [EntityDefinition], _ new: [EntityDefinition]) throws -> ModelDifferences {
    ModelDifferences(from: try ManagedObjectModel(entities: old), to: try ManagedObjectModel(entities: new))
  }

  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let old: PropertyDescription?
    let new: PropertyDescription?
    let change: String
    var obstacle: String?
    var requiresMigration = true
  }

  private static let cases = [
    Case(
      testDescription: "nothing",
      old: .attribute("a", .string),
      new: .attribute("a", .string),
      change: "",
      requiresMigration: false
    ),
    Case(testDescription: "added", old: nil, new: .attribute("a", .string, optional: true), change: "added A.a"),
    Case(
      testDescription: "added with a default",
      old: nil,
      new: .attribute("a", .string, default: .string("")),
      change: "added A.a"
    ),
    Case(
      testDescription: "added and required",
      old: nil,
      new: .attribute("a", .string),
      change: "added A.a",
      obstacle: "no default value"
    ),
    Case(
      testDescription: "added transient",
      old: nil,
      new: .attribute("a", .string, transient: true),
      change: "added A.a",
      requiresMigration: false
    ),
    Case(testDescription: "removed", old: .attribute("a", .string), new: nil, change: "removed A.a"),
    Case(
      testDescription: "renamed",
      old: .attribute("b", .string),
      new: .attribute("a", .string, renamedFrom: "b"),
      change: "renamed A.a: was b"
    ),
    Case(
      testDescription: "renamed again",
      old: .attribute("b", .string, renamedFrom: "c"),
      new: .attribute("a", .string, renamedFrom: "c"),
      change: "renamed A.a: was b"
    ),
    Case(
      testDescription: "another type",
      old: .attribute("a", .string),
      new: .attribute("a", .date),
      change: "changed A.a: type: string → date",
      obstacle: "values of the old type"
    ),
    Case(
      testDescription: "another type that values become",
      old: .attribute("a", .integer16),
      new: .attribute("a", .string),
      change: "changed A.a: type: integer16 → string"
    ),
    Case(
      testDescription: "another default",
      old: .attribute("a", .boolean, default: .boolean(true)),
      new: .attribute("a", .boolean, default: .boolean(false)),
      change: "changed A.a: default: true → false",
      requiresMigration: false
    ),
    Case(
      testDescription: "to many",
      old: .toOne("a", "A", inverse: nil),
      new: .toMany("a", "A", inverse: nil),
      change: "changed A.a: to-many: no → yes"
    ),
    Case(
      testDescription: "to one",
      old: .toMany("a", "A", inverse: nil),
      new: .toOne("a", "A", inverse: nil),
      change: "changed A.a: to-many: yes → no"
    ),
    Case(
      testDescription: "another kind",
      old: .attribute("a", .string, optional: true),
      new: .toOne("a", "A", inverse: nil),
      change: "changed A.a: kind: attribute → relationship",
      obstacle: "not known"
    ),
    Case(
      testDescription: "another destination",
      old: .toOne("a", "A", inverse: nil),
      new: .toOne("a", "B", inverse: nil),
      change: "changed A.a: destination: A → B",
      obstacle: "of another entity"
    ),
    Case(
      testDescription: "another delete rule",
      old: .toOne("a", "A", inverse: nil),
      new: .toOne("a", "A", inverse: nil, deleteRule: .cascade),
      change: "changed A.a: delete rule: nullify → cascade",
      requiresMigration: false
    ),
    Case(
      testDescription: "another type of a transient attribute",
      old: .attribute("a", .string, optional: true, transient: true),
      new: .attribute("a", .date, optional: true, transient: true),
      change: "changed A.a: type: string → date",
      requiresMigration: false
    ),
    Case(
      testDescription: "a transient attribute becomes required",
      old: .attribute("a", .string, optional: true, transient: true),
      new: .attribute("a", .string, transient: true),
      change: "changed A.a: optional: yes → no",
      requiresMigration: false
    ),
    Case(
      testDescription: "a transient attribute is renamed",
      old: .attribute("b", .string, transient: true),
      new: .attribute("a", .string, transient: true, renamedFrom: "b"),
      change: "renamed A.a: was b",
      requiresMigration: false
    ),
    Case(
      testDescription: "another derivation",
      old: .attribute(AttributeDescription(name: "a", type: .string, derivationExpression: .key("name"))),
      new: .attribute(AttributeDescription(name: "a", type: .string, derivationExpression: .key("title"))),
      change: "changed A.a: derivation: name → title",
      requiresMigration: false
    ),
  ]

  @Test("A change of a property is told, with what hinders a migration", arguments: cases)
  func property(_ given: Case) throws {
    func entities(_ property: PropertyDescription?) -> [EntityDefinition] {
      [EntityDefinition(name: "A", properties: [property].compactMap(\.self)), .entity("B")]
    }
    let differences = try differences(entities(given.old), entities(given.new))
    #expect(differences.changes.map(\.description) == (given.change.isEmpty ? [] : [given.change]))
    #expect(differences.isInferable == (given.obstacle == nil))
    if let obstacle = given.obstacle { #expect(differences.obstacles.first?.obstacle?.contains(obstacle) == true) }
    #expect(differences.requiresMigration == given.requiresMigration)
  }

  @Test("Where a migration is said to be needed, version hashes differ, and only there")
  func hashes() throws {
    for given in Self.cases {
      let models = try [given.old, given.new].map { property in
        try ManagedObjectModel(entities: [
          EntityDefinition(name: "A", properties: [property].compactMap(\.self)), .entity("B"),
        ])
      }
      let areSame = models[0].entityVersionHashesByName == models[1].entityVersionHashesByName
      #expect(
        areSame == !ModelDifferences(from: models[0], to: models[1]).requiresMigration,
        "\(given.testDescription)"
      )
    }
  }

  struct Renaming: CustomTestStringConvertible {
    let testDescription: String
    let old: [PropertyDescription]
    let new: [PropertyDescription]
    let changes: [String]
  }

  private static func text(_ name: String, was identifier: String? = nil) -> PropertyDescription {
    .attribute(name, .string, optional: true, renamedFrom: identifier)
  }

  private static let renamings = [
    Renaming(
      testDescription: "an identifier of the version before is left over",
      old: [text("b", was: "a"), text("a")],
      new: [text("c", was: "a"), text("b")],
      changes: ["renamed A.c: was a", "changed A.b: renaming identifier: “a” → none"]
    ),
    Renaming(
      testDescription: "nothing is new",
      old: [text("b", was: "a"), text("a")],
      new: [text("b", was: "a"), text("a")],
      changes: []
    ),
    Renaming(
      testDescription: "an identifier is taken away",
      old: [text("b", was: "a"), text("a")],
      new: [text("b"), text("a")],
      changes: ["changed A.b: renaming identifier: “a” → none"]
    ),
    Renaming(
      testDescription: "renamed again beside one that has the first name",
      old: [text("b", was: "a"), text("a")],
      new: [text("c", was: "a"), text("a")],
      changes: ["renamed A.c: was b"]
    ),
    Renaming(
      testDescription: "two change their names",
      old: [text("a"), text("b")],
      new: [text("a", was: "b"), text("b", was: "a")],
      changes: ["renamed A.a: was b", "renamed A.b: was a"]
    ),
    Renaming(
      testDescription: "two have changed their names",
      old: [text("a", was: "b"), text("b", was: "a")],
      new: [text("a", was: "b"), text("b", was: "a")],
      changes: []
    ),
    Renaming(
      testDescription: "two had changed their names, and one is renamed",
      old: [text("a", was: "b"), text("b", was: "a")],
      new: [text("a", was: "b"), text("c", was: "b")],
      changes: ["renamed A.c: was b"]
    ),
  ]

  @Test("What was renamed is what had the name, or else the identifier", arguments: renamings)
  func renaming(_ given: Renaming) throws {
    let entities = [given.old, given.new].map { [EntityDefinition(name: "A", properties: $0)] }
    #expect(try differences(entities[0], entities[1]).changes.map(\.description) == given.changes)
  }

  @Test("Entities come, go, get other names and other parents")
  func entities() throws {
    let renamed = EntityDefinition(name: "B", renamingIdentifier: "A")
    #expect(try differences([.entity("A")], [renamed]).changes.map(\.description) == ["renamed B: was A"])
    #expect(try differences([.entity("A")], [.entity("B")]).changes.map(\.description) == ["added B", "removed A"])
    let child = try differences([.entity("A"), .entity("B")], [.entity("A"), .entity("B", parent: "A")])
    #expect(child.changes.map(\.path) == ["B"])
    #expect(!child.isInferable)
    let newParent = try differences([.entity("B")], [.entity("A"), .entity("B", parent: "A")])
    #expect(newParent.isInferable)
    let abstract = try differences([.entity("A")], [.entity("A", abstract: true)])
    #expect(abstract.obstacles.map(\.path) == ["A"])
    let moved = try differences(
      [.entity("A"), .entity("B", parent: "A", .attribute("x", .string))],
      [.entity("A", .attribute("x", .string)), .entity("B", parent: "A")]
    )
    #expect(moved.changes.map(\.description) == ["added A.x"])
  }

  @Test("What leads to an entity, or inherits from one, is changed where another entity has its name now")
  func reusedNames() throws {
    let leading = EntityDefinition.entity("P", .toOne("a", "A", inverse: nil))
    let again = [EntityDefinition.entity("B", renamedFrom: "A"), .entity("A")]
    let links = try differences([.entity("A"), leading], again + [leading])
    #expect(
      links.changes.map(\.description) == ["renamed B: was A", "added A", "changed P.a: destination: A → A"]
    )
    #expect(links.obstacles.map(\.path) == ["P.a"])
    let followed = try differences([.entity("A"), leading], again + [.entity("P", .toOne("a", "B", inverse: nil))])
    #expect(followed.isInferable)
    #expect(followed.changes.map(\.path) == ["B", "A"])
    let child = try differences([.entity("A"), .entity("C", parent: "A")], again + [.entity("C", parent: "A")])
    #expect(child.changes.map(\.description).contains("changed C: parent: A → A"))
  }

  @Test("A required attribute that moves to a parent needs no default value where all records have one")
  func pullingUp() throws {
    let number = PropertyDescription.attribute("x", .integer16)
    let before = [EntityDefinition.entity("A", abstract: true), .entity("B", parent: "A", number)]
    let after = [EntityDefinition.entity("A", abstract: true, number), .entity("B", parent: "A")]
    let all = try differences(
      before + [.entity("C", parent: "A", number)],
      after + [.entity("C", parent: "A"), .entity("D", parent: "A")]
    )
    #expect(all.changes.map(\.description) == ["added A.x", "added D"])
    #expect(all.isInferable)
    let some = try differences(before + [.entity("C", parent: "A")], after + [.entity("C", parent: "A")])
    #expect(some.obstacles.map(\.path) == ["A.x"])
    let newParent = try differences([.entity("B", number), .entity("C")], after + [.entity("C")])
    #expect(newParent.isInferable)
  }

  @Test("A required attribute that comes with a parent needs a default value")
  func attributesOfNewParents() throws {
    let after = [EntityDefinition.entity("A", abstract: true, .attribute("x", .string)), .entity("B", parent: "A")]
    #expect(try differences([.entity("B")], after).obstacles.map(\.path) == ["B.x"])
    #expect(try differences([.entity("B", abstract: true)], after).isInferable)
    let others = [EntityDefinition.entity("R"), .entity("A", parent: "R", .attribute("x", .string))]
    let joined = try differences(others + [.entity("B", parent: "R")], others + [.entity("B", parent: "A")])
    #expect(joined.obstacles.map(\.path) == ["B.x"])
  }

  @Test("What changes in an attribute on its way to a parent is told")
  func changesOnTheWay() throws {
    let moved = try differences(
      [.entity("A", abstract: true), .entity("B", parent: "A", .attribute("x", .date)), .entity("C", parent: "B")],
      [.entity("A", abstract: true, .attribute("x", .uuid)), .entity("B", parent: "A"), .entity("C", parent: "B")]
    )
    #expect(moved.changes.map(\.description) == ["added A.x", "changed B.x: type: date → uuid"])
    #expect(moved.obstacles.map(\.path) == ["B.x"])
  }

  @Test("An attribute that becomes transient hinders nothing, whatever else of it changes")
  func becomingTransient() throws {
    let before = EntityDefinition.entity("A", .attribute("x", .date, optional: true))
    let transient = try differences([before], [.entity("A", .attribute("x", .uuid, transient: true))])
    #expect(transient.isInferable && transient.requiresMigration)
    let stored = try differences(
      [.entity("A", .attribute("x", .uuid, optional: true, transient: true))],
      [.entity("A", .attribute("x", .uuid))]
    )
    #expect(!stored.isInferable)
  }
}
