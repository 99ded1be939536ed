import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Conditions that are larger than what SQLite takes.
@Suite struct LargeConditionTests {
  private let fixture: TranslationFixture

  init() throws {
    fixture = try TranslationFixture(seed: 21)
  }

  private static func comparison(_ comparator: FetchComparison.Comparator, _ number: Int) -> FetchPredicate {
    .comparison(FetchComparison(.key("full"), comparator, .constant(.integer(Int64(number)))))
  }

  /// Groups of which each has the next one in it.
  private static func nested(_ depth: Int) -> FetchPredicate {
    (0..<depth).reduce(comparison(.equalTo, -1)) { predicate, level in
      level.isMultiple(of: 2)
        ? .or([comparison(.equalTo, level % 5), predicate]) : .and([comparison(.lessThan, level), predicate])
    }
  }

  /// A condition that a value is one of many.
  private static func isOne(of numbers: Range<Int>) -> FetchPredicate {
    let elements = numbers.map { FetchExpression.constant(.integer(Int64($0))) }
    return .comparison(FetchComparison(.key("full"), .in, .aggregate(elements)))
  }

  /// Expects the same of a context as of all records in memory.
  private func expectFound(_ predicate: FetchPredicate, inSQL isTranslated: Bool) throws {
    let fetch = try fixture.fetch(predicate, [])
    let expected = fixture.expected(fetch)
    #expect(try fixture.store.fetch(fetch) == (isTranslated ? expected : nil))
    let objects = try fixture.context().fetch(FetchRequest<ManagedObject>(entityName: "Item", where: predicate))
    #expect(Set(objects.map(\.objectID.reference)) == Set(expected) && objects.count == expected.count)
  }

  @Test(arguments: [(99, true), (100, true), (101, true), (1_001, true), (3_000, false)])
  func longListsAreTestedInSQL(_ count: Int, _ isTranslated: Bool) throws {
    try expectFound(.or((0..<count).map { Self.comparison(.equalTo, $0 - count / 2) }), inSQL: isTranslated)
    try expectFound(.and((0..<count).map { Self.comparison(.notEqualTo, $0 + 1) }), inSQL: isTranslated)
  }

  @Test(arguments: [1, 10, 18])
  func groupsWithinGroupsAreTestedInSQL(_ depth: Int) throws {
    try expectFound(Self.nested(depth), inSQL: true)
  }

  @Test(arguments: [33, 60])
  func whatIsTooDeepIsTestedInMemory(_ depth: Int) throws {
    try expectFound(Self.nested(depth), inSQL: false)
  }

  @Test func listsWithinListsAreNoHigherThanTheyMayBe() throws {
    var predicate = Self.comparison(.equalTo, -1)
    for level in 0..<12 {
      let terms = (0..<100).map { Self.comparison(level.isMultiple(of: 2) ? .equalTo : .notEqualTo, $0 + 100) }
      predicate = level.isMultiple(of: 2) ? .or([predicate] + terms) : .and([predicate] + terms)
    }
    try expectFound(predicate, inSQL: false)
  }

  @Test func tooManyArgumentsAreTestedInMemory() throws {
    let lists = (0..<4).map { Self.isOne(of: -9_000..<($0 * 10)) }
    try expectFound(.and(Array(lists.prefix(3))), inSQL: true)
    try expectFound(.and(lists), inSQL: false)
  }

  @Test func functionsWithinFunctionsAreTestedInMemory() throws {
    for (depth, isTranslated) in [(5, true), (30, false)] {
      let text = (0..<depth).reduce(FetchExpression.key("full")) { text, _ in .function(.absolute, [text]) }
      try expectFound(
        .comparison(FetchComparison(text, .greaterThan, .constant(.integer(2)))),
        inSQL: isTranslated
      )
    }
  }

  /// Lists are of many lengths, and each length makes another statement.
  @Test func statementsOfListsAreNotKept() throws {
    try DatabaseQueue().read { db in
      for (count, isKept) in [(1, true), (16, true), (17, false), (1_000, false)] {
        let places = Array(repeating: "?", count: count).joined(separator: ", ")
        let arguments = (1...count).map { $0.databaseValue }
        let query = FetchStatement(text: "SELECT 1 IN (\(places))", arguments: arguments)
        let first = try query.prepared(db)
        #expect(try Bool.fetchOne(first) == true)
        #expect(try (query.prepared(db) === first) == isKept)
      }
    }
  }
}
