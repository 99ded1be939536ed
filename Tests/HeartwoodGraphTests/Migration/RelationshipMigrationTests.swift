import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Relationships that lead to more, to fewer, in an order or not, and values that become unique.
@Suite struct RelationshipMigrationTests {
  /// Authors and books, with a relationship at each end.
  private static func model(_ books: PropertyDescription?, _ authors: PropertyDescription?) throws -> ManagedObjectModel
  {
    let name = PropertyDescription.attribute("name", .string, optional: true)
    return try ManagedObjectModel(entities: [
      EntityDefinition(name: "Author", properties: [name] + [books].compactMap(\.self)),
      EntityDefinition(name: "Book", properties: [name] + [authors].compactMap(\.self)),
    ])
  }

  private static func oneToMany(ordered: Bool = false) throws -> ManagedObjectModel {
    try model(
      .toMany("books", "Book", inverse: "author", ordered: ordered),
      .toOne("author", "Author", inverse: "books")
    )
  }

  private static func manyToMany() throws -> ManagedObjectModel {
    try model(
      .toMany("books", "Book", inverse: "author"),
      .toMany("author", "Author", inverse: "books")
    )
  }

  @Test(arguments: MigrationBench.types)
  func oneObjectBecomesMany(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.oneToMany()) { context in
      let author = try context.make("Author", ["name": "A"])
      for name in ["x", "y"] { try context.make("Book", ["name": name, "author": author]) }
      try context.make("Book", ["name": "z"])
    }
    let context = try bench.migrated(to: try Self.manyToMany())
    #expect(try context.links("Author", "books") == ["A": ["x", "y"]])
    #expect(try context.links("Book", "author") == ["x": ["A"], "y": ["A"], "z": []])
  }

  @Test(arguments: MigrationBench.types)
  func manyObjectsBecomeOne(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.manyToMany()) { context in
      let authors = try ["A", "B"].map { try context.make("Author", ["name": $0]) }
      try context.make("Book", ["name": "x", "author": [authors[0]]])
      try context.make("Book", ["name": "y", "author": authors])
      try context.make("Book", ["name": "z"])
    }
    let new = try Self.oneToMany()
    let report = try #require(try bench.migration(to: new)).dryRun()
    #expect(report.obstacles.map(\.kind) == [.severalObjects])
    #expect(report.obstacles.map(\.count) == [1])
    bench.options[.migrationResolutions] = MigrationResolutions(severalObjects: .keepFirst)
    let context = try bench.migrated(to: new)
    let authors = try context.links("Book", "author")
    #expect(authors["x"] == ["A"])
    #expect(authors["y"]?.count == 1)
    #expect(authors["z"] == [])
    let kept = try #require(authors["y"]?.first)
    #expect(try context.links("Author", "books")[kept]?.contains("y") == true)
  }

  @Test(arguments: MigrationBench.types)
  func anOrderComesAndGoes(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.oneToMany(ordered: true)) { context in
      let books = try ["x", "y", "z"].map { try context.make("Book", ["name": $0]) }
      try context.make("Author", ["name": "A", "books": [books[2], books[0], books[1]]])
    }
    let first = try bench.migrated(to: try Self.oneToMany())
    #expect(try first.links("Author", "books") == ["A": ["x", "y", "z"]])
    first.persistentStoreCoordinator.close()
    let second = try bench.migrated(to: try Self.oneToMany(ordered: true))
    #expect(try second.links("Author", "books")["A"]?.sorted() == ["x", "y", "z"])
  }

  @Test(arguments: MigrationBench.types)
  func relationshipsComeAndGo(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.oneToMany()) { context in
      try context.make("Book", ["name": "x", "author": try context.make("Author", ["name": "A"])])
    }
    let without = try bench.migrated(to: try Self.model(nil, nil))
    #expect(try without.texts("Book", "name") == ["x"])
    without.persistentStoreCoordinator.close()
    let context = try bench.migrated(to: try Self.oneToMany())
    #expect(try context.links("Book", "author") == ["x": []])
  }

  @Test(arguments: MigrationBench.types)
  func aNewInverseLeadsToWhatLeadsBack(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.model(nil, .toOne("author", "Author", inverse: nil))) { context in
      let authors = try ["A", "B"].map { try context.make("Author", ["name": $0]) }
      for (name, author) in [("x", authors[0]), ("y", authors[0]), ("z", authors[1])] {
        try context.make("Book", ["name": name, "author": author])
      }
    }
    let new = try Self.oneToMany()
    let report = try #require(try bench.migration(to: new)).dryRun()
    #expect(report.findings.map(\.kind) == [.restoredLinks])
    #expect(try bench.migrated(to: new).links("Author", "books") == ["A": ["x", "y"], "B": ["z"]])
  }

  @Test(arguments: MigrationBench.types)
  func aNewInverseHasPlaceForOne(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.model(nil, .toOne("author", "Author", inverse: nil))) { context in
      let author = try context.make("Author", ["name": "A"])
      for name in ["x", "y"] { try context.make("Book", ["name": name, "author": author]) }
    }
    let new = try Self.model(.toOne("books", "Book", inverse: "author"), .toOne("author", "Author", inverse: "books"))
    let refused = try #require(try bench.migration(to: new))
    #expect(try refused.dryRun().obstacles.map(\.kind) == [.severalObjects])
    expectError(.migrationFailed) { try refused.run() }
    bench.options[.migrationResolutions] = MigrationResolutions(severalObjects: .keepFirst)
    let context = try bench.migrated(to: new)
    let kept = try #require(try context.links("Author", "books")["A"]?.first)
    #expect(try context.links("Book", "author").filter { !$0.value.isEmpty } == [kept: ["A"]])
  }

  // MARK: Relationships that become each other's inverse

  private static func oneWay() throws -> ManagedObjectModel {
    try model(.toMany("books", "Book", inverse: nil), .toOne("author", "Author", inverse: nil))
  }

  @Test(arguments: MigrationBench.types)
  func twoThatBecomeInversesHaveTheLinksOfBoth(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.oneWay()) { context in
      let books = try ["x", "y", "z"].map { try context.make("Book", ["name": $0]) }
      let authors = try ["A", "B"].map { try context.make("Author", ["name": $0]) }
      try authors[0].setValue([books[0]], forKey: "books")
      try books[1].setValue(authors[0], forKey: "author")
      try books[2].setValue(authors[1], forKey: "author")
    }
    let context = try bench.migrated(to: try Self.oneToMany())
    #expect(try context.links("Author", "books") == ["A": ["x", "y"], "B": ["z"]])
    #expect(try context.links("Book", "author") == ["x": ["A"], "y": ["A"], "z": ["B"]])
  }

  /// What the side that has place for one leads to itself comes first.
  @Test(arguments: MigrationBench.types)
  func twoThatBecomeInversesMayHavePlaceForOne(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.oneWay()) { context in
      let book = try context.make("Book", ["name": "x", "author": try context.make("Author", ["name": "B"])])
      try context.make("Author", ["name": "A", "books": [book]])
    }
    let new = try Self.oneToMany()
    let refused = try #require(try bench.migration(to: new))
    #expect(try refused.dryRun().obstacles == [.init(.severalObjects, "Book", "author", count: 1, isObstacle: true)])
    expectError(.migrationFailed) { try refused.run() }
    bench.options[.migrationResolutions] = MigrationResolutions(severalObjects: .keepFirst)
    let context = try bench.migrated(to: new)
    #expect(try context.links("Book", "author") == ["x": ["B"]])
    #expect(try context.links("Author", "books") == ["A": [], "B": ["x"]])
  }

  @Test(arguments: MigrationBench.types)
  func inversesThatAreMatchedAnewHaveTheLinksOfBoth(_ type: StoreType) throws {
    let name = PropertyDescription.attribute("name", .string, optional: true)
    let old = try ManagedObjectModel.of(
      .entity(
        "Author",
        name,
        .toMany("wrote", "Book", inverse: "writers"),
        .toMany("edited", "Book", inverse: "editors")
      ),
      .entity(
        "Book",
        name,
        .toMany("writers", "Author", inverse: "wrote"),
        .toMany("editors", "Author", inverse: "edited")
      )
    )
    let new = try ManagedObjectModel.of(
      .entity("Author", name, .toMany("wrote", "Book", inverse: "editors")),
      .entity("Book", name, .toMany("editors", "Author", inverse: "wrote"))
    )
    let bench = try MigrationBench(type)
    try bench.make(old) { context in
      try context.make("Author", ["name": "A", "wrote": [try context.make("Book", ["name": "x"])]])
      try context.make("Author", ["name": "B", "edited": [try context.make("Book", ["name": "y"])]])
    }
    let context = try bench.migrated(to: new)
    #expect(try context.links("Author", "wrote") == ["A": ["x"], "B": ["y"]])
    #expect(try context.links("Book", "editors") == ["x": ["A"], "y": ["B"]])
  }

  // MARK: Relationships that are their own inverse

  private static func people(_ relationships: PropertyDescription...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(name: "Person", properties: [.attribute("name", .string, optional: true)] + relationships)
    ])
  }

  /// Makes people with one-letter names.
  private static func people(_ names: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
    try names.map { try context.make("Person", ["name": String($0)]) }
  }

  @Test(arguments: MigrationBench.types)
  func aRelationshipBecomesItsOwnInverse(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    let old = try Self.people(
      .toMany("friends", "Person", inverse: nil),
      .toOne("partner", "Person", inverse: "partnerOf"),
      .toOne("partnerOf", "Person", inverse: "partner"),
      .toOne("twin", "Person", inverse: nil)
    )
    try bench.make(old) { context in
      let people = try Self.people("ABCD", context)
      try people[0].setValue([people[1], people[2]], forKey: "friends")
      try people[0].setValue(people[1], forKey: "partner")
      // A is left, for those who agree stay together.
      for (from, to) in [(0, 1), (1, 2), (2, 1)] { try people[from].setValue(people[to], forKey: "twin") }
    }
    let new = try Self.people(
      .toMany("friends", "Person", inverse: "friends"),
      .toOne("partner", "Person", inverse: "partner"),
      .toOne("twin", "Person", inverse: "twin")
    )
    let context = try bench.migrated(to: new)
    #expect(try context.links("Person", "friends") == ["A": ["B", "C"], "B": ["A"], "C": ["A"], "D": []])
    #expect(try context.links("Person", "partner") == ["A": ["B"], "B": ["A"], "C": [], "D": []])
    #expect(try context.links("Person", "twin") == ["A": [], "B": ["C"], "C": ["B"], "D": []])
  }

  @Test(arguments: MigrationBench.types)
  func friendsBecomePairs(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.people(.toMany("friend", "Person", inverse: "friend"))) { context in
      let people = try Self.people("ABCD", context)
      try people[1].setValue([people[0], people[2]], forKey: "friend")
      try people[3].setValue([people[2]], forKey: "friend")
    }
    bench.options[.migrationResolutions] = MigrationResolutions(severalObjects: .keepFirst)
    let context = try bench.migrated(to: try Self.people(.toOne("friend", "Person", inverse: "friend")))
    #expect(try context.links("Person", "friend") == ["A": ["B"], "B": ["A"], "C": ["D"], "D": ["C"]])
  }

  // MARK: Uniqueness

  private static func tags(unique: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel.of(
      .entity(
        "Tag",
        unique: unique ? [["name"]] : [],
        .attribute("name", .string, optional: true),
        .attribute("place", .integer32, optional: true),
        .toMany("notes", "Note", inverse: "tags")
      ),
      .entity("Note", .attribute("name", .string, optional: true), .toMany("tags", "Tag", inverse: "notes"))
    )
  }

  @Test(arguments: MigrationBench.types, MigrationResolutions.Duplicates.allCases)
  func valuesBecomeUnique(_ type: StoreType, _ resolution: MigrationResolutions.Duplicates) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.tags(unique: false)) { context in
      let note = try context.make("Note", ["name": "n"])
      for (place, name) in ["a", "b", "a", nil, nil].enumerated() {
        try context.make("Tag", ["name": name, "place": place, "notes": [note]])
      }
    }
    let new = try Self.tags(unique: true)
    bench.options[.migrationResolutions] = MigrationResolutions(duplicates: resolution)
    guard resolution != .refuse else {
      let before = try bench.bytes()
      expectError(.migrationFailed) { try bench.migration(to: new)?.run() }
      return #expect(try bench.bytes() == before)
    }
    let context = try bench.migrated(to: new)
    #expect(try context.texts("Tag", "name") == ["a", "b", "nil", "nil"])
    #expect(
      try context.texts("Tag", "place") == (resolution == .keepFirst ? ["0", "1", "3", "4"] : ["1", "2", "3", "4"])
    )
    #expect(try context.links("Note", "tags")["n"]?.count == 4)
  }

  /// Entities that each had the constraint were not held against each other, as they are when what they inherit from has it.
  @Test(arguments: MigrationBench.types)
  func aConstraintThatMovesUpIsNew(_ type: StoreType) throws {
    func model(unique isAbove: Bool) throws -> ManagedObjectModel {
      var above = EntityDefinition.entity("Contact", .attribute("name", .string, optional: true))
      above.isAbstract = true
      above.uniquenessConstraints = isAbove ? [["name"]] : []
      let below = ["Person", "Company"].map { name in
        EntityDefinition(name: name, superentityName: "Contact", uniquenessConstraints: isAbove ? [] : [["name"]])
      }
      return try ManagedObjectModel(entities: [above] + below)
    }
    let bench = try MigrationBench(type)
    try bench.make(try model(unique: false)) { context in
      try context.make("Person", ["name": "a"])
      try context.make("Company", ["name": "a"])
    }
    let report = try #require(try bench.migration(to: try model(unique: true))).dryRun()
    #expect(report.obstacles.count == 1)
  }

  /// The constraint is that of before, but what had no value collided with nothing.
  @Test(arguments: MigrationBench.types, MigrationResolutions.Duplicates.allCases)
  func valuesThatAreFilledMayBeTheSame(_ type: StoreType, _ resolution: MigrationResolutions.Duplicates) throws {
    func model(_ name: PropertyDescription) throws -> ManagedObjectModel {
      try .of(.entity("Tag", unique: [["name"]], name, .attribute("place", .integer32, optional: true)))
    }
    var bench = try MigrationBench(type)
    try bench.make(try model(.attribute("name", .string, optional: true))) { context in
      for (place, name) in ["a", nil, nil].enumerated() { try context.make("Tag", ["name": name, "place": place]) }
    }
    let new = try model(.attribute("name", .string, default: .string("none")))
    bench.options[.migrationResolutions] = MigrationResolutions(duplicates: resolution)
    let report = try #require(try bench.migration(to: new)).dryRun()
    #expect(report.findings.map(\.kind) == [.filled, .duplicates])
    #expect(report.findings.map(\.count) == [2, 1])
    guard resolution != .refuse else {
      let before = try bench.bytes()
      expectError(.migrationFailed) { try bench.migration(to: new)?.run() }
      return #expect(try bench.bytes() == before)
    }
    let context = try bench.migrated(to: new)
    #expect(try context.texts("Tag", "name") == ["a", "none"])
    #expect(try context.texts("Tag", "place") == (resolution == .keepFirst ? ["0", "1"] : ["0", "2"]))
  }

  /// What a delete rule that does nothing leaves is no obstacle to expressions that follow it.
  @Test func linksThatLeadNowhereAreLeftOut() throws {
    func model(_ name: String, _ others: PropertyDescription...) throws -> ManagedObjectModel {
      let own: [PropertyDescription] = [
        .attribute("name", .string, optional: true),
        .toOne("about", name, inverse: nil, deleteRule: .noAction),
        .toMany("others", name, inverse: nil, deleteRule: .noAction),
      ]
      return try .of(EntityDefinition(name: name, properties: own + others))
    }
    var bench = try MigrationBench(.binary)
    try bench.make(try model("Note")) { context in
      let gone = try context.make("Note", ["name": "gone"])
      let about = try context.make("Note", ["name": "about"])
      try context.make("Note", ["name": "first", "about": gone, "others": [gone, about]])
      try context.make("Note", ["name": "second", "about": about])
      try context.save()
      context.delete(gone)
    }
    let notes = { MappingExpression.destinationInstances(forEntityMappingNamed: "Notes", sourceInstances: $0) }
    bench.options[.mappingModels] = [
      MappingModel(entityMappings: [
        EntityMapping(
          name: "Notes",
          mappingType: .custom,
          sourceEntityName: "Note",
          destinationEntityName: "Memo",
          attributeMappings: [
            PropertyMapping(name: "name", valueExpression: .source("name")),
            PropertyMapping(name: "subject", valueExpression: .source("about.name")),
          ],
          relationshipMappings: [
            PropertyMapping(name: "about", valueExpression: notes("about")),
            PropertyMapping(name: "others", valueExpression: notes("others")),
          ]
        )
      ])
    ]
    let context = try bench.migrated(to: try model("Memo", .attribute("subject", .string, optional: true)))
    #expect(try context.links("Memo", "about") == ["about": [], "first": [], "second": ["about"]])
    #expect(try context.links("Memo", "others") == ["about": [], "first": ["about"], "second": []])
    #expect(try context.texts("Memo", "subject") == ["about", "nil", "nil"])
  }
}
