import HeartwoodStore
import Testing

@Suite struct PersistenceErrorTests {
  private struct Cause: Error, CustomStringConvertible {
    let description = "the cause"
  }

  @Test(
    arguments: [
      (.init(), "What happened."),
      (.init(path: "a.csv"), "a.csv: What happened."),
      (.init(path: "a.csv", line: 3), "a.csv:3: What happened."),
      (.init(path: "a.csv", line: 3, column: 9), "a.csv:3:9: What happened."),
      (.init(path: "a.csv", column: 9), "a.csv: What happened."),
      (.init(line: 3, column: 9), "line 3:9: What happened."),
      (.init(path: "a", byteOffset: 7), "a: What happened. (at byte 7)"),
      (.init(entity: "ToDo"), "What happened. (entity ToDo)"),
      (.init(entity: "ToDo", property: "memo"), "What happened. (ToDo.memo)"),
      (.init(property: "memo"), "What happened. (property memo)"),
      (.init(path: "a", line: 1, byteOffset: 7, entity: "ToDo"), "a:1: What happened. (entity ToDo, at byte 7)"),
    ] as [(PersistenceError.Context, String)]
  )
  func descriptionSaysWhere(_ context: PersistenceError.Context, _ text: String) {
    #expect(PersistenceError(.fileMalformed, "What happened.", context: context).description == text)
  }

  @Test func descriptionNamesTheCause() {
    let error = PersistenceError(.fileMalformed, "What happened.", underlyingError: Cause())
    #expect("\(error)" == "What happened. [the cause]")
  }

  private func caught(_ error: any Error) -> String {
    do {
      throw error
    } catch PersistenceError.Code.saveConflict {
      return "conflict"
    } catch let error as PersistenceError where error.code == .fileExists {
      return "exists"
    } catch {
      return "other"
    }
  }

  @Test func codesMatchInACatch() {
    #expect(caught(PersistenceError(.saveConflict, "")) == "conflict")
    #expect(caught(PersistenceError(.fileExists, "")) == "exists")
    #expect(caught(PersistenceError(.fileMalformed, "")) == "other")
    #expect(caught(Cause()) == "other")
  }

  @Test func codesMatchInASwitch() {
    func name(_ error: PersistenceError) -> String {
      switch error {
      case PersistenceError.Code.fileNotFound: "missing"
      default: "other"
      }
    }
    #expect(name(PersistenceError(.fileNotFound, "")) == "missing")
    #expect(name(PersistenceError(.fileExists, "")) == "other")
    #expect(PersistenceError.Code.fileNotFound.description == "fileNotFound")
    #expect(PersistenceError.Code.fileNotFound.cocoaErrorCode == 260)
    #expect(PersistenceError.Code.saveConflict.cocoaErrorCode == 133_020)
    #expect(PersistenceError.Code.capabilityMissing.cocoaErrorCode == nil)
  }
}
