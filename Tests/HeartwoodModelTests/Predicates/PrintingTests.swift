import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite struct PrintingTests {
  @Test func printsWhatReadsBackTheSame() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      let predicate = FetchPredicate.random(depth: Int.random(in: 1...5, using: &generator), &generator)
      #expect(try FetchPredicate(format: predicate.description) == predicate)
    }
  }

  @Test func codesAsItsFormat() throws {
    let predicate = try FetchPredicate(format: "a == 1 AND ANY b.c CONTAINS[cd] 'x'")
    let data = try JSONEncoder().encode([predicate])
    #expect(String(decoding: data, as: UTF8.self) == #"["a == 1 AND ANY b.c CONTAINS[cd] \"x\""]"#)
    #expect(try JSONDecoder().decode([FetchPredicate].self, from: data) == [predicate])
    #expect(throws: FetchPredicateError.self) {
      try JSONDecoder().decode([FetchPredicate].self, from: Data("[\"a ==\"]".utf8))
    }
  }

  @Test func printsCompoundsOfFewTermsAsWhatTheyMean() {
    let term = FetchPredicate.comparison(FetchComparison(.key("a"), .equalTo, .constant(.integer(1))))
    #expect(FetchPredicate.and([]).description == "TRUEPREDICATE")
    #expect(FetchPredicate.or([]).description == "FALSEPREDICATE")
    #expect(FetchPredicate.and([.or([term])]).description == "a == 1")
  }

  @Test func codesCompoundsOfFewTermsAsWhatTheyMean() throws {
    let term = FetchPredicate.comparison(FetchComparison(.key("a"), .equalTo, .constant(.integer(1))))
    let found = FetchExpression.subquery(.key("b"), variable: "x", .or([term]))
    let value = FetchExpression.conditional(.and([]), .keyPath(of: found, [.collection(.count)]), .constant(.null))
    let meanings: [(FetchPredicate, String)] = [
      (.and([]) && term, "a == 1"), (.not(.or([])), "NOT FALSEPREDICATE"),
      (.or([.and([.or([term, .and([])])]), term]), "(a == 1 OR TRUEPREDICATE) OR a == 1"),
      (
        .comparison(FetchComparison(value, .equalTo, .constant(.integer(0)))),
        "TERNARY(TRUEPREDICATE, SUBQUERY(b, $x, a == 1).@count, nil) == 0"
      ),
    ]
    for (predicate, text) in meanings {
      let data = try JSONEncoder().encode([predicate])
      #expect(try JSONDecoder().decode([FetchPredicate].self, from: data) == [try FetchPredicate(format: text)])
    }
    let data = try JSONEncoder().encode([value])
    #expect(
      try JSONDecoder().decode([FetchExpression].self, from: data)
        == [try FetchExpression(format: "TERNARY(TRUEPREDICATE, SUBQUERY(b, $x, a == 1).@count, nil)")]
    )
  }
}
