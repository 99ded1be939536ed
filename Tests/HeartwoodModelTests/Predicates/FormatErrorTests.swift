import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite struct FormatErrorTests {
  @Test(
    arguments: [
      ("", 0), ("a", 0), ("a ==", 4), ("a == 1 AND", 10), ("a == 1 b", 7), ("a == (1", 7), ("a = = 1", 4),
      ("a == 1 == 2", 7),
      ("AND a == 1", 0), ("a CONTAINS[x] 'b'", 11), ("a CONTAINS[c 'b'", 13), ("a == 'b", 5), ("a == \"\\", 5),
      ("a == '\\u12'", 8),
      ("a == 1x", 5), ("a == 0x", 5), ("a == 0b12", 5), ("a == 99999999999999999999", 5), ("a == 1e999", 5),
      ("a == $", 5),
      ("a == ~", 5), ("a.@nothing == 1", 2), ("a. == 1", 3), ("{1, 2 == 1", 6), ("foo(a) == 1", 0),
      ("abs(a, b) == 1", 0),
      ("CAST(a, 'Any') == 1", 8), ("CAST(a) == 1", 6), ("SUBQUERY(a, x, b == 1).@count", 12), ("a == 1 AND b", 11),
      ("(a == 1) + 2 == 3", 0), ("ANY (a == 1 AND b == 2)", 4), ("NOT a", 4), ("a == %z", 5), ("a == %%", 5),
      ("a := 1", 2), ("FUNCTION(a, 'b') == 1", 8), ("a BETWEEN", 9), ("a[ == 1", 3), ("a == #", 5), ("in == 1", 0),
      ("TRUEPREDICATE TRUEPREDICATE", 14), ("modulus:by(a, 2) == 1", 0), ("a == CAST('no', 'ManagedObjectID')", 10),
      ("random() == 1", 0), ("count() == 1", 0), ("x == 1 y", 7), ("a UTI-EQUALS 'public.text'", 2),
      ("FETCH(a, b) == 1", 5), ("a STARTSWITH 'b'", 2), ("a NOT LIKE 'b'", 2),
      ("a == CAST('yesterday', 'Date')", 10), ("a == CAST('two', 'Integer')", 10), ("a == CAST('x', 'UUID')", 10),
      ("random:(9) == 1", 0), ("distanceToLocation:fromLocation:(a, b) < 9", 0),
    ]
  )
  func showsThePlace(_ format: String, _ offset: Int) throws {
    let error = try #require(throws: FetchPredicateError.self) { try FetchPredicate(format: format) }
    #expect(error.place.lowerBound == offset, "\(error)")
    #expect(error.text == format)
    #expect(!error.message.isEmpty && error.message.hasSuffix("."))
  }

  @Test func drawsACaretUnderThePlace() throws {
    let error = try #require(throws: FetchPredicateError.self) { try FetchPredicate(format: "größe == 5 AND\nAND x") }
    #expect(
      error.description == """
        Expected here: a key path, a value or a function. AND is a reserved word: a key of that name is #AND.
          größe == 5 AND AND x
                         ^~~
        """
    )
  }

  @Test(arguments: [
    ("日本 CONTAIN '語'", "There is no operator called CONTAIN. Did you mean CONTAINS?", 5, 7),
    ("'日本語' = = 1", "Expected here: ", 11, 1), ("'\u{1B}[31m' = = 1", "Expected here: ", 10, 1),
    ("a CONTAIN 'b'", "There is no operator called CONTAIN. Did you mean CONTAINS?", 2, 7),
    ("a IS NULL", "There is no operator called IS. Compare with == nil or != nil.", 2, 2),
    ("a NOT LIKE 'b'", "NOT stands before a whole condition: ", 2, 3),
  ])
  func theCaretIsUnderWhatATerminalShows(_ format: String, _ message: String, _ indent: Int, _ length: Int) throws {
    let error = try #require(throws: FetchPredicateError.self) { try FetchPredicate(format: format) }
    let lines = error.description.split(separator: "\n")
    #expect(lines[0].hasPrefix(message), "\(error)")
    #expect(lines[2] == "  " + String(repeating: " ", count: indent) + "^" + String(repeating: "~", count: length - 1))
    #expect(!error.description.contains("\u{1B}"))
  }

  @Test func showsAPartOfALongPredicate() throws {
    let format = String(repeating: "a == 1 AND ", count: 100) + "~" + String(repeating: " AND a == 1", count: 100)
    let error = try #require(throws: FetchPredicateError.self) { try FetchPredicate(format: format) }
    #expect(error.description.split(separator: "\n").allSatisfy { $0.count < 130 })
    #expect(error.description.contains("…"))
  }

  @Test func checksArguments() {
    func kind(_ format: String, _ arguments: any FetchArgument...) -> FetchPredicateError.Kind? {
      do throws(FetchPredicateError) {
        _ = try FetchPredicate(format: format, arguments: arguments)
        return nil
      } catch {
        return error.kind
      }
    }
    #expect(kind("a == %@") == .argument)
    #expect(kind("a == 1", 5) == .argument)
    #expect(kind("a == %d", "x") == .argument)
    #expect(kind("a == %f", "x") == .argument)
    #expect(kind("%K == 1", 5) == .argument)
    #expect(kind("%K == 1", "a..b") == .argument)
    #expect(kind("%K == 1", "a.@no") == .argument)
    #expect(kind("a == %d AND %K == %@", 1, "b.c", "x") == nil)
  }

  @Test(arguments: ["(", "NOT ", "-", "a[", "{", "a ** ", "ANY ", "abs(", "SUBQUERY(", "!", "+", "TERNARY(", "CAST("])
  func refusesWhatIsNestedTooDeeply(_ opening: String) throws {
    let error = try #require(throws: FetchPredicateError.self) {
      try FetchPredicate(format: String(repeating: opening, count: 100_000) + "a == 1")
    }
    #expect(error.kind == .tooComplex || error.kind == .syntax)
  }

  @Test(arguments: [" + a", ".b", "[0]", " - a", " * a"])
  func refusesWhatIsChainedTooDeeply(_ link: String) {
    let format = "a" + String(repeating: link, count: 100_000) + " == 1"
    do throws(FetchPredicateError) {
      let predicate = try FetchPredicate(format: format)
      #expect(link == ".b" && predicate.description == format)
    } catch {
      #expect(error.kind == .tooComplex)
    }
  }

  @Test func readsManyTerms() throws {
    let format = Array(repeating: "a == 1", count: 10_000).joined(separator: " OR ")
    #expect(try FetchPredicate(format: format).description == format)
  }

  @Test func neverTraps() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let pieces = [
      "a", "b.c", "==", "=", "<", "AND", "OR", "NOT", "ANY", "ALL", "NONE", "IN", "CONTAINS[c]", "BETWEEN", "(", ")",
      "{", "}",
      "[", "]", ",", ".", "@count", "@", "$x", "$", "#", "#in", "%", "%@", "%K", "%d", "1", "-", "+", "**", "*", "/",
      "1.5e9",
      "0x", "'", "\"", "\\", "'x'", "SUBQUERY(", "CAST(", "TERNARY(", "'Date'", "abs(", "modulus:by:(", ":", ":=",
      "nil", "é",
      "SELF", "FIRST", "\u{0}", "\u{301}", "😀", "9999999999999999999999", "TRUEPREDICATE", "!",
    ]
    for _ in 0..<3_000 {
      let count = Int.random(in: 0...24, using: &generator)
      let text = (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }
        .joined(separator: generator.chance(oneIn: 2) ? " " : "")
      do throws(FetchPredicateError) {
        let predicate = try FetchPredicate(format: text, arguments: generator.chance(oneIn: 2) ? [] : ["k", 1, "k.l"])
        #expect((try? FetchPredicate(format: predicate.description)) == predicate, "\(text)")
      } catch {
        #expect(error.place.upperBound <= text.utf8.count && error.description.contains("^"), "\(text)")
      }
    }
  }
}
