import Foundation
import Heartwood
import Testing

@testable import HeartwoodBrowser

/// Property lists in values are shown as text.
@Suite struct PropertyListOutlineTests {
  private func list(_ value: Any) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
  }

  @Test func aListIsIndented() throws {
    let value: [String: Any] = [
      "name": "tea", "list": [1, 2.5, true] as [Any], "when": Date(timeIntervalSinceReferenceDate: 0),
      "data": Data([1, 0xAB]), "empty": [Any](), "inner": ["a": "b"],
    ]
    #expect(
      PropertyListOutline.text(of: try list(value)) == """
        {
          data: <2 bytes: 01 ab>
          empty: []
          inner: {
            a: "b"
          }
          list: [
            1
            2.5
            true
          ]
          name: "tea"
          when: 2001-01-01T00:00:00Z
        }
        """
    )
  }

  @Test func anArchiveHasItsObjectsInTheirPlaces() throws {
    let object: NSDictionary = ["colors": ["red", "green"] as NSArray, "count": 3 as NSNumber]
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    let text = try #require(PropertyListOutline.text(of: data))
    for line in ["NSDictionary {", "  colors: NSArray [", "    \"red\"", "    \"green\"", "  count: 3"] {
      #expect(text.split(separator: "\n").contains(Substring(line)), "\(line) in\n\(text)")
    }
  }

  /// An object that contains itself, as the archiver writes it for graphs with cycles.
  @Test func cyclesEnd() throws {
    let reference = { (number: Int) in ["CF$UID": number] }
    let archive: [String: Any] = [
      "$archiver": "NSKeyedArchiver", "$version": 100_000, "$top": ["root": reference(1)],
      "$objects": [
        "$null", ["self": reference(1), "$class": reference(2)] as [String: Any], ["$classname": "Node"],
      ] as [Any],
    ]
    let xml = try PropertyListSerialization.data(fromPropertyList: archive, format: .xml, options: 0)
    // Foundation turns these dictionaries into references when it reads them.
    let value = try PropertyListSerialization.propertyList(from: xml, format: nil)
    let data = try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
    let text = try #require(PropertyListOutline.text(of: data))
    #expect(text.contains("Node {\n  self: (contains itself: object 1)\n}") || text.contains("CF$UID"))
  }

  @Test func longListsAreCut() throws {
    let text = try #require(PropertyListOutline.text(of: try list(Array(0..<20_000))))
    #expect(text.split(separator: "\n").count == 5_001)
    #expect(text.hasSuffix("\n…"))
  }

  @Test func otherDataAreNone() throws {
    let whole = try list(["a": [1, 2, 3]])
    for data in [Data(), Data("bplist00".utf8), whole.dropLast(9), Data("<plist/>".utf8)] {
      #expect(PropertyListOutline.text(of: data) == nil)
    }
    // With any bit changed, it is a list, or none, but nothing traps.
    for place in whole.indices {
      for bit in 0..<8 {
        var damaged = whole
        damaged[place] ^= 1 << bit
        _ = PropertyListOutline.text(of: damaged)
      }
    }
  }

  @Test func thePageIsGivenTheText() async throws {
    let bench = try BrowserBench(nil)
    let context = ManagedObjectContext(bench.coordinator)
    let item = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Item", limit: 1)).first)
    try item.setPropertyValue(.binary(try list(["a": 1])), forKey: "picture")
    try context.save()
    let uri = item.objectID.uriRepresentation().absoluteString
    let response = await bench.ask("GET", "api/stores/0/value", ["uri": uri, "name": "picture"])
    #expect(response.body == Data("{\n  a: 1\n}".utf8))
    #expect(response.headers.contains(.init("Content-Type", "text/plain; charset=utf-8")))
  }
}
