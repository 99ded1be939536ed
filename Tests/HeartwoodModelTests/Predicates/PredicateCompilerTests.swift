import Testing

@testable import HeartwoodModel

@Suite struct PredicateCompilerTests {
  private func error(_ format: String) throws -> FetchPredicateError? {
    let fixture = try ShopFixture()
    let predicate = try FetchPredicate(format: format)
    do throws(FetchPredicateError) {
      _ = try PredicateCompiler.compile(predicate, for: fixture.item, in: fixture.model)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    arguments: [
      ("nam == 'x'", FetchPredicateError.Kind.unknownKey, "nam"), ("shop.titel == 'x'", .unknownKey, "titel"),
      ("name.first == 'x'", .unknownKey, "#first"),
      ("count == 'x'", .typeMismatch, "=="), ("name > 5", .typeMismatch, ">"), ("due < 5", .typeMismatch, "<"),
      ("shop > 5", .typeMismatch, ">"),
      ("count BEGINSWITH 'x'", .typeMismatch, "BEGINSWITH"), ("count BETWEEN 5", .typeMismatch, "5"),
      ("count BETWEEN {1, 2, 3}", .typeMismatch, "{1, 2, 3}"),
      ("count BETWEEN {'a', 'b'}", .typeMismatch, "BETWEEN"), ("count IN 5", .typeMismatch, "5"),
      ("name IN {1, 2}", .typeMismatch, "IN"),
      ("parts == nil", .collection, "parts"), ("parts.name == 'x'", .collection, "parts.name"),
      ("name == parts.name", .collection, "parts.name"),
      ("ANY name == 'x'", .collection, "name"), ("parts IN parts", .collection, "parts"),
      ("name.@count == 1", .collection, "@count"),
      ("name[0] == 'x'", .collection, "name"), ("SUBQUERY(name, $x, TRUEPREDICATE).@count == 0", .collection, "name"),
      ("parts.@sum.name == 1", .typeMismatch, "@sum"), ("name + 1 == 2", .typeMismatch, "name"),
      ("count + name == 2", .typeMismatch, "name"),
      ("lowercase(count) == 'x'", .typeMismatch, "count"), ("abs(name) == 1", .typeMismatch, "name"),
      ("sum(count) == 1", .typeMismatch, "count"), ("sum(1, 'a') == 1", .typeMismatch, "\"…\""),
      ("average({price, name}) > 5", .typeMismatch, "name"), ("max(nil, count, name) == 1", .typeMismatch, "name"),
      ("name MATCHES '('", .typeMismatch, "\"…\""), ("name == $NAME", .unboundVariable, "$NAME"),
      ("cache == 'x'", .unsupported, "cache"),
      ("SUBQUERY(parts, $x, $x.nam == 1).@count == 0", .unknownKey, "nam"),
      ("count == 1 AND (done == YES OR NOT nam == 'x')", .unknownKey, "nam"),
    ]
  )
  func showsThePlace(_ format: String, _ kind: FetchPredicateError.Kind, _ place: String) throws {
    let error = try #require(try error(format))
    #expect(error.kind == kind)
    let marked = Array(error.text.utf8)[error.place]
    #expect(String(decoding: marked, as: UTF8.self) == place, "\(error)")
  }

  @Test func suggestsANameThatIsClose() throws {
    #expect(try #require(try error("pirce == 1")).message == "Item has no property “pirce”. Did you mean price?")
    #expect(try #require(try error("shop.Title == 'x'")).message.hasSuffix("Did you mean title?"))
    #expect(try #require(try error("completely == 1")).message.contains("It has name, price, count"))
    #expect(try #require(try error("#SELF == nil")).message.hasSuffix("write SELF in the format string, not as a key."))
  }

  @Test func leavesTextOutOfMessages() throws {
    let error = try #require(try error("name == 'secret' AND nam == 'secret'"))
    #expect(!error.description.contains("secret"))
    #expect(
      error.description == """
        Item has no property “nam”. Did you mean name?
          name == "…" AND nam == "…"
                          ^~~
        """
    )
  }

  @Test(arguments: ["key == '3B1F5C34-4F0A-4E38-9E53-5C2B1D3F9A10'", "key IN {'3B1F5C34-4F0A-4E38-9E53-5C2B1D3F9A10'}"])
  func readsUUIDsFromText(_ format: String) throws {
    #expect(try error(format) == nil)
  }

  @Test func refusesTreesThatAreTooHigh() throws {
    let fixture = try ShopFixture()
    var predicate = FetchPredicate.literal(true)
    for _ in 0..<2_000 { predicate = .not(predicate) }
    let error = #expect(throws: FetchPredicateError.self) {
      try PredicateCompiler.compile(predicate, for: fixture.item, in: fixture.model)
    }
    #expect(error?.kind == .tooComplex)
  }

  @Test func checksSortKeys() throws {
    let fixture = try ShopFixture()
    func plan(_ key: String) throws -> CompiledSort {
      try CompiledSort(FetchSortDescriptor(key), for: fixture.item, in: fixture.model)
    }
    _ = try plan("name")
    _ = try plan("shop.title")
    _ = try plan("parts.@count")
    for key in ["nam", "parts.name", "parts", "shop", "", "a..b", "cache", "@none"] {
      #expect(throws: FetchPredicateError.self) { try plan(key) }
    }
  }
}
