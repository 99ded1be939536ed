import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// Columns that hold values in other forms than Core Data and Heartwood write.
@Suite struct ForeignValueTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity(
          "Note",
          .attribute("count", .integer32, optional: true),
          .attribute("stamp", .date, optional: true),
          .attribute("home", .uri, optional: true),
          .attribute("key", .uuid, optional: true)
        )
      ])
    )
  }

  /// A context over notes that have these values of an attribute, as SQL says them.
  private func context(_ attribute: String, _ values: [String]) throws -> ManagedObjectContext {
    try bench.context().persistentStoreCoordinator.close()
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { db in
      for (place, value) in values.enumerated() {
        try db.execute(
          sql: """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, Z\(attribute.uppercased())) VALUES (\(place + 1), 1, 1, \(value));
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(place + 1);
            """
        )
      }
    }
    try queue.close()
    return try bench.context()
  }

  private func counts(by attribute: String, _ context: ManagedObjectContext) throws -> [PropertyValue] {
    var request = FetchRequest<ManagedObject>(entityName: "Note")
    request.propertiesToGroupBy = [ExpressionDescription(attribute)]
    request.propertiesToFetch = [.count()]
    return try context.fetchRows(request).flatMap(\.values)
  }

  /// Rows in other groups of SQL, but of the same value.
  @Test(arguments: [
    ("home", ["''", "NULL"]), ("home", ["'http://x/ä'", "'http://x/%C3%A4'"]),
  ])
  func valuesThatAreReadAlikeAreOneGroup(_ attribute: String, _ values: [String]) throws {
    let context = try context(attribute, values)
    #expect(try counts(by: attribute, context) == [.integer(2)])
    let note = try context.insert(entityName: "Note")
    let other = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Note")).first)
    try note.setPropertyValue(other.propertyValue(forKey: attribute), forKey: attribute)
    #expect(try counts(by: attribute, context) == [.integer(3)])
  }

  @Test func aURIWithoutTextIsNone() throws {
    let context = try context("home", ["''", "NULL", "'http://x'"])
    var request = FetchRequest<ManagedObject>(entityName: "Note", where: try FetchPredicate(format: "home == nil"))
    #expect(try context.count(for: request) == 2)
    request = FetchRequest<ManagedObject>(entityName: "Note")
    request.propertiesToFetch = [try ExpressionDescription(format: "count(home) AS homes")]
    #expect(try bench.context().fetchRows(request).flatMap(\.values) == [.integer(1)])
  }

  private func message(_ context: ManagedObjectContext) -> String? {
    do {
      _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Note"))
      return nil
    } catch {
      return (error as? PersistenceError)?.message
    }
  }

  @Test func aTextThatIsNoURIIsRefused() throws {
    let message = try message(context("home", ["'http://x'", "'http://['"]))
    #expect(message?.contains("the key 2 of the table ZNOTE holds text that is not a URI.") == true)
  }

  @Test(arguments: ["'E899556C-3C3A-4B1E-9C6C-0F1A2B3C4D5E'", "'sixteen bytes...'", "7"])
  func aUUIDThatIsNoBlobIsRefused(_ value: String) throws {
    let message = try message(context("key", ["x'000102030405060708090a0b0c0d0e0f'", value]))
    #expect(message?.contains("the key 2 of the table ZNOTE holds a UUID otherwise") == true)
  }
}
