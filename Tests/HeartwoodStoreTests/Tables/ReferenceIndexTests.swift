import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodStore

/// Rows are found by reference, whichever index is made for them.
@Suite struct ReferenceIndexTests {
  /// How the numbers lie, and whether they have a slot each.
  enum Numbers: CaseIterable {
    case dense, withHoles, negative, atTheEnds, farApart, shuffled

    var isByNumber: Bool { self != .farApart && self != .atTheEnds }

    func make(_ generator: inout SeededGenerator) -> [Int64] {
      let count = Int.random(in: 1...3000, using: &generator)
      switch self {
      case .dense: return (0..<Int64(count)).map { $0 + 1 }
      case .withHoles:
        return (0..<Int64(count)).map { $0 * 3 + Int64.random(in: 0...2, using: &generator) }
      case .negative: return (0..<Int64(count)).map { $0 - Int64(count / 2) }
      case .atTheEnds: return [.min, .min + 1, -1, 0, 1, .max - 1, .max]
      case .farApart: return (0..<Int64(count + 1)).map { $0 * 1000 }
      case .shuffled: return (0..<Int64(count)).map { Int64.max - $0 }.shuffled(using: &generator)
      }
    }
  }

  @Test(arguments: Numbers.allCases, [1, 2, 3, 4, 5] as [UInt64])
  func everyNumberIsFoundInItsRow(_ numbers: Numbers, _ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let numbers = (kind: numbers, values: numbers.make(&generator))
    let groups = Self.groups(numbers.values.map { .integer($0) }, of: 1000)
    let parts = Self.parts(groups)
    #expect(try (NumberIndex(parts) != nil) == numbers.kind.isByNumber, "seed \(seed)")
    let index = try ReferenceIndex(parts)
    for (place, number) in numbers.values.enumerated() {
      let row = try #require(index.row(of: .integer(number), in: groups), "\(number), seed \(seed)")
      #expect(row.group * 1000 + row.row == place)
    }
    let known = Set(numbers.values)
    let near = numbers.values.flatMap { [$0 &- 1, $0 &+ 1] } + [.min, .max, 0]
    for number in near where !known.contains(number) {
      #expect(index.row(of: .integer(number), in: groups) == nil, "\(number), seed \(seed)")
    }
    #expect(index.row(of: .string("\(numbers.values[0])"), in: groups) == nil)
  }

  @Test(arguments: [[7, 8, 7], [1, 1_000_000, 1]] as [[Int64]])
  func aNumberThatIsThereTwiceIsTold(_ numbers: [Int64]) throws {
    let parts = Self.parts(Self.groups(numbers.map { .integer($0) }, of: 2))
    let duplicate = #expect(throws: ReferenceIndex.Duplicate.self) { try ReferenceIndex(parts) }
    #expect(duplicate?.first == RowID(group: 0, row: 0))
    #expect(duplicate?.second == RowID(group: 1, row: 0))
  }

  @Test func equivalentTextsHaveHashesOfTheirOwn() {
    let texts = ["é\u{323}", "e\u{301}\u{323}", "e\u{323}\u{301}", "ẹ\u{301}"]
    #expect(Set(texts.map { HashIndex.hash(.string($0)) }).count == texts.count)
    #expect(Set(texts.map { UniqueConstraint.hash([.string($0)]) }).count == texts.count)
  }

  @Test func whatIsNoNumberIsFoundByItsHash() throws {
    let references: [ReferenceID] = [.integer(1), .string("1"), .integer(2)]
    let groups = Self.groups(references, of: 2)
    #expect(try NumberIndex(Self.parts(groups)) == nil)
    let index = try ReferenceIndex(Self.parts(groups))
    #expect(references.map { index.row(of: $0, in: groups)?.row } == [0, 1, 0])
  }

  @Test func nothingIsFoundWhereThereIsNothing() throws {
    #expect(try ReferenceIndex([]).row(of: .integer(0), in: []) == nil)
  }

  // MARK: Sets

  @Test(arguments: Numbers.allCases, [1, 2, 3] as [UInt64])
  func aReferenceIsNewOnce(_ numbers: Numbers, _ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let values = numbers.make(&generator)
    let references = (values + values.prefix(10)).map { ReferenceID.integer($0) }.shuffled(using: &generator)
    var set = ReferenceSet(for: references)
    var met: Set<ReferenceID> = []
    for reference in references { #expect(set.insert(reference) == met.insert(reference).inserted, "seed \(seed)") }
  }

  @Test func aSetOfMixedReferencesTellsThemApart() {
    let references: [ReferenceID] = [.integer(1), .string("1"), .integer(1), .string("1")]
    var set = ReferenceSet(for: references)
    #expect(references.map { set.insert($0) } == [true, true, false, false])
  }

  // MARK: Support

  private static func groups(_ references: [ReferenceID], of size: Int) -> [RowGroup] {
    stride(from: 0, to: references.count, by: size).map { start in
      let builder = ReferenceColumnBuilder()
      for reference in references[start..<min(start + size, references.count)] {
        builder.append(reference, entityOrdinal: 0)
      }
      return RowGroup(references: builder.sealed(), versions: .same(1), columns: [], liveness: nil)
    }
  }

  private static func parts(_ groups: [RowGroup]) -> [IndexedRows] {
    groups.enumerated().map { place, group in
      IndexedRows(group: place, rows: 0..<group.rowCount, references: group.references, liveness: nil)
    }
  }
}
