import Foundation
import HeartwoodModel
import HeartwoodTesting
import Testing

@testable import HeartwoodStore

struct DuplicateScanTests {
  @Test(arguments: [0, 1, 2, 100, 5000, 150_000])
  func differentReferencesDoNotRepeat(count: Int) throws {
    let parts = Self.parts((0..<count).map { .uuid(Self.uuid($0)) })
    #expect(!DuplicateScan.mayRepeat(parts))
  }

  @Test(arguments: [2, 3, 100, 5000, 150_000], [1, 2, 3] as [UInt64])
  func aRepeatedReferenceIsFoundWhereverItStands(count: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var references: [ReferenceID] = (0..<count).map { .uuid(Self.uuid($0)) }
    let first = Int.random(in: 0..<(count - 1), using: &generator)
    let second = Int.random(in: (first + 1)..<count, using: &generator)
    references[second] = references[first]
    #expect(DuplicateScan.mayRepeat(Self.parts(references)), "seed \(seed)")
  }

  @Test func allTheSameReferenceIsFound() {
    #expect(DuplicateScan.mayRepeat(Self.parts(Array(repeating: .integer(7), count: 70_000))))
  }

  @Test func referencesOfAllKindsAreTold() {
    let references: [ReferenceID] = [.integer(1), .string("1"), .uuid(Self.uuid(1)), .string("a"), .integer(-1)]
    #expect(!DuplicateScan.mayRepeat(Self.parts(references)))
    #expect(DuplicateScan.mayRepeat(Self.parts(references + [.string("a")])))
  }

  private static func uuid(_ number: Int) -> UUID {
    var bytes = UUID().uuid
    withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: number, as: Int.self) }
    return UUID(uuid: bytes)
  }

  private static func parts(_ references: [ReferenceID]) -> [IndexedRows] {
    stride(from: 0, to: references.count, by: RowID.rowsPerGroup).enumerated().map { group, start in
      let builder = ReferenceColumnBuilder()
      for reference in references[start..<min(start + RowID.rowsPerGroup, references.count)] {
        builder.append(reference, entityOrdinal: 0)
      }
      let column = builder.sealed()
      return IndexedRows(group: group, rows: 0..<column.count, references: column, liveness: nil)
    }
  }
}
