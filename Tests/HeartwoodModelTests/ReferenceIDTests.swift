import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite("Reference ids")
struct ReferenceIDTests {
  static let uuidText = "E899556C-BE1A-42A3-A634-F8411915C05F"
  static let oddStrings = [
    "", "'", "''", "'abc", "abc", "12", "+12", "-0", "012", " 12", "9223372036854775808", "-9223372036854775808",
    uuidText, uuidText.lowercased(), "'\u{301}x", "\u{301}x", "p12", "t12", "a/b%2F", "\u{0}", "😀",
  ]

  @Test("A string comes back from its text", arguments: oddStrings)
  func strings(_ string: String) {
    #expect(ReferenceID(text: ReferenceID.string(string).text) == .string(string))
  }

  @Test("A number comes back from its text", arguments: [0, 1, -1, Int64.min, Int64.max])
  func numbers(_ number: Int64) {
    #expect(ReferenceID.integer(number).text == String(number))
    #expect(ReferenceID(text: String(number)) == .integer(number))
  }

  @Test("A number in Core Data's form is told from other strings")
  func numbersOfCoreData() {
    #expect(ReferenceID.string("p12").numberOfCoreData == 12)
    #expect(ReferenceID.string("p\(Int64.max)").numberOfCoreData == .max)
    for text in ["", "p", "p0", "p-1", "p+1", "p012", "P12", "12", "t12", "p1a", "p1 ", "p9223372036854775808"] {
      #expect(ReferenceID.string(text).numberOfCoreData == nil, "\(text)")
    }
    #expect(ReferenceID.integer(12).numberOfCoreData == nil)
  }

  @Test("A UUID comes back from its text, in capitals")
  func uuids() throws {
    let uuid = try #require(UUID(uuidString: Self.uuidText))
    #expect(ReferenceID.uuid(uuid).text == Self.uuidText)
    #expect(ReferenceID(text: Self.uuidText) == .uuid(uuid))
    #expect(ReferenceID(text: Self.uuidText.lowercased()) == .string(Self.uuidText.lowercased()))
  }

  @Test("Any text stands for one reference, and two references never have one text")
  func randomTexts() {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<5_000 {
      let quotes = String(repeating: "'", count: Int.random(in: 0...2, using: &generator))
      let reference = ReferenceID.string(quotes + generator.nextString())
      #expect(ReferenceID(text: reference.text) == reference, "seed \(seed)")
    }
  }

  @Test("Strings are the same when their bytes are")
  func equivalence() {
    #expect(ReferenceID.string("é") != .string("e\u{301}"))
    #expect(Set([ReferenceID.string("é"), .string("e\u{301}"), .string("é")]).count == 2)
  }

  @Test("Equivalent strings have hashes of their own, so that none can be chosen to collide")
  func hashesOfEquivalentStrings() {
    let texts = ["é\u{323}", "e\u{301}\u{323}", "e\u{323}\u{301}", "ẹ\u{301}"]
    #expect(Set(texts).count == 1)
    #expect(Set(texts.map { ReferenceID.string($0).hashValue }).count == texts.count)
    #expect(Set(texts.map { PropertyValue.string($0).hashValue }).count == texts.count)
    #expect(Set(texts.map { PropertyValue.string($0) }).count == texts.count)
  }
}
