import Heartwood
import HeartwoodTesting
import Testing

/// The kit itself: it passes a sound store, and catches every broken one where it should.
@Suite struct BrokenStoreTests {
  /// A broken store, and the case that must catch it.
  struct Example: Sendable, CustomTestStringConvertible {
    let conformance: StoreConformance
    let flaw: String
    let caught: String

    init<Flaw: StoreFlaw>(
      _ flaw: Flaw.Type,
      by caught: String,
      detectsEveryChange: Bool = false,
      writesSameBytes: Bool = true,
      refuses: @escaping @Sendable (PropertyValue, AttributeType) -> Bool = { _, _ in false }
    ) {
      conformance = .flawed(
        flaw,
        detectsEveryChange: detectsEveryChange,
        writesSameBytes: writesSameBytes,
        refuses: refuses
      )
      self.flaw = "\(flaw)"
      self.caught = caught
    }

    var testDescription: String { "\(flaw): \(caught)" }
  }

  static let examples =
    [
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
      Example(HasLongExtension.self, by: "its type is told from its place"),
      Example(RecognizesAnything.self, by: "recognizes no file of something else"),
      Example(HasNoName.self, by: "says how its files and records are called"),
      Example(ClaimsNoExtension.self, by: "says how its files and records are called"),
      Example(TellsAnotherType.self, by: "tells its metadata without being opened"),
      Example(HasOneIdentifier.self, by: "takes another identifier without being opened"),
      Example(ForgetsUserInfo.self, by: "takes the user's metadata without being opened"),
      Example(ForgetsUserInfo.self, by: "survives the end of the process at each step of setting its metadata"),
      Example(ForgetsUserInfo.self, by: "does not overwrite metadata that somebody else has set"),
      Example(WritesWrongHashes.self, by: "notices another version of the model"),
      Example(ForgetsHashes.self, by: "notices another version of the model"),
      Example(DropsLastRecord.self, by: "makes its file with the first save"),
      Example(DropsLastRecord.self, by: "takes a file without a byte for a new store"),
      Example(LosesZeros.self, by: "keeps every integer16 and nil"),
      Example(LosesZeros.self, by: "keeps every double and nil"),
      Example(RenamesRecords.self, by: "keeps references of kind integer"),
      Example(SpoilsUUIDs.self, by: "keeps references of kind uuid"),
      Example(RenamesRecords.self, by: "keeps references of all its kinds side by side"),
      Example(SpoilsUUIDs.self, by: "gives new records names of their own"),
      Example(GivesNumbersAgain.self, by: "gives no reference of a deleted record again"),
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
      Example(ForgetsHistory.self, by: "hands a history over where it is converted from"),
      Example(ForgetsHistory.self, by: "tells what batch requests did"),
      Example(ForgetsHistory.self, by: "tells both sides of relationships"),
      Example(AddsRecordWhereNoneIs.self, by: "begins without records"),
      Example(AddsRecordWhereNoneIs.self, by: "keeps a store without records"),
      Example(LeavesFilesBehind.self, by: "is destroyed, and nothing else is"),
      Example(ForgetsItsModel.self, by: "keeps its model"),
      Example(LosesZeros.self, by: "keeps every integer32 and nil"),
      Example(CutsNumbers.self, by: "keeps every float and nil"),
      Example(CutsNumbers.self, by: "keeps every decimal and nil"),
      Example(SwapsBooleans.self, by: "keeps every boolean and nil"),
      Example(CutsUUIDs.self, by: "keeps every uuid and nil"),
      Example(AddsSlashes.self, by: "keeps every uri and nil"),
      Example(LacksWithoutSaying.self, by: "keeps every transformable and nil"),
      Example(DropsLastRecord.self, by: "keeps an entity that inherits from an abstract one"),
      Example(DropsLastRecord.self, by: "keeps the entities of its configuration only"),
      Example(DropsLastRecord.self, by: "keeps properties whatever they are called"),
      Example(NoFlaw.self, by: "writes the same content as other bytes each time", writesSameBytes: false),
      Example(DropsLastRecord.self, by: "survives the end of the process at each step of its first save"),
      Example(KeepsFirstEntityOnly.self, by: "survives a failure at each step of a save"),
      Example(OverwritesItsFileWhenItValidates.self, by: "does not overwrite a file that has come meanwhile"),
      Example(MakesItsFileWhenItValidates.self, by: "notices that its file is gone"),
      Example(ChangesItsContents.self, by: "notices that another context has saved the same record"),
      Example(MakesItsFileWhenItIsOpened.self, by: "is not begun when it is read-only"),
      Example(MakesItsFileWhenItIsOpened.self, by: "tells what has become of its file"),
      Example(LosesZeros.self, by: "finds by nothing and by what is no number"),
      Example(LosesEmptyStrings.self, by: "finds texts by their scalars, or as people read them"),
      Example(LosesManyLinks.self, by: "finds through relationships to many"),
      Example(SpoilsUUIDs.self, by: "keeps the ids that new objects had before they were saved"),
      Example(ChangesItsContents.self, by: "lets a context stay at a version of the records"),
      Example(DropsLastRecord.self, by: "shows each save as a whole while others read"),
      Example(DropsLastRecord.self, by: "is converted to InMemory and back"),
      Example(SortsLinks.self, by: "is converted to XML and back"),
      Example(LosesLinks.self, by: "is converted to PropertyList and back"),
      Example(LosesManyLinks.self, by: "is converted to CoreDataBinary and back"),
      Example(OverwritesItsFileWhenItValidates.self, by: "does not replace a file unless it is told to"),
      Example(ForgetsHistory.self, by: "tells what each save did"),
      Example(ForgetsHistory.self, by: "keeps what it is told to of deleted records"),
      Example(ForgetsHistory.self, by: "goes on with its history"),
      Example(DropsLastRecord.self, by: "is migrated where properties come, go and are renamed"),
      Example(TruncatesIntegers.self, by: "is migrated where attributes change their types"),
      Example(LosesManyLinks.self, by: "is migrated where relationships change"),
      Example(DropsLastRecord.self, by: "stays as it is where a migration is refused"),
      Example(DropsLastRecord.self, by: "survives the end of the process at each step of a migration"),
      Example(NamesAnotherFile.self, by: "takes files that were cut short"),
      Example(ReadsAnything.self, by: "takes files of something else"),
      Example(SwallowsFailuresToRead.self, by: "says what of its file cannot be read"),
    ] + predicateExamples + refusalExamples + randomExamples

  private static let predicateExamples = AttributeType.allCases.map { type in
    Example(LosesValues.self, by: "finds records by predicates on \(type.rawValue)")
  }

  /// A sound store of which it is stated that it refuses what it takes.
  private static let refusalExamples = AttributeType.allCases.map { type in
    Example(NoFlaw.self, by: "refuses every \(type.rawValue) that it cannot hold", refuses: { $1 == type })
  }

  private static let randomExamples = StoreConformance.flawed(NoFlaw.self).cases.filter { $0.name.contains("(seed ") }
    .map { Example(LosesLinks.self, by: $0.name) }

  @Test(arguments: StoreConformance.flawed(NoFlaw.self).cases)
  func soundStoreConforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }

  /// What is tried on a store that says what it cannot hold, or has no order, is what is left.
  @Test(arguments: (refusing.cases + StoreConformance.flawed(HasNoOrder.self).cases).filter(isQuery))
  func storeOfFewValuesConforms(_ testCase: ConformanceCase) throws {
    try testCase.run()
  }

  private static let refusing = StoreConformance.flawed(RefusesOddValues.self) { value, type in
    value.text(of: type).map(RefusesOddValues.isOdd) ?? false
  }

  private static func isQuery(_ testCase: ConformanceCase) -> Bool {
    ["finds by", "finds texts", "finds records", "sorts", "gives parts"].contains(where: testCase.name.hasPrefix)
  }

  @Test(arguments: examples)
  func brokenStoreIsCaught(_ example: Example) throws {
    let testCase = try #require(example.conformance.cases.first { $0.name == example.caught })
    let failure = #expect(throws: ConformanceFailure.self) { try testCase.run() }
    #expect(failure?.message.contains("expected") == true)
    #expect(failure?.message.contains(example.caught) == true)
  }

  /// A case that no broken store fails would not be a test.
  @Test(arguments: [true, false])
  func everyCaseCatchesABrokenStore(writesSameBytes: Bool) {
    let caught = Set(Self.examples.map(\.caught))
    let cases = StoreConformance.flawed(NoFlaw.self, writesSameBytes: writesSameBytes).cases
    let missing = cases.map(\.name).filter { !caught.contains($0) }
    #expect(missing.isEmpty, "Write a store that opens, works otherwise, and fails \(missing); and name it above.")
  }

  /// Stores that cannot be used at all would be caught by anything.
  @Test(arguments: Set(examples.map(\.flaw)).subtracting(["ChangesItsName"]).sorted())
  func brokenStoreWorksOtherwise(_ flaw: String) throws {
    let example = try #require(Self.examples.first { $0.flaw == flaw })
    let simple: Set = [
      "begins without records", "keeps every boolean and nil", "keeps to-one relationships",
      "finds texts by their scalars, or as people read them", "does not overwrite a file that has come meanwhile",
    ]
    let passed = example.conformance.cases.filter { testCase in
      simple.contains(testCase.name) && (try? testCase.run()) != nil
    }
    #expect(!passed.isEmpty)
  }

  /// What a failure tells leads to the mistake.
  private static let words: [(conformance: StoreConformance, name: String, words: [String])] = [
    (
      .flawed(KeepsFirstEntityOnly.self), "survives the end of the process at each step of a save",
      ["step 1 (", "from the new, ", "from the old, "]
    ),
    (
      .flawed(KeepsFirstEntityOnly.self), "survives a failure at each step of a save",
      ["step 1 (", "from the new, ", "from the old, "]
    ),
    (.flawed(WritesAtRandom.self), "writes the same content as the same bytes", ["from offset "]),
    (.flawed(ForgetsItsModel.self), "keeps its model", ["found none"]),
  ]

  @Test(arguments: words.indices)
  func failuresTellWhatDiffers(_ index: Int) throws {
    let (conformance, name, words) = Self.words[index]
    let testCase = try #require(conformance.cases.first { $0.name == name })
    let failure = try #require(throws: ConformanceFailure.self) { try testCase.run() }
    for word in words { #expect(failure.message.contains(word)) }
  }

  /// What cannot be tried is not said to be implemented.
  @Test func storeThatTellsNoModelVersionIsNotMigrated() throws {
    let honest = StoreConformance.flawed(ForgetsHashes.self, tellsModelVersion: false)
    let cases = honest.cases.filter { $0.missing == .modelVersion }
    #expect(cases.count == 6)
    for testCase in cases { try testCase.run() }
    let wrong = StoreConformance.flawed(NoFlaw.self, tellsModelVersion: false)
    let testCase = try #require(wrong.cases.first { $0.missing == .modelVersion })
    #expect(throws: ConformanceFailure.self) { try testCase.run() }
  }

  @Test func declaredLackThatIsNoneIsCaught() throws {
    let conformance = StoreConformance(
      UndeclaredModelStore.self,
      detectsEveryChange: false,
      writesSameBytes: true,
      tellsModelVersion: true,
      options: { _ in StoreOptions() },
      refuses: { _, _ in false }
    )
    let testCase = try #require(conformance.cases.first { $0.missing == .embeddedModel })
    #expect(throws: ConformanceFailure.self) { try testCase.run() }
  }
}

extension StoreConformance {
  /// The conformance of a store that is sound but for its flaw.
  static func flawed<Flaw: StoreFlaw>(
    _ flaw: Flaw.Type,
    detectsEveryChange: Bool = false,
    writesSameBytes: Bool = true,
    tellsModelVersion: Bool = true,
    refuses: @escaping @Sendable (PropertyValue, AttributeType) -> Bool = { _, _ in false }
  ) -> StoreConformance {
    StoreConformance(
      FlawedStore<Flaw>.self,
      detectsEveryChange: detectsEveryChange,
      writesSameBytes: writesSameBytes,
      tellsModelVersion: tellsModelVersion,
      options: { _ in StoreOptions() },
      refuses: refuses
    )
  }
}
