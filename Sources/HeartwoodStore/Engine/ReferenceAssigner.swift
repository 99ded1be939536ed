import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Gives names to new records: of the kind that their entity's records have already, or else of the store's preferred kind.
struct ReferenceAssigner: Sendable {
  /// The numbers that have been given to records of an entity, by ordinal, where numbers are used.
  private var givenNumbers: [Int: Range<Int64>] = [:]
  /// The least numbers that may be given to records of entities that have been given none yet.
  private var leastNumbers: [Int: Int64] = [:]
  /// The entities, by ordinal, of which a record brought a number of its own that may have been given to another.
  private(set) var contestedEntities: Set<Int> = []

  /// References for `count` new records, which no other record gets.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` where the numbers have run out.
  mutating func newReferences(
    _ count: Int,
    for table: NodeTable,
    preferred: StoreCapabilities.ReferenceKind
  ) throws(PersistenceError) -> ReferenceColumn {
    switch kind(of: table) ?? preferred {
    case .uuid: return Self.uuids(count, of: table.entity)
    case .string: return Self.strings(count, of: table.entity)
    case .integer: return Self.numbers(try nextNumbers(count, for: table), of: table.entity)
    }
  }

  /// Takes note of a reference that a new record brings with it, so that no other gets it.
  mutating func note(_ reference: ReferenceID, entityOrdinal: Int) {
    guard case .integer(let number) = reference else { return }
    let next = number == .max ? .max : number + 1
    guard let given = givenNumbers[entityOrdinal] else {
      leastNumbers[entityOrdinal] = max(next, leastNumbers[entityOrdinal] ?? next)
      return
    }
    if given.contains(number) { contestedEntities.insert(entityOrdinal) }
    guard number >= given.upperBound else { return }
    givenNumbers[entityOrdinal] = min(given.lowerBound, next)..<next
  }

  private mutating func nextNumbers(_ count: Int, for table: NodeTable) throws(PersistenceError) -> Range<Int64> {
    let given = givenNumbers[table.entity.ordinal] ?? noNumbers(of: table)
    let (end, overflow) = given.upperBound.addingReportingOverflow(Int64(count))
    guard !overflow else {
      throw PersistenceError(
        .capabilityMissing,
        "The records are called by numbers, and the greatest number is taken. Give new records references of your own.",
        context: .init(entity: table.entity.name)
      )
    }
    givenNumbers[table.entity.ordinal] = given.lowerBound..<end
    return given.upperBound..<end
  }

  private func noNumbers(of table: NodeTable) -> Range<Int64> {
    let first = max(Self.numberAfterGreatest(in: table), leastNumbers[table.entity.ordinal] ?? .min)
    return first..<first
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

// MARK: Columns of references

extension ReferenceAssigner {
  private static func uuids(_ count: Int, of entity: EntityDescription) -> ReferenceColumn {
    ReferenceColumn(
      layout: .uuid,
      count: count,
      values: RandomUUIDs.bytes(count: count),
      offsets: nil,
      entities: .same(UInt32(truncatingIfNeeded: entity.ordinal))
    )
  }

  private static func strings(_ count: Int, of entity: EntityDescription) -> ReferenceColumn {
    let uuids = uuids(count, of: entity)
    let builder = ReferenceColumnBuilder()
    for index in 0..<count {
      builder.append(.string(UUID(uuid: uuids.uuidBytes(index)).uuidString.lowercased()), entityOrdinal: entity.ordinal)
    }
    return builder.sealed()
  }

  private static func numbers(_ numbers: Range<Int64>, of entity: EntityDescription) -> ReferenceColumn {
    let builder = ReferenceColumnBuilder()
    for number in numbers { builder.append(.integer(number), entityOrdinal: entity.ordinal) }
    return builder.sealed()
  }
}
