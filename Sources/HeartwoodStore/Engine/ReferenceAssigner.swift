import FoundationEssentials
import HeartwoodModel

/// Gives names to new records: of the kind that their entity's records have already, or else of the store's preferred kind.
struct ReferenceAssigner: Sendable {
  /// The number that the next record of an entity gets, by ordinal, where numbers are used.
  private var nextNumbers: [Int: Int64] = [:]

  mutating func newReference(for table: NodeTable, preferred: StoreCapabilities.ReferenceKind) -> ReferenceID {
    switch kind(of: table) ?? preferred {
    case .uuid: return .uuid(UUID())
    case .string: return .string(UUID().uuidString.lowercased())
    case .integer:
      let number = nextNumbers[table.entity.ordinal] ?? Self.greatestNumber(in: table) + 1
      nextNumbers[table.entity.ordinal] = number + 1
      return .integer(number)
    }
  }

  private func kind(of table: NodeTable) -> StoreCapabilities.ReferenceKind? {
    guard let references = table.groups.last?.references, references.count > 0 else { return nil }
    return references[references.count - 1].kind
  }

  private static func greatestNumber(in table: NodeTable) -> Int64 {
    var greatest: Int64 = 0
    for row in table.liveRows {
      if case .integer(let number) = table.reference(row), number < .max - 1 { greatest = max(greatest, number) }
    }
    return greatest
  }
}
