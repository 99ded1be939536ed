import Heartwood
import HeartwoodTesting
import Testing

/// The kit itself: it passes a sound store, and catches every broken one where it should.
@Suite struct BrokenStoreTests {
  /// A broken store, and the case that must catch it.
  struct Example: Sendable, CustomTestStringConvertible {
    let conformance: StoreConformance
    let caught: String

    init<Flaw: StoreFlaw>(_ flaw: Flaw.Type, by caught: String, detectsEveryChange: Bool = false) {
      conformance = StoreConformance(FlawedStore<Flaw>.self, detectsEveryChange: detectsEveryChange)
      self.caught = caught
    }

    var testDescription: String { "\(conformance.type)" }
  }

  static let examples = [
    Example(NoFlaw.self, by: "takes files with changed bits", detectsEveryChange: true),
    Example(DropsLastRecord.self, by: "keeps records with attributes of all types"),
    Example(DropsLastRecord.self, by: "keeps values that must be unique apart"),
    Example(LosesEmptyStrings.self, by: "keeps every string and nil"),
    Example(RoundsDates.self, by: "keeps every date and nil"),
    Example(TruncatesIntegers.self, by: "keeps every integer64 and nil"),
    Example(WritesInPlace.self, by: "survives the end of the process at each step of a save to the disk"),
    Example(MakesNewIdentifier.self, by: "keeps its identifier"),
    Example(ForgetsUserInfo.self, by: "keeps the user's metadata"),
    Example(SortsRecords.self, by: "keeps the order of its records"),
    Example(ReadsNumbersFromStrings.self, by: "keeps references of kind string"),
    Example(SortsLinks.self, by: "keeps the order of ordered relationships"),
    Example(LosesLinks.self, by: "keeps to-one relationships"),
    Example(WritesAtRandom.self, by: "writes the same content as the same bytes"),
    Example(LeavesFilesBehind.self, by: "survives the end of the process at each step of a save to the disk"),
    Example(ForgetsHistory.self, by: "keeps its history"),
    Example(LosesNewestPage.self, by: "keeps a history of many saves"),
    Example(NumbersFromOne.self, by: "purges its history"),
    Example(LacksWithoutSaying.self, by: "keeps every binary and nil"),
  ]

  @Test(arguments: StoreConformance(FlawedStore<NoFlaw>.self, detectsEveryChange: false).cases)
  func soundStoreConforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }

  @Test(arguments: examples)
  func brokenStoreIsCaught(_ example: Example) throws {
    let testCase = try #require(example.conformance.cases.first { $0.name == example.caught })
    let failure = #expect(throws: ConformanceFailure.self) { try testCase.run() }
    #expect(failure?.message.contains("expected") == true)
    #expect(failure?.message.contains(example.caught) == true)
  }

  @Test func declaredLackThatIsNoneIsCaught() throws {
    let conformance = StoreConformance(UndeclaredModelStore.self, detectsEveryChange: false)
    let testCase = try #require(conformance.cases.first { $0.missing == .embeddedModel })
    #expect(throws: ConformanceFailure.self) { try testCase.run() }
  }

  @Test func declaredHistoryThatIsNoneIsCaught() throws {
    let conformance = StoreConformance(FlawedStore<ForgetsHistory>.self, detectsEveryChange: false)
    for testCase in conformance.cases where testCase.requirements.contains(.history) && testCase.name.hasPrefix("keeps")
    {
      #expect(throws: ConformanceFailure.self, "\(testCase)") { try testCase.run() }
    }
  }

  @Test func statedRefusalThatIsNoneIsCaught() throws {
    let conformance = StoreConformance(
      FlawedStore<NoFlaw>.self,
      detectsEveryChange: false,
      refuses: { value, _ in value == .string("a,b") }
    )
    let testCase = try #require(conformance.cases.first { $0.name == "refuses every string that it cannot hold" })
    #expect(throws: ConformanceFailure.self) { try testCase.run() }
  }
}
