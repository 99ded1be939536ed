import Foundation
import Testing

@testable import HeartwoodModel

/// What predicates mean, by hand: the table in the guide is kept true by these.
@Suite struct PredicateMeaningTests {
  /// An object with values, of which the first is in a shop and has two parts, one without a name.
  private func fixture() throws -> (ShopFixture, full: ManagedObjectID, empty: ManagedObjectID) {
    var fixture = try ShopFixture()
    let shop = fixture.add(1, ["title": .string("Corner")], shop: true)
    let first = fixture.add(2, ["name": .string("Wheel"), "price": .double(3), "shop": .toOne(shop)])
    let second = fixture.add(3, ["price": .double(4)])
    let full = fixture.add(
      4,
      [
        "name": .string("Café"), "price": .double(2.5), "count": .integer(7), "done": .boolean(true),
        "cost": .decimal(3),
        "shop": .toOne(shop), "parts": .toMany([first, second]),
      ]
    )
    return (fixture, full, fixture.add(5, [:]))
  }

  @Test(
    arguments: [
      // nil equals nil and nothing else, and has no order.
      ("name == nil", false, true), ("name != nil", true, false), ("name == 'x'", false, false),
      ("name != 'x'", true, true),
      ("count < 9", true, false), ("count > -9", true, false), ("count <= nil", false, false),
      ("NOT count < 9", false, true),
      ("count BETWEEN {7, 9}", true, false), ("count IN {7, nil}", true, true), ("count IN {7}", true, false),
      ("name CONTAINS ''", true, false), ("name LIKE '*'", true, false), ("name MATCHES '.*'", true, false),
      ("NOT name LIKE '*'", false, true),
      ("count + 1 == nil", false, true), ("shop.title == nil", false, true), ("shop == nil", false, true),
      // Collections that are empty.
      ("ANY parts.name == 'Wheel'", true, false), ("ALL parts.price > 2", true, true),
      ("NONE parts.price > 3", false, true),
      ("ANY parts.name == nil", true, false), ("ALL parts.name == 'Wheel'", false, true),
      ("parts.@count == 0", false, true),
      ("NOT ANY parts.price > 3", false, true), ("parts[SIZE] == 2", true, false),
      ("parts.@sum.price == 7", true, false),
      ("parts.@sum.price == 0", false, true), ("parts.@avg.price == nil", false, true),
      ("parts.@avg.price == 3.5", true, false),
      ("parts.@max.price == 4", true, false), ("@min.parts.price == 3", true, false),
      ("count:(parts) == 2", true, false),
      ("parts[FIRST].name == 'Wheel'", true, false), ("parts[LAST].price == 4", true, false),
      ("parts[1].price == 4", true, false),
      ("parts[5].price == nil", true, true), ("'Wheel' IN parts.name", true, false),
      ("parts.name CONTAINS 'Wheel'", true, false),
      ("ANY parts.shop.title == 'Corner'", true, false), ("SUBQUERY(parts, $p, $p.price > 3).@count == 1", true, false),
      ("SUBQUERY(parts, $p, $p.price > 3 AND $p.name == nil)[FIRST].price == 4", true, false),
      ("parts.@distinctUnionOfObjects.shop.@count == 2", true, false),
      // Numbers of all kinds compare by value.
      ("price == 2.5", true, false), ("count == 7.0", true, false), ("count > 6.9", true, false),
      ("done == 1", true, false), ("done == YES", true, false),
      ("cost == 3", true, false), ("cost < count", true, false), ("price * 2 == 5", true, false),
      ("count / 2 == 3", true, false),
      ("count / 0 == nil", true, true), ("count ** 2 == 49", true, false), ("modulus:by:(count, 4) == 3", true, false),
      ("-count == -7", true, false),
      ("abs:(-count) == 7", true, false), ("sqrt(count + 2) == 3", true, false), ("floor(price) == 2", true, false),
      ("ceiling(price) == 3", true, false),
      ("bitwiseAnd:with:(count, 3) == 3", true, false), ("leftshift:by:(count, 1) == 14", true, false),
      ("onesComplement:(count) == -8", true, false),
      ("max({count, price, 9}) == 9", true, true), ("median({1, 9, 4}) == 4", true, true),
      ("mode({2, 1, 2, 1}) == 1", true, true),
      ("stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2", true, true), ("average({1, 2}) == 1.5", true, true),
      ("TERNARY(done == YES, 1, 2) == 2", false, true),
      // Strings.
      ("name == 'café'", false, false), ("name ==[c] 'CAFÉ'", true, false), ("name ==[cd] 'cafe'", true, false),
      ("name ==[n] 'Café'", true, false),
      ("name BEGINSWITH[c] 'CA'", true, false), ("name ENDSWITH[d] 'fe'", true, false),
      ("name CONTAINS 'af'", true, false),
      ("'af' IN name", true, false), ("name LIKE 'C?f?'", true, false), ("name LIKE[cd] '*FE'", true, false),
      ("name MATCHES '[A-Z].*'", true, false), ("name MATCHES 'af'", false, false),
      ("name MATCHES[cd] 'cafe'", true, false),
      ("name < 'D'", true, false), ("name >[c] 'b'", true, false), ("name <[l] 'cag'", true, false),
      ("uppercase(name) == 'CAFÉ'", true, false),
      ("canonical:(name) == 'cafe'", true, false), ("length(name) == 4", true, false),
      ("name.length == 4", true, false),
      ("name IN {'a', 'Café'}", true, false), ("name IN[cd] {'CAFE'}", true, false),
      // Dates and casts.
      ("due == nil", true, true), ("now() > CAST(0, 'Date')", true, true), ("now() - now() == 0", true, true),
      ("CAST(60, 'Date') + 60 == CAST(120.0, 'Date')", true, true),
      ("CAST('2001-01-01T00:01:00Z', 'Date') == CAST(60, 'Date')", true, true),
      ("CAST('2001-01-02', 'Date') == CAST('2001-01-02 00:00:00 +0000', 'Date')", true, true),
      ("CAST(count, 'String') == '7'", true, false), ("CAST('12', 'Integer') + 1 == 13", true, true),
      ("CAST(price, 'Integer') == 2", true, false),
      ("TRUEPREDICATE", true, true), ("FALSEPREDICATE OR TRUEPREDICATE", true, true), ("SELF == SELF", true, true),
      ("SELF IN parts", false, false),
    ] as [(String, Bool, Bool)]
  )
  func means(_ format: String, _ ofFull: Bool, _ ofEmpty: Bool) throws {
    let (fixture, full, empty) = try fixture()
    #expect(try fixture.matches(format, full) == ofFull)
    #expect(try fixture.matches(format, empty) == ofEmpty)
  }

  /// Syllables of Hangul and voiced kana are letters, and have none in them.
  @Test(
    arguments: [
      ("강남", "name CONTAINS[cd] '가'", false), ("간", "name BEGINSWITH[cd] '가'", false),
      ("ガラス", "name BEGINSWITH[cd] 'カ'", false), ("カ\u{3099}ラス", "name BEGINSWITH[cd] 'カ'", false),
      ("カ\u{3099}ラス", "name CONTAINS[cd] 'ガラ'", true), ("ガラス", "name LIKE[cd] '?ラ?'", true),
      ("한국", "name LIKE[cd] '한?'", true), ("한국", "name LIKE[d] '한??'", false),
      ("한국", "name MATCHES[cd] '[가-힣]+'", true), ("ガラス", "name MATCHES[cd] '[ァ-ヺ]{3}'", true),
    ]
  )
  func findsNoPartsOfLetters(_ name: String, _ format: String, _ expected: Bool) throws {
    var fixture = try ShopFixture()
    let id = fixture.add(1, ["name": .string(name)])
    #expect(try fixture.matches(format, id) == expected)
  }

  @Test func comparesWithObjects() throws {
    let (fixture, full, empty) = try fixture()
    let shop = fixture.id(1, shop: true)
    #expect(try fixture.matches("shop == %@", full, shop))
    #expect(try !fixture.matches("shop == %@", empty, shop))
    #expect(try fixture.matches("shop IN %@", full, [shop]))
    #expect(try fixture.matches("SELF == %@", full, full))
    #expect(try fixture.matches("ANY parts == %@", full, fixture.id(3)))
    #expect(try fixture.matches("parts CONTAINS %@", full, fixture.id(3)))
    #expect(try !fixture.matches("parts CONTAINS %@", empty, fixture.id(3)))
  }

  @Test func testsEachOfSeveralConstants() throws {
    var fixture = try ShopFixture()
    let (key, other) = (UUID(), UUID())
    let id = fixture.add(1, ["key": .uuid(key)])
    #expect(try fixture.matches("ANY %@ == key", id, [other, key]))
    #expect(try !fixture.matches("NONE %@ == key", id, [other, key]))
    #expect(try !fixture.matches("ALL %@ == key", id, [other, key]))
    #expect(try fixture.matches("NONE %@ == key", id, [UUID]()))
    // Text that spells values of the attribute's type stands for them here, too.
    #expect(try fixture.matches("ANY %@ == key", id, [other.uuidString, key.uuidString]))
    #expect(try fixture.matches("ALL %@ != key", id, [other.uuidString]))
  }

  @Test func testsEachOfSeveralURLs() throws {
    let model = try ManagedObjectModel(entities: [.entity("Page", .attribute("address", .uri, optional: true))])
    let page = try #require(model.entity(named: "Page"))
    let urls = try ["https://example.org/a", "https://example.org/b"].map { try #require(URL(string: $0)) }
    let predicate = try FetchPredicate(format: "ANY %@ == address", urls)
    #expect(throws: Never.self) { try PredicateCompiler.compile(predicate, for: page, in: model) }
  }

  /// One that can be told before is an error; one that comes from a record matches nothing.
  @Test(arguments: ["[", "a)", String(repeating: "a", count: 1_001), String(repeating: "(a)", count: 51)])
  func aPatternThatIsNoRegularExpressionMatchesNothing(_ pattern: String) throws {
    var fixture = try ShopFixture()
    let shop = fixture.add(1, ["title": .string(pattern)], shop: true)
    let id = fixture.add(2, ["name": .string(pattern), "shop": .toOne(shop)])
    #expect(try !fixture.matches("name MATCHES shop.title", id))
    #expect(throws: FetchPredicateError.self) { try fixture.matches("name MATCHES %@", id, pattern) }
    fixture.add(1, ["title": .string("(?s).*")], shop: true)
    #expect(try fixture.matches("name MATCHES shop.title", id))
  }

  @Test func aNaNEqualsANaNAndHasNoOrder() throws {
    var fixture = try ShopFixture()
    let id = fixture.add(1, ["price": .double(.nan)])
    #expect(try fixture.matches("price == %@", id, Double.nan))
    #expect(try fixture.matches("price IN %@", id, [Double.nan]))
    for symbol in ["<", "<=", ">", ">="] { #expect(try !fixture.matches("price \(symbol) 1", id)) }
    #expect(try fixture.matches("price != 1", id))
  }

  @Test func integersThatOverflowBecomeDoubles() throws {
    let fixture = try ShopFixture()
    let id = fixture.id(1)
    #expect(try fixture.value("9223372036854775807 + 1", id) == .one(.double(0x1p63)))
    #expect(try fixture.value("2 ** 64", id) == .one(.double(0x1p64)))
    #expect(try fixture.value("2 ** -1", id) == .one(.double(0.5)))
    #expect(try fixture.value("-9223372036854775808 / -1", id) == .one(.double(0x1p63)))
    #expect(try fixture.value("modulus:by:(-9223372036854775808, -1)", id) == .one(.integer(0)))
    #expect(try fixture.value("abs:(-9223372036854775808)", id) == .one(.double(0x1p63)))
    #expect(try fixture.value("CAST(1e300, 'Integer')", id) == .null)
    #expect(try fixture.value("leftshift:by:(1, 9223372036854775807)", id) == .one(.integer(0)))
  }

  @Test(
    arguments: [
      (Int64.max, 0x1p63, -1), (Int64.max, 9_223_372_036_854_774_784, 1), (Int64.min, -0x1p63, 0),
      (9_007_199_254_740_993, 9_007_199_254_740_992, 1),
      (3, 3.5, -1), (-3, -3.5, 1), (0, -0.0, 0), (5, .infinity, -1), (5, -.infinity, 1),
    ]
  )
  func comparesIntegersAndDoublesExactly(_ integer: Int64, _ double: Double, _ expected: Int) {
    #expect(NumericValue.compare(.integer(integer), .double(double)) == expected)
    #expect(NumericValue.compare(.double(double), .integer(integer)) == -expected)
  }
}
