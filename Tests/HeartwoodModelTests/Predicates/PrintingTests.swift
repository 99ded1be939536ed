import HeartwoodModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
}
