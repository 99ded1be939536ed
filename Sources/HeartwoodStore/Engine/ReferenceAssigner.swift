import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Gives names to new records: of the kind that their entity's records have already, or else of the store's preferred kind.
struct ReferenceAssigner: Sendable {
  /// The number that the next record of an entity gets, by ordinal, where numbers are used.
  private var nextNumbers: [Int: Int64] = [:]

  /// - Throws: ``PersistenceError/Code/capabilityMissing`` where the numbers have run out.
  mutating func newReference(
    for table: NodeTable,
    preferred: StoreCapabilities.ReferenceKind,
    uuids: inout RandomUUIDs
  ) throws(PersistenceError) -> ReferenceID {
    switch kind(of: table) ?? preferred {
    case .uuid: return .uuid(uuids.next())
    case .string: return .string(uuids.next().uuidString.lowercased())
    case .integer: return .integer(try nextNumber(for: table))
    }
  }

  /// Takes note of a reference that a new record brings with it, so that no other gets it.
  mutating func note(_ reference: ReferenceID, entityOrdinal: Int) {
    guard case .integer(let number) = reference, let next = nextNumbers[entityOrdinal], number >= next else { return }
    nextNumbers[entityOrdinal] = number == .max ? .max : number + 1
  }

  private mutating func nextNumber(for table: NodeTable) throws(PersistenceError) -> Int64 {
    let number = nextNumbers[table.entity.ordinal] ?? Self.numberAfterGreatest(in: table)
    guard number < .max else {
      throw PersistenceError(
        .capabilityMissing,
        "The records are called by numbers, and the greatest number is taken. Give new records references of your own.",
        context: .init(entity: table.entity.name)
      )
    }
    nextNumbers[table.entity.ordinal] = number + 1
    return number
  }

  private func kind(of table: NodeTable) -> StoreCapabilities.ReferenceKind? {
    guard let references = table.groups.last?.references, references.count > 0 else { return nil }
    return references.kind(references.count - 1)
  }

  /// Numbers of deleted records count too: somebody may still hold their ids.
  private static func numberAfterGreatest(in table: NodeTable) -> Int64 {
    var greatest: Int64 = 0
    for group in table.groups {
      for row in 0..<group.rowCount where group.references.kind(row) == .integer {
        if case .integer(let number) = group.references[row] { greatest = max(greatest, number) }
      }
    }
    return greatest == .max ? .max : greatest + 1
  }
}
