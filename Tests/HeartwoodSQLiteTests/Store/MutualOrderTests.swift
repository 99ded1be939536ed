import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// An ordered relationship that is its own inverse: each end of a pair has an order of its own.
@Suite struct MutualOrderTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity("Person", .attribute("name", .string), .toMany("friends", "Person", inverse: "friends", ordered: true))
      ])
    )
  }

  private func people(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Person", sortedBy: [FetchSortDescriptor("name")]))
  }

  private func names(_ people: [ManagedObject]) throws -> [String] {
    try people.compactMap { try $0.value(forKey: "name") as? String }
  }

  /// The names of each one's friends.
  private func friends(_ context: ManagedObjectContext) throws -> [[String]] {
    try people(context).map { try names(try #require($0.value(forKey: "friends") as? [ManagedObject])) }
  }

  private func rowCount() throws -> Int? {
    try DatabaseQueue(path: bench.url().path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM Z_1FRIENDS") }
  }

  /// Makes three people who all know each other, the first one themselves too.
  private func fill() throws {
    let context = try bench.context()
    let all = try ["a", "b", "c"].map { name in
      let person = try context.insert(entityName: "Person")
      try person.setValue(name, forKey: "name")
      return person
    }
    try all[0].setValue([all[1], all[0], all[2]], forKey: "friends")
    try all[1].setValue([all[2], all[0]], forKey: "friends")
    try context.save()
    #expect(try friends(context) == [["b", "a", "c"], ["c", "a"], ["a", "b"]])
  }

  @Test func eachEndKeepsItsOrder() throws {
    try fill()
    #expect(try friends(try bench.context()) == [["b", "a", "c"], ["c", "a"], ["a", "b"]])
    #expect(try rowCount() == 7, "a row for each direction, and one for who knows themselves")
  }

  @Test func bothEndsForgetAPair() throws {
    try fill()
    let context = try bench.context()
    let all = try people(context)
    try all[0].setValue([all[2], all[1]], forKey: "friends")
    try all[1].setValue([all[0]], forKey: "friends")
    try context.save()
    #expect(try friends(try bench.context()) == [["c", "b"], ["a"], ["a"]])
    #expect(try rowCount() == 4)
    context.delete(all[0])
    try context.save()
    #expect(try friends(try bench.context()) == [[], []])
    #expect(try rowCount() == 0)
  }

  /// So a file has them where nobody knew of two orders.
  @Test func pairsWithOneRowAreReadAndGetAnOrder() throws {
    try fill()
    try DatabaseQueue(path: bench.url().path).write { db in
      try db.execute(sql: "DELETE FROM Z_1FRIENDS WHERE Z_1FRIENDS > REFLEXIVE")
    }
    let context = try bench.context()
    let all = try people(context)
    #expect(try friends(context).map(Set.init) == [["a", "b", "c"], ["a", "c"], ["a", "b"]])
    try all[2].setValue([all[1], all[0]], forKey: "friends")
    try context.save()
    #expect(try friends(try bench.context())[2] == ["b", "a"])
    try all[2].setValue([all[0], all[1]], forKey: "friends")
    try context.save()
    #expect(try friends(try bench.context())[2] == ["a", "b"])
  }
}
