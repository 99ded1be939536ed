import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// Stores that are migrated twice, in SQL and through memory. Both must come to the same.
@Suite(.needsServer) struct MigrationTests {
  private typealias Property = PropertyDescription

  /// What one version of the model has.
  private struct Version {
    var list: [Property] = [
      .attribute("name", .string), .toMany("items", "Item", inverse: "list", ordered: true),
      .toMany("plain", "Item", inverse: "other"),
    ]
    var item: [Property] = [
      .attribute("title", .string, optional: true), .attribute("count", .integer64, optional: true),
      .attribute("flag", .boolean, optional: true), .attribute("due", .date, optional: true),
      .toOne("list", "List", inverse: "items"), .toOne("other", "List", inverse: "plain"),
      .toMany("tags", "Tag", inverse: "items", ordered: true),
    ]
    var special: [Property] = [.attribute("size", .double, optional: true)]
    var tag: [Property] = [.attribute("name", .string), .toMany("items", "Item", inverse: "tags")]
    var unique: [[String]] = []
    var more: [EntityDefinition] = [EntityDefinition(name: "Extra", properties: [.attribute("x", .integer16)])]

    func model() throws -> ManagedObjectModel {
      try ManagedObjectModel(
        entities: [
          EntityDefinition(name: "List", properties: list),
          EntityDefinition(name: "Item", properties: item, uniquenessConstraints: unique),
          EntityDefinition(name: "Special", superentityName: "Item", properties: special),
          EntityDefinition(name: "Tag", properties: tag),
        ] + more
      )
    }
  }

  enum Change: String, CaseIterable {
    case nothing, addedAttributes, renamedAndRemoved, convertedNumbers, requiredValues, newEntities, removedEntity
    case newOrder, lostOrder, newRelationship, unique
  }

  private func changed(_ change: Change) -> Version {
    var version = Version()
    switch change {
    case .nothing: version.special.append(.attribute("note", .string, optional: true))
    case .addedAttributes:
      version.item += [
        .attribute("rank", .integer32, default: .integer(7)),
        .attribute("made", .date, default: .date(Date(timeIntervalSinceReferenceDate: 0.1))),
        .attribute("price", .decimal, default: .decimal(Decimal(3) / 8)),
      ]
    case .renamedAndRemoved:
      version.item.remove(at: 0)
      version.item.append(.attribute("number", .integer64, optional: true, renamedFrom: "count"))
      version.item.remove(at: 0)
    case .convertedNumbers:
      version.item[1] = .attribute("count", .string, optional: true)
      version.item[2] = .attribute("flag", .integer32, optional: true)
    case .requiredValues:
      version.item[0] = .attribute("title", .string, default: .string("none"))
      version.item[3] = .attribute("due", .date, default: .date(Date(timeIntervalSinceReferenceDate: 0.123_456_789)))
      version.item[1] = .attribute("count", .integer32, default: .integer(5))
    case .newEntities:
      version.more += [
        EntityDefinition(name: "Fresh", properties: [.attribute("y", .uuid, optional: true)]),
        EntityDefinition(name: "Sub", superentityName: "Extra", properties: []),
      ]
    case .removedEntity: version.more = []
    case .newOrder:
      version.list[2] = .toMany("plain", "Item", inverse: "other", ordered: true)
      version.tag[1] = .toMany("items", "Item", inverse: "tags", ordered: true)
    case .lostOrder:
      version.list[1] = .toMany("items", "Item", inverse: "list")
      version.item[6] = .toMany("tags", "Tag", inverse: "items")
    case .newRelationship:
      version.item.append(.toMany("related", "Extra", inverse: "items"))
      version.more = [
        EntityDefinition(
          name: "Extra",
          properties: [.attribute("x", .integer16), .toMany("items", "Item", inverse: "related")]
        )
      ]
    case .unique: version.unique = [["title"]]
    }
    return version
  }

  private func fill(_ bench: StoreBench, options: StoreOptions = StoreOptions()) throws {
    let context = try bench.context(options)
    let lists = try ["A", "B"].map { try bench.insert("List", ["name": $0], in: context) }
    let tags = try ["x", "y", "z"].map { try bench.insert("Tag", ["name": $0], in: context) }
    for number in 0..<12 {
      let item = try bench.insert(number % 4 == 3 ? "Special" : "Item", ["title": "\(11 - number)"], in: context)
      if number > 2 { try item.setValue(number % 2, forKey: "count") }
      if number % 2 == 0 { try item.setValue(number % 4 == 0, forKey: "flag") }
      if number % 3 == 0 {
        try item.setValue(Date(timeIntervalSinceReferenceDate: Double(number) + 0.000_000_1), forKey: "due")
      }
      try item.setValue(lists[number % 2], forKey: "list")
      if number < 8 { try item.setValue(lists[number % 3 == 0 ? 0 : 1], forKey: "other") }
      try item.setValue(Array(tags.prefix(number % 4).reversed()), forKey: "tags")
    }
    try bench.insert("Extra", ["x": 1], in: context)
    try context.save()
    let items = try context.fetch(entityName: "Item")
    try items.first?.setValue("changed", forKey: "title")
    try context.save()
    context.persistentStoreCoordinator.close()
  }

  private func coordinator(_ model: ManagedObjectModel) throws -> PersistentStoreCoordinator {
    let registry = StoreRegistry()
    try registry.register(PostgreSQLFormat())
    return try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
  }

  /// Migrates to another schema, after a dry run that tells the same.
  private func migrate(
    _ bench: StoreBench,
    to model: ManagedObjectModel,
    inStore: Bool
  ) throws -> (report: MigrationReport, contents: StoreContents) {
    var options = StoreOptions()
    options[.allowsMigrationLoss] = true
    options[.migratesInStore] = inStore
    let url = try #require(URL(string: bench.server.url(schema: TestServer.newSchema())))
    let migration = try #require(
      try coordinator(model).migration(ofStoreAt: try bench.url, type: .postgreSQL, options: options)
    )
    let foretold = try migration.dryRun(to: url)
    let report = try migration.run(to: url)
    #expect(foretold == report)
    let coordinator = try coordinator(model)
    let contents = try coordinator.addPersistentStore(type: .postgreSQL, at: url).engine.contents()
    coordinator.close()
    return (report, contents)
  }

  @Test(arguments: Change.allCases)
  func migrationsInSQLAreThoseInMemory(_ change: Change) throws {
    let bench = try StoreBench(try Version().model())
    try fill(bench)
    let model = try changed(change).model()
    let slow = try migrate(bench, to: model, inStore: false)
    let quick = try migrate(bench, to: model, inStore: true)
    #expect(quick.report.isDoneInStore, "\(String(describing: quick.report.reasonNotInStore))")
    #expect(!slow.report.isDoneInStore)
    #expect(quick.report.entities == slow.report.entities)
    #expect(quick.report.findings == slow.report.findings)
    let difference = ContentsComparison.firstDifference(slow.contents, quick.contents)
    #expect(difference == nil, "\(String(describing: difference))")
    #expect(slow.contents.metadata == quick.contents.metadata)
    for (slow, quick) in zip(slow.contents.tables, quick.contents.tables) {
      #expect(versions(slow) == versions(quick))
    }
  }

  private func versions(_ table: NodeTable) -> [ReferenceID: UInt64] {
    var versions: [ReferenceID: UInt64] = [:]
    for row in table.liveRows { versions[table.reference(row)] = table.groups[row.group].versions[row.row] }
    return versions
  }

  @Test func whatSQLDoesNotMakeGoesThroughMemory() throws {
    let bench = try StoreBench(try Version().model())
    try fill(bench)
    var version = Version()
    version.special[0] = .attribute("size", .string, optional: true)
    let migrated = try migrate(bench, to: try version.model(), inStore: true)
    #expect(!migrated.report.isDoneInStore)
    #expect(migrated.report.reasonNotInStore?.kind == .schema)
    #expect(migrated.contents.count > 0)
  }

  @Test func valuesThatAreToBeUniqueAndAreNotAreTheSameError() throws {
    let bench = try StoreBench(try Version().model())
    let context = try bench.context()
    for _ in 0..<2 { try bench.insert("Item", ["title": "same"], in: context) }
    try context.save()
    context.persistentStoreCoordinator.close()
    let model = try changed(.unique).model()
    let errors = [true, false].map { inStore in bench.error { _ = try migrate(bench, to: model, inStore: inStore) } }
    #expect(errors[0]?.code == .migrationFailed)
    #expect(errors[0]?.message == errors[1]?.message)
  }

  @Test func aStoreIsMigratedInItsPlaceByAFewStatements() throws {
    let bench = try StoreBench(try Version().model())
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    try fill(bench, options: options)
    let log = StatementLog()
    var migrating = log.options
    migrating[.tracksPersistentHistory] = true
    migrating[.shouldMigrateStoreAutomatically] = true
    migrating[.shouldInferMappingModelAutomatically] = true
    let coordinator = try coordinator(try changed(.addedAttributes).model())
    try coordinator.addPersistentStore(type: .postgreSQL, at: try bench.url, options: migrating)
    #expect(log.beginning(with: "COPY").isEmpty, "no record comes to the client")
    #expect(log.beginning(with: "INSERT INTO").count < 12)
    let context = ManagedObjectContext(coordinator)
    #expect(try context.count(entityName: "Item") == 12)
    try context.insert(entityName: "Extra").setValue(2, forKey: "x")
    try context.save()
    // Two saves were before the migration.
    let history = try coordinator.execute(.fetchHistory(after: nil))
    #expect(history.map(\.transactionNumber) == [3])
    // Other tests have schemas of their own in the database meanwhile.
    let made = log.beginning(with: "CREATE SCHEMA").compactMap { $0.split(separator: "\"").dropFirst().first }
    #expect(made.count == 1 && made.allSatisfy { $0.hasPrefix("heartwood_") })
    for name in made {
      let left = try bench.otherClient().execute("SELECT 1 FROM pg_namespace WHERE nspname = '\(name)'")
      #expect(left.rowCount == 0, "nothing is left behind")
    }
    coordinator.close()
  }

  @Test func aCopyHasTheRecordsAndTheHistory() throws {
    let bench = try StoreBench(try Version().model())
    var options = StoreOptions()
    options[.tracksPersistentHistory] = true
    try fill(bench, options: options)
    let log = StatementLog()
    var copying = log.options
    copying[.tracksPersistentHistory] = true
    let coordinator = try coordinator(bench.model)
    let store = try coordinator.addPersistentStore(type: .postgreSQL, at: try bench.url, options: copying)
    let before = try coordinator.execute(.fetchHistory(after: nil))
    let url = try #require(URL(string: bench.server.url(schema: TestServer.newSchema())))
    log.clear()
    try coordinator.copyPersistentStore(store, to: url, options: copying)
    #expect(log.beginning(with: "COPY").isEmpty)
    let other = try self.coordinator(bench.model)
    let copy = try other.addPersistentStore(type: .postgreSQL, at: url, options: copying)
    #expect(ContentsComparison.firstDifference(try store.engine.contents(), try copy.engine.contents()) == nil)
    let after = try other.execute(.fetchHistory(after: nil))
    other.close()
    #expect(after.map(\.transactionNumber) == before.map(\.transactionNumber))
    coordinator.close()
  }
}
