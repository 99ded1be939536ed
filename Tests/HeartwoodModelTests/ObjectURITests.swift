import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite("Object URIs")
struct ObjectURITests {
  private static let store = "D35CF030-1EC1-4667-9666-70C8247A1010"

  @Test("Every reference and entity name comes back", arguments: ReferenceIDTests.oddStrings)
  func roundTrip(_ text: String) throws {
    let store = try #require(UUID(uuidString: Self.store))
    for reference in [ReferenceID.string(text), .integer(-7), .uuid(store)] {
      let uri = ObjectURI(storeIdentifier: store, entityName: "Größe/\(text)", reference: reference)
      #expect(ObjectURI(text: uri.text) == uri)
      #expect(ObjectURI(uri.url) == uri)
      #expect(uri.url.absoluteString == uri.text)
    }
  }

  @Test("The form that Core Data gives")
  func form() throws {
    let store = try #require(UUID(uuidString: Self.store))
    let uri = ObjectURI(storeIdentifier: store, entityName: "ToDo", reference: .string("p12"))
    #expect(uri.text == "x-coredata://\(Self.store)/ToDo/p12")
  }

  @Test(
    "What is no URI of a saved object gives nothing",
    arguments: [
      "", "x-coredata://", "x-coredata:///ToDo/t1", "http://\(store)/ToDo/p1", "x-coredata://\(store)",
      "x-coredata://\(store)/",
      "x-coredata://\(store)/ToDo", "x-coredata://\(store)//p1", "x-coredata://\(store)/ToDo/p1/",
      "x-coredata://\(store)/A/B/C",
      "x-coredata://nobody/ToDo/p1", "x-coredata://\(store)/ToDo/%", "x-coredata://\(store)/ToDo/%4",
      "x-coredata://\(store)/ToDo/%+A", "x-coredata://\(store)/ToDo/%-1", "x-coredata://\(store)/ToDo/%GG",
      "x-coredata://\(store)/ToDo/%FF", "x-coredata://\(store)/%C3/p1", "x-coredata:/\(store)/ToDo/p1",
      "x-coredata:\u{0}//\(store)/ToDo/p1", "x-coredata://\u{301}\(store)/ToDo/p1",
    ]
  )
  func hostile(_ text: String) {
    #expect(ObjectURI(text: text) == nil)
  }

  @Test("No text makes it trap")
  func randomTexts() {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<5_000 {
      let text = "x-coredata://\(Self.store)/ToDo/%" + generator.nextString()
      if let uri = ObjectURI(text: text) { #expect(ObjectURI(text: uri.text) == uri, "seed \(seed)") }
    }
  }

  @Test("A new object has a URI that leads nowhere")
  func temporary() {
    let uri = ObjectURI(storeIdentifier: nil, entityName: "ToDo", reference: .integer(3))
    #expect(uri.text == "x-coredata:///ToDo/t3")
    #expect(ObjectURI(text: uri.text) == nil)
  }
}
