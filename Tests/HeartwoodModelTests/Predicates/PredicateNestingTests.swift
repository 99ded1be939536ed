import Foundation
import HeartwoodModel
import Synchronization
import Testing

@Suite("Predicates that are nested deeply")
struct PredicateNestingTests {
  /// A way to add a level to a predicate.
  struct Level: Sendable, CustomTestStringConvertible {
    let start: String
    let opening: String
    let leaf: String
    let closing: String

    /// A level of conditions.
    static func condition(_ opening: String, _ closing: String = "") -> Level {
      Level(start: "", opening: opening, leaf: "c == 3", closing: closing)
    }

    /// A level of values.
    static func value(_ opening: String, _ closing: String = "") -> Level {
      Level(start: "a == ", opening: opening, leaf: "5", closing: closing)
    }

    var testDescription: String { opening + "…" + closing }

    func format(levels: Int) -> String {
      start + String(repeating: opening, count: levels) + leaf + String(repeating: closing, count: levels)
    }
  }

  @Test(
    "What can be read can be read again from its description",
    arguments: [
      .condition("NOT "), .condition("a == 1 AND (b == 2 OR ", ")"), .condition("NOT (b == 2 OR ", ")"),
      .condition("ANY a == TERNARY(", ", 1, 2)"), .value("-"), .value("-(", ")"), .value("(", ") + b"),
      .value("b - (", ")"), .value("b ** "), .value("", " + b"), .value("", " * b"), .value("{", "}"),
      .value("b[", "]"), .value("", "[0]"), .value("(", " + b).c"), .value("(", " + b)[0]"), .value("abs(", ")"),
      .value("CAST((", "), \"String\")"), .value("TERNARY(b == 1, c, ", ")"), .value("SUBQUERY(", ", $x, $x.c == 1)"),
    ] as [Level]
  )
  func readsAgainWhatItReads(_ level: Level) throws {
    var levels = 0
    while let predicate = try read(level.format(levels: levels + 1)) {
      levels += 1
      let again = try? FetchPredicate(format: predicate.description)
      #expect(again == predicate, "\(levels) levels")
    }
    #expect(levels > 25)
  }

  /// Nil where the format is nested too deeply.
  private func read(_ format: String) throws -> FetchPredicate? {
    do throws(FetchPredicateError) {
      return try FetchPredicate(format: format)
    } catch {
      if error.kind == .tooComplex { return nil }
      throw error
    }
  }

  /// What a thread of macOS has unless it is the first. Without optimization functions take several times as much.
  #if DEBUG
    private static let stackSize = 4 << 20
  #else
    private static let stackSize = 512 << 10
  #endif

  @Test("The deepest predicate needs no more stack than a thread has at least")
  func readsOnASmallStack() {
    let openings = ["(", "-", "NOT ", "a[", "{", "abs(", "a ** ", "TERNARY(a == ", "SUBQUERY("]
    let formats = openings.map { String(repeating: $0, count: 1000) + "a == 1" }
    let kinds = Mutex<[FetchPredicateError.Kind?]>([])
    let end = DispatchSemaphore(value: 0)
    let thread = Thread {
      for format in formats {
        let error = #expect(throws: FetchPredicateError.self) { try FetchPredicate(format: format) }
        kinds.withLock { $0.append(error?.kind) }
      }
      end.signal()
    }
    thread.stackSize = Self.stackSize
    thread.start()
    end.wait()
    #expect(kinds.withLock { $0 } == formats.map { _ in .tooComplex })
  }
}
