import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodStore

@Suite struct ContentsDifferencesTests {
  /// A record whose relationships are the places of other records.
  private struct Item: Equatable {
    var text: String?
    var count: Int64
    var next: Int?
    var others: Set<Int>
    var listed: [Int]
  }

  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(entities: [
      .entity(
        "Item",
        .attribute("text", .string, optional: true),
        .attribute("count", .integer64),
        .toOne("next", "Item", inverse: nil),
        .toMany("others", "Item", inverse: nil),
        .toMany("listed", "Item", inverse: nil, ordered: true)
      )
    ])
  }

  private static func items(_ count: Int, _ random: inout SeededGenerator) -> [Item] {
    (0..<count).map { number in
      func place() -> Int { Int.random(in: 0..<count, using: &random) }
      return Item(
        text: Bool.random(using: &random) ? "item \(number)" : nil,
        count: Int64(number),
        next: Bool.random(using: &random) ? place() : nil,
        others: Set((0..<Int.random(in: 0...3, using: &random)).map { _ in place() }),
        listed: (0..<Int.random(in: 0...3, using: &random)).map { _ in place() }
      )
    }
  }

  /// Contents of the items that are there, in this order, each called by its number in `names`.
  private func contents(_ items: [Int: Item], order: [Int], names: [Int]) -> StoreContents {
    var contents = StoreContents(model: model, entities: model.entities, metadata: StoreMetadata(storeType: .inMemory))
    let entity = model.entities[0]
    func id(_ place: Int) -> ManagedObjectID { contents.objectID(.integer(Int64(names[place])), of: entity) }
    let rows = order.compactMap { place in
      items[place].map { item in
        NodeTable.NewRow(
          reference: .integer(Int64(names[place])),
          values: [
            item.text.map(PropertyValue.string) ?? .null, .integer(item.count),
            item.next.map { .toOne(id($0)) } ?? .null,
            .toMany(item.others.shuffled().map(id)), .toMany(item.listed.map(id)),
          ]
        )
      }
    }
    contents.tables[0].insert(rows)
    return contents
  }

  /// The differences in words, sorted.
  private func differences(
    _ first: StoreContents,
    _ second: StoreContents,
    _ matching: ContentsDifferences.Matching
  ) throws -> [String] {
    var words: [String] = []
    try ContentsDifferences(first, second, matching: matching).forEach { difference in
      switch difference {
      case .record(let node, .first): words.append("- \(node.reference)")
      case .record(let node, .second): words.append("+ \(node.reference)")
      case .values(let node, _, let names): words.append("~ \(node.reference) \(names.sorted())")
      default: break
      }
    }
    return words.sorted()
  }

  @Test(arguments: 0..<8) func editsAreFoundByReference(_ number: Int) throws {
    let seed = UInt64(number) &+ 0xD1FF
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let items = Self.items(60, &random)
    let before = Dictionary(uniqueKeysWithValues: items.enumerated().map { ($0, $1) })
    var after = before
    var expected: [String] = []
    for place in items.indices {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        after[place] = nil
        expected.append("- \(place)")
      case 1:
        after[place]?.count += 1000
        after[place]?.listed.append(0)
        expected.append("~ \(place) \(["count", "listed"])")
      case 2:
        let isChanged = after[place]?.others.insert(1).inserted ?? false
        if isChanged { expected.append("~ \(place) \(["others"])") }
      default: break
      }
    }
    let names = Array(items.indices)
    let first = contents(before, order: names.shuffled(using: &random), names: names)
    let second = contents(after, order: names.shuffled(using: &random), names: names)
    #expect(try differences(first, second, .reference) == expected.sorted(), "seed \(seed)")
  }

  @Test(arguments: 0..<8) func otherNamesAreNoDifferenceByValue(_ number: Int) throws {
    let seed = UInt64(number) &+ 0xBEEF
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let items = Self.items(60, &random)
    let all = Dictionary(uniqueKeysWithValues: items.enumerated().map { ($0, $1) })
    let places = Array(items.indices)
    let first = contents(all, order: places, names: places)
    let names = places.shuffled(using: &random).map { $0 + 500 }
    let second = contents(all, order: places.shuffled(using: &random), names: names)
    #expect(try differences(first, second, .values(of: [])).isEmpty, "seed \(seed)")

    var edited = all
    edited[7]?.text = "edited"
    edited[8]?.next = items[8].next == 3 ? 4 : 3
    let third = contents(edited, order: places.shuffled(using: &random), names: names)
    // By all attributes, a record with another attribute is another record, to which nothing of the first store leads.
    let byValue = try differences(first, third, .values(of: []))
    #expect(byValue.contains("- 7") && byValue.contains("+ \(names[7])"), "seed \(seed)")
    #expect(byValue.contains { $0.hasPrefix("~ 8 ") }, "seed \(seed)")
    let byCount = try differences(first, third, .values(of: ["count"]))
    #expect(byCount == ["~ 7 \(["text"])", "~ 8 \(["next"])"], "seed \(seed)")
  }

  @Test func recordsThatLookAlikeAreToldApartByWhatTheyLeadTo() throws {
    func item(_ count: Int64, next: Int?) -> Item { Item(text: nil, count: count, next: next, others: [], listed: []) }
    // 0 and 1 look alike, but lead to different records.
    let items = [0: item(1, next: 2), 1: item(1, next: 3), 2: item(2, next: nil), 3: item(3, next: nil)]
    let first = contents(items, order: [0, 1, 2, 3], names: [0, 1, 2, 3])
    let second = contents(items, order: [1, 0, 3, 2], names: [10, 11, 12, 13])
    #expect(try differences(first, second, .values(of: [])).isEmpty)
  }
}
