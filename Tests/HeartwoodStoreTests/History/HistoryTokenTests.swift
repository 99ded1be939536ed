import Foundation
import HeartwoodStore
import Testing

@Suite struct HistoryTokenTests {
  private let one = UUID()
  private let other = UUID()

  @Test func aTokenOutlivesTheProcess() throws {
    let token = PersistentHistoryToken([one: 7, other: .max])
    let data = try JSONEncoder().encode(token)
    #expect(try JSONDecoder().decode(PersistentHistoryToken.self, from: data) == token)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Int64])
    #expect(object == [one.uuidString: 7, other.uuidString: .max])
    let empty = try JSONDecoder().decode(PersistentHistoryToken.self, from: Data("{}".utf8))
    #expect(empty.storeIdentifiers.isEmpty)
  }

  @Test(arguments: ["[]", "{\"store\":1}", "{\"E899556C-BE1A-42A3-A634-F8411915C05F\":-1}", "1"])
  func whatIsNoTokenIsRefused(_ text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(PersistentHistoryToken.self, from: Data(text.utf8))
    }
  }

  @Test func tokensAreComparedForOneStore() {
    let (early, late) = (PersistentHistoryToken([one: 1, other: 5]), PersistentHistoryToken([one: 2]))
    #expect(early.precedes(late, inStoreWithIdentifier: one))
    #expect(!late.precedes(early, inStoreWithIdentifier: one))
    #expect(late.precedes(early, inStoreWithIdentifier: other))
    #expect(!early.precedes(early, inStoreWithIdentifier: one))
    #expect(early.transactionNumber(forStoreWithIdentifier: other) == 5)
    #expect(late.transactionNumber(forStoreWithIdentifier: other) == nil)
    #expect(early.updated(with: late) == PersistentHistoryToken([one: 2, other: 5]))
    #expect(early.updated(with: late).storeIdentifiers == [one, other])
  }
}
