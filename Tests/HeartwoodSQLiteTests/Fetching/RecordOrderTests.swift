import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// Records that an order leaves alike are in the order of their keys, whatever has been read when.
@Suite struct RecordOrderTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity(
          "Record",
          .attribute("number", .integer32),
          .attribute("priority", .integer32),
          .attribute("title", .string, optional: true)
        )
      ])
    )
  }

  /// A context that has read nothing, of a store whose records have their keys as numbers and are alike otherwise.
  private func context(_ count: Int) throws -> ManagedObjectContext {
    try bench.context().persistentStoreCoordinator.close()
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { db in
      try db.execute(
        sql: """
          WITH RECURSIVE s(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM s WHERE k < \(count))
          INSERT INTO ZRECORD (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZPRIORITY, ZTITLE) SELECT k, 1, 1, k, 5, 'same' FROM s;
          UPDATE Z_PRIMARYKEY SET Z_MAX = \(count);
          """
      )
    }
    try queue.close()
    return try bench.context()
  }

  private func object(_ number: Int, _ context: ManagedObjectContext) throws -> ManagedObject {
    let predicate = try FetchPredicate(format: "number == \(number)")
    return try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Record", where: predicate)).first)
  }

  private func numbers(
    _ context: ManagedObjectContext,
    sortedBy keys: [String],
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> [Int] {
    var request = FetchRequest<ManagedObject>(entityName: "Record", sortedBy: keys.map { FetchSortDescriptor($0) })
    (request.fetchOffset, request.fetchLimit) = (offset, limit)
    return try context.fetch(request).map { try #require(try $0.value(forKey: "number") as? Int) }
  }

  /// The first page lets all records be read, so that the second one is made in memory.
  @Test(arguments: [[], ["priority"], ["priority", "title"]])
  func pagesFollowEachOther(_ keys: [String]) throws {
    let context = try context(1000)
    _ = try object(900, context)
    let first = try numbers(context, sortedBy: keys, limit: 600)
    let record = try #require(bench.model.entity(named: "Record"))
    #expect(try context.persistentStoreCoordinator.persistentStores[0].engine.knownTable(of: record).isWhole)
    #expect(try first + numbers(context, sortedBy: keys, offset: 600, limit: 600) == Array(1...1000))
    #expect(try numbers(context, sortedBy: keys) == Array(1...1000))
  }

  @Test func allObjectsAreInTheSameOrderWithoutARequest() throws {
    let context = try context(1000)
    _ = try object(900, context)
    let numbers = try context.fetch(entityName: "Record").map { try $0.value(forKey: "number") as? Int }
    #expect(numbers == Array(1...1000))
  }

  @Test func groupsFollowTheirFirstRecords() throws {
    let context = try context(600)
    _ = try object(500, context)
    _ = try numbers(context, sortedBy: [], limit: 400)
    var request = FetchRequest<ManagedObject>(entityName: "Record")
    request.propertiesToGroupBy = [try ExpressionDescription(format: "modulus:by:(number, 7) AS rest")]
    let rests: [PropertyValue] = [1, 2, 3, 4, 5, 6, 0].map { .integer($0) }
    #expect(try context.fetchRows(request).flatMap(\.values) == rests)
  }

  @Test func changedRecordsAreInTheirPlaces() throws {
    let context = try context(10)
    _ = try object(3, context)
    try object(9, context).setValue("changed", forKey: "title")
    let pages = try (0..<5).flatMap { try numbers(context, sortedBy: [], offset: $0 * 2, limit: 2) }
    #expect(pages == Array(1...10))
  }

  // MARK: Later pages

  private static let pageLength = 1500

  /// The keys of the records that a fetch finds page by page, and then in the other direction.
  private func pages(_ context: ManagedObjectContext, _ format: String?) throws -> [Int64] {
    var request = FetchRequest<ManagedObject>(
      entityName: "Record",
      where: try format.map { try FetchPredicate(format: $0) }
    )
    request.fetchLimit = Self.pageLength
    let offsets = (0..<8).map { $0 * Self.pageLength }
    let both = try [offsets, offsets.reversed()].map { offsets in
      try offsets.map { offset in
        request.fetchOffset = offset
        return try context.fetchObjectIDs(request).compactMap { id in
          if case .integer(let key) = id.reference { key } else { nil }
        }
      }
    }
    #expect(both[0] == both[1].reversed())
    return both[0].flatMap(\.self)
  }

  @Test(arguments: [nil, "number != 1", "number > 9000", "title == 'other'"])
  func laterPagesAreFoundFromTheNearestKey(_ format: String?) throws {
    let context = try context(11_000)
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { db in try db.execute(sql: "DELETE FROM ZRECORD WHERE Z_PK % 7 = 0") }
    var keys = (1...11_000).filter { $0 % 7 != 0 }.map(Int64.init)
    func expected() -> [Int64] {
      switch format {
      case "number != 1": keys.filter { $0 != 1 }
      case "number > 9000": keys.filter { $0 > 9000 }
      case nil: keys
      default: []
      }
    }
    #expect(try pages(context, format) == expected())
    context.delete(try object(4, context))
    try context.save()
    keys.removeAll { $0 == 4 }
    #expect(try pages(context, format) == expected())
    try queue.write { db in try db.execute(sql: "DELETE FROM ZRECORD WHERE Z_PK IN (5, 5000)") }
    keys.removeAll { $0 == 5 || $0 == 5000 }
    #expect(try pages(context, format) == expected())
    let record = try #require(bench.model.entity(named: "Record"))
    #expect(try !context.persistentStoreCoordinator.persistentStores[0].engine.knownTable(of: record).isWhole)
  }
}
