import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// What SQL makes of values of another kind: nothing that differs from what reading the records gives, which is an error.
@Suite struct TranslatedKindTests {
  private let bench: ReadingBench

  init() throws {
    bench = try ReadingBench()
    try bench.makeNotes(4)
    try bench.execute(
      "UPDATE ZNOTE SET ZSHORT = Z_PK, ZMEDIUM = Z_PK, ZLONG = Z_PK, ZFLAG = 1, ZREAL = Z_PK, ZDATE = Z_PK, ZTEXT = 'a' || Z_PK"
    )
  }

  private static let oddValues = [
    ("short", "'x'"), ("short", "2.5"), ("medium", "'x'"), ("medium", "2.5"), ("long", "'x'"), ("long", "2.5"),
    ("long", "x'31'"), ("flag", "'x'"), ("flag", "0.5"), ("real", "'x'"), ("real", "x'31'"), ("date", "'x'"),
  ]

  private func error(_ request: ObjectRequest) throws -> PersistenceError? {
    let context = try bench.bench.context()
    return bench.bench.error { _ = try context.fetchRows(request) }
  }

  @Test(arguments: oddValues, [FetchFunction.sum, .average, .min, .max, .count])
  func aggregatesAreErrors(_ odd: (attribute: String, value: String), _ function: FetchFunction) throws {
    let isNumber = odd.attribute != "date"
    guard isNumber || [.min, .max, .count].contains(function) else { return }
    // The least and the greatest value alone are looked up in an index, where numbers that are no integers are among the others.
    let isAmongOthers = [.min, .max].contains(function) && odd.value.contains(".")
    try bench.execute("UPDATE ZNOTE SET Z\(odd.attribute.uppercased()) = \(odd.value) WHERE Z_PK = 2")
    var request = ObjectRequest(entityName: "Note")
    let name = function.rawValue.prefix { $0 != ":" }
    request.propertiesToFetch = [try ExpressionDescription(format: "\(name)(\(odd.attribute)) AS result")]
    if isAmongOthers { request.propertiesToFetch.append(.count()) }
    let error = try error(request)
    #expect(error?.context.property == odd.attribute, "\(function) of \(odd): \(String(describing: error))")
  }

  @Test(arguments: oddValues)
  func groupsAreErrors(_ odd: (attribute: String, value: String)) throws {
    try bench.execute("UPDATE ZNOTE SET Z\(odd.attribute.uppercased()) = \(odd.value) WHERE Z_PK = 2")
    var request = ObjectRequest(entityName: "Note")
    request.propertiesToGroupBy = [ExpressionDescription(odd.attribute)]
    request.propertiesToFetch = [.count()]
    #expect(try error(request)?.context.property == odd.attribute, "\(odd)")
    request.havingPredicate = try FetchPredicate(format: "@count > 100")
    #expect(try error(request)?.context.property == odd.attribute, "\(odd)")
    // A row that is not among those of the groups does not matter.
    request.havingPredicate = nil
    request.predicate = try FetchPredicate(format: "name == 'note 3'")
    #expect(try error(request) == nil, "\(odd)")
  }

  @Test(arguments: [("short", "'x'"), ("medium", "x'31'"), ("long", "'x'"), ("long", "2.5"), ("real", "'x'")])
  func batchesDoNotComputeWithThem(_ odd: (attribute: String, value: String)) throws {
    try bench.execute("UPDATE ZNOTE SET Z\(odd.attribute.uppercased()) = \(odd.value) WHERE Z_PK = 2")
    let before = try values(odd.attribute)
    let context = try bench.bench.context()
    let error = bench.bench.error {
      let sum = try FetchExpression(format: "\(odd.attribute) + 1")
      try context.execute(BatchUpdateRequest(entityName: "Note", propertiesToUpdate: [odd.attribute: sum]))
    }
    #expect(error?.context.property == odd.attribute, "\(odd)")
    #expect(try values(odd.attribute) == before, "nothing is half done")
  }

  private func values(_ attribute: String) throws -> [DatabaseValue] {
    try bench.query {
      try DatabaseValue.fetchAll($0, sql: "SELECT Z\(attribute.uppercased()) FROM ZNOTE ORDER BY Z_PK")
    }
  }

  /// A fetch whose condition is tested in SQL finds what it would find without the odd records, or says which of them it cannot read.
  @Test func conditionsFindWhatIsSound() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed of conditionsFindWhatIsSound: \(seed)")
    var random = SeededGenerator(seed: seed)
    var (errorCount, soundCount) = (0, 0)
    for _ in 0..<25 {
      let odd = try #require(Self.oddValues.randomElement(using: &random))
      let key = Int.random(in: 1...4, using: &random)
      let column = "Z\(odd.0.uppercased())"
      let former = odd.0 == "flag" ? "1" : "\(key)"
      try bench.execute("UPDATE ZNOTE SET \(column) = \(odd.1) WHERE Z_PK = \(key)")
      let comparators = ["==", "!=", "<", ">="] + (odd.0 == "date" ? [] : ["IN"])
      let comparator = try #require(comparators.randomElement(using: &random))
      let number = Int.random(in: 0...5, using: &random)
      let constant = odd.0 == "date" ? "CAST(\(number), 'NSDate')" : "\(number)"
      let format = "\(odd.0) \(comparator) " + (comparator == "IN" ? "{\(constant), 2}" : constant)
      do {
        let found = try bench.names(where: format)
        // The same without the odd record.
        try bench.execute("UPDATE ZNOTE SET \(column) = \(former) WHERE Z_PK = \(key)")
        let expected = try bench.names(where: format).filter { $0 != "note \(key)" }
        #expect(found == expected, "\(format) with \(odd) in \(key)")
        soundCount += 1
      } catch let error as PersistenceError where error.code == .fileMalformed {
        #expect(error.message.contains("the key \(key) of the table ZNOTE"), "\(format) with \(odd): \(error)")
        errorCount += 1
      }
      try bench.execute("UPDATE ZNOTE SET \(column) = \(former) WHERE Z_PK = \(key)")
    }
    #expect(errorCount > 0 && soundCount > 0)
  }

  /// The file is made anew in SQL, without a record in memory, unless there is something that reading refuses.
  @Test(arguments: oddValues + [("text", "CAST(x'61ff' AS TEXT)"), ("list", "'x'")])
  func copiesRefuseThem(_ odd: (attribute: String, value: String)) throws {
    try bench.execute("UPDATE ZNOTE SET Z\(odd.attribute.uppercased()) = \(odd.value) WHERE Z_PK = 2")
    for type in [StoreType.sqlite, .binary] {
      let coordinator = try bench.bench.coordinator()
      let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.bench.url())
      let url = bench.bench.url("Copy.store")
      let error = bench.bench.error { try coordinator.copyPersistentStore(store, to: url, type: type) }
      #expect(error?.context.property == odd.attribute, "\(odd) to \(type)")
      #expect(!FileManager.default.fileExists(atPath: url.path), "\(odd) to \(type)")
      coordinator.close()
    }
  }
}
