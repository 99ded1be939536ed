import Heartwood
import HeartwoodTesting
import Testing

/// The kit itself, on stores that save piecemeal: it catches broken ones in each case that only they run.
@Suite struct BrokenIncrementalStoreTests {
  private static func conformance<Flaw: SavingFlaw>(_ flaw: Flaw.Type) -> StoreConformance {
    StoreConformance(
      FlawedIncrementalStore<Flaw>.self,
      detectsEveryChange: false,
      writesSameBytes: false,
      tellsModelVersion: true,
      options: { _ in StoreOptions() },
      refuses: SQLiteConformanceTests.refuses
    )
  }

  /// A case, and a store that it must catch.
  private static let examples = writingExamples + readFailureExamples

  private static let writingExamples: [(caught: String, conformance: StoreConformance)] = [
    ("keeps nothing of a save that fails, at each step", conformance(KeepsFailedSaves.self)),
    ("is whole where the process ends at each step of a save", conformance(LosesSaves.self)),
    ("is whole where the process ends at each step of being made", conformance(LosesSaves.self)),
    ("is whole where the process ends at each step of setting its metadata", conformance(LosesSaves.self)),
    ("makes its file when it is opened", conformance(LosesSaves.self)),
    ("takes no save of its own for one of others", conformance(MarksChangesWithoutAny.self)),
    ("sorts records", conformance(GivesMoreThanIsWanted.self)),
    ("finds what a look at every object finds (seed 1)", conformance(FindsAll.self)),
    ("keeps entities that inherit from one that has records", conformance(CountsTooMany.self)),
    ("sees each kind of change that others save", conformance(MarksNoChanges.self)),
    ("takes what others save when too much was read to be compared", conformance(MarksNoChanges.self)),
    ("keeps what objects have read when it forgets what it has read", conformance(ReadsFew.self)),
    ("gives no reference of a deleted record again", conformance(GivesReferencesAgain.self)),
    ("reads hundreds of records by what they are called", conformance(ReadsFew.self)),
    ("keeps the versions of records that are converted to it", conformance(BeginsVersionsAnew.self)),
  ]

  /// What swallows failures is caught by each kind of reading.
  private static let readFailureExamples = SQLiteConformanceTests.conformance.cases.map(\.name)
    .filter { $0.hasPrefix("says what cannot be read") }
    .map { (caught: $0, conformance: conformance(SwallowsReadFailures.self)) }

  @Test(arguments: examples.indices)
  func brokenStoreIsCaught(_ index: Int) throws {
    let (caught, conformance) = Self.examples[index]
    let testCase = try #require(conformance.cases.first { $0.name == caught })
    let failure = #expect(throws: ConformanceFailure.self) { try testCase.run() }
    #expect(failure?.message.contains("expected") == true)
    #expect(failure?.message.contains(caught) == true)
  }

  /// Stores that cannot be used at all would be caught by anything.
  @Test func brokenStoresWorkOtherwise() throws {
    for conformance in [Self.conformance(KeepsFailedSaves.self), Self.conformance(LosesSaves.self)] {
      let testCase = try #require(conformance.cases.first { $0.name == "begins without records" })
      try testCase.run()
    }
  }

  @Test func everyCaseOfTheirOwnCatchesABrokenStore() {
    let atomic = Set(StoreConformance.flawed(NoFlaw.self).cases.map(\.name))
    // Conversions have the names of the other types.
    let own = SQLiteConformanceTests.conformance.cases.map(\.name).filter { !atomic.contains($0) }
    let missing = Set(own).subtracting(Self.examples.map(\.caught))
    #expect(missing.isEmpty, "Write a store that fails \(missing), and name it above.")
  }
}
