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
      conformance = StoreConformance(
        FlawedStore<Flaw>.self,
        detectsEveryChange: detectsEveryChange,
        writesSameBytes: true
      )
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
    Example(ChangesItsName.self, by: "is registered once by its type"),
    Example(ChangesItsName.self, by: "its type is told from a file's name"),
    Example(HasNoName.self, by: "says how its files and records are called"),
    Example(ClaimsNoExtension.self, by: "says how its files and records are called"),
    Example(TellsAnotherType.self, by: "tells its metadata without being opened"),
    Example(HasOneIdentifier.self, by: "takes another identifier without being opened"),
    Example(ForgetsUserInfo.self, by: "takes the user's metadata without being opened"),
    Example(WritesWrongHashes.self, by: "notices another version of the model, or tells of none"),
    Example(DropsLastRecord.self, by: "makes its file with the first save"),
    Example(DropsLastRecord.self, by: "takes a file without a byte for a new store"),
    Example(LosesZeros.self, by: "keeps every integer16 and nil"),
    Example(LosesZeros.self, by: "keeps every double and nil"),
    Example(RenamesRecords.self, by: "keeps references of kind integer"),
    Example(SpoilsUUIDs.self, by: "keeps references of kind uuid"),
    Example(RenamesRecords.self, by: "keeps references of all its kinds side by side"),
    Example(SpoilsUUIDs.self, by: "gives new records names of their own"),
    Example(KeepsThousandRecords.self, by: "keeps thousands of records"),
    Example(KeepsFirstEntityOnly.self, by: "keeps several entities"),
    Example(KeepsFirstEntityOnly.self, by: "keeps entities that inherit from one that has records"),
    Example(KeepsFirstEntityOnly.self, by: "keeps relationships to several entities"),
    Example(LosesManyLinks.self, by: "keeps to-many relationships"),
    Example(LosesLinks.self, by: "keeps one-to-one relationships"),
    Example(LosesManyLinks.self, by: "forgets relationships to what is deleted"),
    Example(LosesEmptyStrings.self, by: "takes values away and gives them back"),
    Example(DropsLastRecord.self, by: "keeps insertions, changes and deletions"),
    Example(DropsLastRecord.self, by: "loses nothing when nothing changes"),
    Example(WritesAtRandom.self, by: "writes an unchanged file as the same bytes"),
    Example(KeepsFirstEntityOnly.self, by: "survives the end of the process at each step of a save"),
    Example(DropsLastRecord.self, by: "survives a full disk"),
    Example(DropsLastRecord.self, by: "does not overwrite what somebody else has saved"),
    Example(DropsLastRecord.self, by: "is read and not written when it is read-only"),
    Example(DropsLastRecord.self, by: "goes on where its file was moved to"),
    Example(DropsLastRecord.self, by: "finds records by predicates on string"),
    Example(TruncatesIntegers.self, by: "finds records by predicates on integer64"),
    Example(TruncatesIntegers.self, by: "finds records by several conditions"),
    Example(LosesLinks.self, by: "finds records by what they lead to"),
    Example(SortsRecords.self, by: "sorts records"),
    Example(DropsLastRecord.self, by: "gives parts of what is found, with changes that are not saved"),
    Example(KeepsFirstEntityOnly.self, by: "takes what a child context saves by way of its parent"),
    Example(SortsRecords.self, by: "takes saves of many contexts at once"),
    Example(DropsLastRecord.self, by: "loses no save of several that open its file"),
    Example(LosesManyLinks.self, by: "is converted to Binary and back"),
    Example(RenamesRecords.self, by: "is converted to CSV and back"),
    Example(DropsLastRecord.self, by: "is copied by being converted to its own type"),
    Example(ForgetsHistory.self, by: "has no gaps in its history"),
    Example(ForgetsHistory.self, by: "takes a history along where it is converted to"),
    Example(LosesLinks.self, by: "keeps a random graph (seed 1)"),
  ]

  @Test(arguments: StoreConformance(FlawedStore<NoFlaw>.self, detectsEveryChange: false, writesSameBytes: true).cases)
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

  /// A case that no broken store fails would not be a test.
  @Test(
    arguments: StoreConformance(FlawedStore<NeverOpens>.self, detectsEveryChange: false, writesSameBytes: true).cases
  )
  func everyCaseCatchesABrokenStore(_ testCase: ConformanceCase) {
    let isCaught = Self.examples.contains { $0.caught == testCase.name }
    // What is refused is stated by a store, see below.
    if isCaught || testCase.name.hasPrefix("refuses every") { return }
    // The others need a store that opens, and say so.
    #expect(throws: ConformanceFailure.self) { try testCase.run() }
  }

  @Test func declaredLackThatIsNoneIsCaught() throws {
    let conformance = StoreConformance(UndeclaredModelStore.self, detectsEveryChange: false, writesSameBytes: true)
    let testCase = try #require(conformance.cases.first { $0.missing == .embeddedModel })
    #expect(throws: ConformanceFailure.self) { try testCase.run() }
  }

  @Test func declaredHistoryThatIsNoneIsCaught() throws {
    let conformance = StoreConformance(
      FlawedStore<ForgetsHistory>.self,
      detectsEveryChange: false,
      writesSameBytes: true
    )
    for testCase in conformance.cases where testCase.requirements.contains(.history) && testCase.name.hasPrefix("keeps")
    {
      #expect(throws: ConformanceFailure.self, "\(testCase)") { try testCase.run() }
    }
  }

  @Test func statedRefusalThatIsNoneIsCaught() throws {
    let conformance = StoreConformance(
      FlawedStore<NoFlaw>.self,
      detectsEveryChange: false,
      writesSameBytes: true,
      refuses: { value, _ in value == .string("a,b") }
    )
    let testCase = try #require(conformance.cases.first { $0.name == "refuses every string that it cannot hold" })
    #expect(throws: ConformanceFailure.self) { try testCase.run() }
  }
}
