import Foundation
import HeartwoodGraph
import HeartwoodModel
import Testing

/// `#Predicate` beside both modules: neither name clashes with ours.
@Suite struct MacroPredicateTests {
  private static let text = "ann"
  private static let names = ["Ann", "Bob"]

  @Test func conditionsHaveForms() throws {
    let (text, names) = (Self.text, Self.names)
    let pairs: [(Predicate<Person>, String)] = [
      (#Predicate { $0.name == text }, "name == \"ann\""),
      (#Predicate { $0.name != text && $0.name > "a" }, "name != \"ann\" AND name > \"a\""),
      (#Predicate { $0.name < "b" || !($0.name >= "a") }, "name < \"b\" OR NOT name >= \"a\""),
      (#Predicate { $0.name.contains(text) }, "name CONTAINS \"ann\""),
      (#Predicate { $0.name.starts(with: "A") }, "name BEGINSWITH \"A\""),
      (#Predicate { names.contains($0.name) }, "name IN {\"Ann\", \"Bob\"}"),
      (#Predicate { $0.name.isEmpty }, "name == \"\""),
      (#Predicate { $0.friends.count > 2 }, "friends.@count > 2"),
      (#Predicate { $0.friends.isEmpty }, "friends.@count == 0"),
      (#Predicate { $0.friends[0].name == "x" }, "friends[0].name == \"x\""),
      (
        #Predicate { $0.friends.filter { $0.name > "b" }.count > 1 },
        "SUBQUERY(friends, $element1, $element1.name > \"b\").@count > 1"
      ),
      (#Predicate { $0.mentor == nil }, "mentor == nil"),
      (#Predicate { $0.mentor?.name == "x" }, "mentor.name == \"x\""),
      (
        #Predicate { $0.friends.contains { $0.name == "x" } },
        "SUBQUERY(friends, $element1, $element1.name == \"x\").@count > 0"
      ),
      (
        #Predicate { $0.friends.allSatisfy { $0.name == "x" } },
        "SUBQUERY(friends, $element1, NOT $element1.name == \"x\").@count == 0"
      ),
      (
        #Predicate { ($0.mentor?.name ?? "none") == "x" }, "TERNARY(mentor.name != nil, mentor.name, \"none\") == \"x\""
      ),
      (#Predicate { _ in true }, "TRUEPREDICATE"),
    ]
    for (predicate, expected) in pairs { #expect(try FetchPredicate(predicate).description == expected) }
  }

  @Test func arithmeticAndRangesHaveForms() throws {
    let sum: Predicate<Passport> = #Predicate { $0.number * 2 + 1 > 5 }
    #expect(try FetchPredicate(sum).description == "(number * 2) + 1 > 5")
    let range: Predicate<Passport> = #Predicate { (1...9).contains($0.number) }
    #expect(try FetchPredicate(range).description == "number >= 1 AND number <= 9")
    let (closed, halfOpen) = (1...9, 1..<9)
    let captured: Predicate<Passport> = #Predicate { closed.contains($0.number) || halfOpen.contains($0.number) }
    #expect(
      try FetchPredicate(captured).description
        == "(number >= 1 AND number <= 9) OR (number >= 1 AND number < 9)"
    )
    let remainder: Predicate<Passport> = #Predicate { $0.number % 2 == 1 }
    #expect(try FetchPredicate(remainder).description == "modulus:by:(number, 2) == 1")
  }

  @Test func countsOfNothingAreNothing() throws {
    let pairs: [(Predicate<Person>, String)] = [
      (#Predicate { $0.mentor?.friends.count == 0 }, "TERNARY(mentor != nil, mentor.friends.@count, nil) == 0"),
      (
        #Predicate { $0.mentor?.mentor?.friends.count == 0 },
        "TERNARY(mentor.mentor != nil, mentor.mentor.friends.@count, nil) == 0"
      ),
      (
        #Predicate { $0.mentor?.friends.filter { $0.name > "b" }.count == 0 },
        "TERNARY(mentor != nil, SUBQUERY(mentor.friends, $element1, $element1.name > \"b\").@count, nil) == 0"
      ),
      (#Predicate { $0.mentor?.mentor?.name == "x" }, "mentor.mentor.name == \"x\""),
    ]
    for (predicate, expected) in pairs { #expect(try FetchPredicate(predicate).description == expected) }
    let context = try TestStack().context()
    let (alone, led) = (try context.person("Ann"), try context.person("Bob"))
    led.mentor = alone
    try context.save()
    let none: Predicate<Person> = #Predicate { $0.mentor?.friends.count == 0 }
    #expect(try context.fetch(Person.self, where: none).map(\.name) == ["Bob"])
    let many: Predicate<Person> = #Predicate { ($0.mentor?.friends.count ?? 99) > 5 }
    #expect(try context.fetch(Person.self, where: many).map(\.name) == ["Ann"])
  }

  @Test func fetchesTakeThem() throws {
    let context = try TestStack().context()
    for name in ["Ann", "Bob", "Cid"] { _ = try context.person(name) }
    try context.save()
    let found = try context.fetch(Person.self, where: #Predicate<Person> { $0.name > "A" && $0.name.contains("i") })
    #expect(found.map(\.name) == ["Cid"])
  }

  @Test func whatHasNoFormIsRefused() throws {
    let count: Predicate<Person> = #Predicate { $0.name.count > 2 }
    let error = #expect(throws: FetchPredicateError.self) { try FetchPredicate(count) }
    #expect(error?.kind == .unsupported)
    let unnamed: Predicate<Book> = #Predicate { $0.events.isEmpty }
    #expect(throws: FetchPredicateError.self) { try TestStack().context().fetch(Book.self, where: unnamed) }
  }
}
