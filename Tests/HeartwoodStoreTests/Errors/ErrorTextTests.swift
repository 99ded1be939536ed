import Foundation
import HeartwoodModel
import HeartwoodStore
import Testing

/// How errors are put into words, and what their parts are.
@Suite struct ErrorTextTests {
  private struct Cause: Error, CustomStringConvertible {
    let description = "the cause"
  }

  private static let error = PersistenceError(
    .fileMalformed,
    "A value is no integer.",
    recovery: "Correct it.",
    context: .init(path: "/home/ann/shop.csv", line: 7, column: 3, byteOffset: 40, entity: "Item", property: "price")
  )

  @Test func allPartsAreInTheDescription() {
    #expect(
      Self.error.description == "/home/ann/shop.csv:7:3: A value is no integer. Correct it. (Item.price, at byte 40)"
    )
    #expect(Self.error.message == "A value is no integer. Correct it.")
  }

  @Test func aToolHasItsOwnWords() {
    let text = Self.error.text(recovery: { "\($0.kind): try --fix." }, path: { _ in "shop.csv" })
    #expect(text == "shop.csv:7:3: A value is no integer. custom: try --fix. (Item.price, at byte 40)")
    let silent = PersistenceError(.storeReadOnly, "It is read-only.", recovery: .openForWriting)
    #expect(silent.text(recovery: { _ in "" }) == "It is read-only.")
    #expect(silent.text(recovery: { _ in nil }) == "It is read-only. \(PersistenceError.Recovery.openForWriting.text)")
  }

  /// What to do comes after a list, and not at the end of its last line.
  @Test func whatToDoFollowsAListInALineOfItsOwn() {
    let error = PersistenceError(.migrationFailed, "Records do not fit:\n  A.b", recovery: "Change them.")
    #expect(error.description == "Records do not fit:\n  A.b\nChange them.")
  }

  @Test func otherFilesAreNamedWithWhatTheyAre() {
    var error = PersistenceError(.fileMalformed, "It is bad.", recovery: "Correct it.", context: .init(path: "/a"))
    error.context.relatedPaths = [.init("read with the model", "/home/m")]
    #expect(error.description == "/a: It is bad. Correct it. (read with the model /home/m)")
    #expect(error.text(path: { "~" + $0 }) == "~/a: It is bad. Correct it. (read with the model ~/home/m)")
    error.context.relatedPaths = [.init("looked in", "/b"), .init("", "/c")]
    #expect(error.description == "/a: It is bad. Correct it.\n  looked in /b\n  /c")
  }

  /// A caller's words hold for an error in another, too.
  @Test func theCauseIsInTheSameWords() {
    let inner = PersistenceError(.fileExists, "It is there.", recovery: .replaceFile, context: .init(path: "/x"))
    let outer = PersistenceError(.fileWriteFailed, "Not written.", underlyingError: inner)
    #expect(
      outer.text(recovery: { _ in "Use --force." }, path: { _ in "x" }) == "Not written. [x: It is there. Use --force.]"
    )
    let foreign = PersistenceError(.fileWriteFailed, "Not written.", underlyingError: Cause())
    #expect(foreign.text(cause: { "because of \($0)" }) == "Not written. [because of the cause]")
  }

  @Test func theSystemsWordsForErrorsAreGiven() {
    let error: any Error = Self.error
    #expect(error.localizedDescription == "/home/ann/shop.csv:7:3: A value is no integer.")
    let localized = error as? any LocalizedError
    #expect(localized?.failureReason == "A value is no integer.")
    #expect(localized?.recoverySuggestion == "Correct it.")
    #expect((PersistenceError(.fileExists, "It is there.") as any LocalizedError).recoverySuggestion == nil)
  }
}

/// Errors are passed as often as functions return.
@Suite struct ErrorStorageTests {
  @Test func anErrorIsAsSmallAsAReference() {
    #expect(MemoryLayout<PersistenceError>.size == MemoryLayout<UnsafeRawPointer>.size)
  }

  @Test func aCopyKeepsItsValuesWhenTheOtherChanges() {
    let original = PersistenceError(.fileExists, "There.", recovery: .replaceFile, context: .init(path: "a"))
    var copy = original
    copy.code = .fileNotFound
    copy.problem = "Gone."
    copy.recovery = .tryAgain
    copy.context.path = "b"
    copy.context.line = 3
    copy.underlyingError = original
    #expect(original.code == .fileExists && original.problem == "There." && original.recovery == .replaceFile)
    #expect(original.context.path == "a" && original.context.line == nil && original.underlyingError == nil)
    #expect(copy.code == .fileNotFound && copy.problem == "Gone." && copy.recovery == .tryAgain)
    #expect(copy.context.path == "b" && copy.context.line == 3 && copy.underlyingError is PersistenceError)
  }
}

@Suite struct RecoveryTests {
  @Test(arguments: PersistenceError.Recovery.Kind.all)
  func everyKindHasAText(_ kind: PersistenceError.Recovery.Kind) {
    let recovery = PersistenceError.Recovery.example(of: kind)
    #expect(recovery.kind == kind)
    #expect(recovery.text.hasSuffix("."), "\(kind): \(recovery.text)")
    #expect(recovery.text.contains(" "), "\(kind): \(recovery.text)")
    #expect(recovery.description == recovery.text)
  }

  @Test func kindsAreToldApart() {
    let kinds = PersistenceError.Recovery.Kind.all
    #expect(Set(kinds).count == kinds.count)
    #expect(Set(kinds.map { PersistenceError.Recovery.example(of: $0).text }).count == kinds.count)
    #expect(PersistenceError.Recovery.tryAgain.kind.description == "tryAgain")
  }

  @Test func optionsAreNamed() {
    let recovery = PersistenceError.Recovery.setOption(.isReadOnly)
    #expect(recovery.kind == .setOption && recovery.names == ["isReadOnly"])
    #expect(recovery.text == "Set the option isReadOnly.")
    let type = PersistenceError.Recovery.giveStoreType(extensions: ["csv", "xml"])
    #expect(type.text.hasSuffix("one of the extensions csv, xml."))
  }

  @Test func aLiteralIsARecoveryInOwnWords() {
    let count = 3
    let recovery: PersistenceError.Recovery = "Give \(count) of them."
    #expect(recovery == .custom("Give 3 of them.") && recovery.kind == .custom)
    #expect(recovery != .custom("Give 4 of them."))
  }
}
