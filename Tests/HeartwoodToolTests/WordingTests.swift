import HeartwoodStore
import Testing

@testable import HeartwoodTool

/// What the tool says to do, in place of the library's words.
@Suite struct WordingTests {
  private static let wording = Wording(paths: GivenPaths([], in: "/"), command: "convert")

  /// Names that only programs know.
  private static let namesOfTheLibrary = [
    "isReadOnly", "olderModels", "shouldMigrate", "MigrationResolutions", "entityMigrationPolicies", "run(to:)",
    "currentPersistentHistoryToken", "without a location", "configuration", "keys", "say that",
  ]

  @Test(arguments: PersistenceError.Recovery.Kind.all)
  func noKindOfAdviceNamesWhatOnlyProgramsKnow(_ kind: PersistenceError.Recovery.Kind) {
    let recovery = PersistenceError.Recovery.example(of: kind)
    let text = Self.wording.recovery(recovery) ?? recovery.text
    for name in Self.namesOfTheLibrary { #expect(!text.contains(name), "\(kind): \(text)") }
    #expect(text.isEmpty || text.hasSuffix("."), "\(kind): \(text)")
  }

  @Test(
    arguments: [
      (.replaceFile, "--force"), (.giveStoreType(extensions: ["csv"]), "--from"), (.giveModel, "--model"),
      (.giveOlderModels, "--from-model"), (.giveOlderModelsOrCopyStore, "--from-model"),
      (.migrateStore, "heartwood migrate"), (.migrateToOtherFile, "--output"),
      (.resolveMigration, "--duplicates, --several, --unfit"), (.restartHistory, "--after"),
      (.chooseAnotherTypeOrFewerEntities, "--entity"), (.removeUserMetadata, "--format csv"),
    ] as [(PersistenceError.Recovery, String)]
  )
  func optionsAreNamedAsTheUserWritesThem(_ recovery: PersistenceError.Recovery, _ option: String) throws {
    let text = try #require(Self.wording.recovery(recovery))
    #expect(text.contains(option))
    let error = PersistenceError(.storeBusy, "It failed.", recovery: recovery, context: .init(path: "/a.csv"))
    #expect(Self.wording.text(error) == "/a.csv: It failed. \(text)")
  }

  @Test func whatIsPrintedHasNotBeenMigrated() {
    let migrating = Wording(paths: GivenPaths([], in: "/"), command: "migrate")
    #expect(migrating.recovery(.chooseAnotherTypeOrFewerEntities) == "Choose another type of store.")
  }

  @Test func ownWordsStay() {
    #expect(Self.wording.recovery("Make room.") == nil)
  }

  /// A store that is read with a model of its own and an error beside it name their files as the user does.
  @Test func everyPathIsShownAsTheUserHasGivenIt() {
    let wording = Wording(paths: GivenPaths(["a.csv", "../M.xcdatamodeld"], in: "/home/ann"), command: "info")
    var error = PersistenceError(.fileMalformed, "It is bad.", context: .init(path: "/home/ann/a.csv", line: 3))
    error.context.relatedPaths = [.init("read with the model", "/home/M.xcdatamodeld")]
    error.underlyingError = PersistenceError(.fileReadFailed, "No.", context: .init(path: "/home/ann/a.csv"))
    #expect(wording.text(error) == "a.csv:3: It is bad. (read with the model ../M.xcdatamodeld) [a.csv: No.]")
    #expect(wording.text(ToolError(at: "/home/ann/a.csv", "It is no file.")) == "a.csv: It is no file.")
  }
}
