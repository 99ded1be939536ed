import HeartwoodFoundation
import HeartwoodModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Gives references to new records: of the kind that their entity's records have already, or else of the store's
/// preferred kind.
struct ReferenceAssigner: Sendable {
  /// The next number, once one has been given. A number is given once in a store, not once for each entity: there are
  /// formats in which the number alone identifies the record.
  private var nextNumber: Int64?
  /// The range of numbers that have been given to records of an entity, by ordinal, if numbers are used.
  private var givenNumbers: [Int: Range<Int64>] = [:]
  /// The least numbers that may be given to records of entities that have been given none yet.
  private var leastNumbers: [Int: Int64] = [:]
  /// The entities, by ordinal, of which a record brought a number of its own that may have been given to another.
  private(set) var contestedEntities: Set<Int> = []

  /// Returns references for `count` new records, which no other record gets.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if there are no more numbers.
  mutating func newReferences(
    _ count: Int,
    for table: NodeTable,
    of contents: StoreContents,
    preferred: StoreCapabilities.ReferenceKind
  ) throws(PersistenceError) -> ReferenceColumn {
    switch kind(of: table) ?? preferred {
    case .uuid: return Self.uuids(count, of: table.entity)
    case .string: return Self.strings(count, of: table.entity)
    case .integer: return Self.numbers(try nextNumbers(count, for: table, of: contents), of: table.entity)
    }
  }

  /// Notes a reference that a new record brings with it, so that no other gets it.
  mutating func note(_ reference: ReferenceID, entityOrdinal: Int) {
    guard case .integer(let number) = reference else { return }
    let next = number == .max ? .max : number + 1
    nextNumber = nextNumber.map { max($0, next) }
    guard let given = givenNumbers[entityOrdinal] else {
      leastNumbers[entityOrdinal] = max(next, leastNumbers[entityOrdinal] ?? next)
      return
    }
    if given.contains(number) { contestedEntities.insert(entityOrdinal) }
    guard number >= given.upperBound else { return }
    givenNumbers[entityOrdinal] = min(given.lowerBound, next)..<next
  }

  private mutating func nextNumbers(
    _ count: Int,
    for table: NodeTable,
    of contents: StoreContents
  ) throws(PersistenceError) -> Range<Int64> {
    let first = if let nextNumber { nextNumber } else { firstNumber(of: contents) }
    let (end, overflow) = first.addingReportingOverflow(Int64(count))
    guard !overflow else {
      throw PersistenceError(
        .capabilityMissing,
        "The references of the records are numbers, and the greatest number is in use.",
        recovery: "Give new records references of your own.",
        context: .init(entity: table.entity.name)
      )
    }
    nextNumber = end
    givenNumbers[table.entity.ordinal] = (givenNumbers[table.entity.ordinal]?.lowerBound ?? first)..<end
    return first..<end
  }

  private func firstNumber(of contents: StoreContents) -> Int64 {
    return max(contents.numberAfterGreatestReference, leastNumbers.values.max() ?? .min)
  }

  private func kind(of table: NodeTable) -> StoreCapabilities.ReferenceKind? {
    guard let references = table.groups.last?.references, references.count > 0 else { return nil }
    return references.kind(references.count - 1)
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

extension StoreContents {
  /// A number above that of every record, and not below ``nextReferenceNumber``. Numbers of records that were deleted
  /// since the file was opened count too: their ids may still be in use. O(records).
  ///
  /// A store that gives numbers to its records writes this number when it saves, and sets
  /// ``StoreLoader/nextReferenceNumber`` to it when it loads. Otherwise the number of a deleted record is given again
  /// after the file was opened anew.
  ///
  ///     try output.write("; next \(contents.numberAfterGreatestReference)\n")
  public var numberAfterGreatestReference: Int64 {
    let greatest = tables.reduce(into: Int64(0)) { greatest, table in
      for group in table.groups { greatest = max(greatest, group.references.greatestNumber ?? 0) }
    }
    return max(greatest == .max ? .max : greatest + 1, nextReferenceNumber ?? 1)
  }
}

extension ReferenceColumn {
  /// The greatest of the references that are numbers, or nil if there are none.
  var greatestNumber: Int64? {
    switch layout {
    case .uuid, .string: nil
    case .integer, .mixed:
      (0..<count).reduce(nil) { greatest, index in
        guard case .integer(let number) = self[index] else { return greatest }
        return max(greatest ?? number, number)
      }
    }
  }
}

// MARK: RandomUUIDs

/// Random UUIDs (version 4 of RFC 9562), generated many at once: a call of the system for each would cost more than all
/// the rest of an insertion.
enum RandomUUIDs {
  private static let width = MemoryLayout<uuid_t>.size
  /// The number of bytes that the system returns in one call.
  private static let batchByteCount = 256

  /// Returns the bytes of `count` UUIDs, one after another.
  static func bytes(count: Int) -> ByteSlice {
    let bytes = GrowableBytes(capacity: count * width)
    bytes.appendUnsafely(capacity: count * width) { target in
      fill(target)
      for index in 0..<count {
        target[index &* width &+ 6] = target[index &* width &+ 6] & 0x0F | 0x40
        target[index &* width &+ 8] = target[index &* width &+ 8] & 0x3F | 0x80
      }
      return count * width
    }
    return bytes.sealed()
  }

  private static func fill(_ target: UnsafeMutableRawBufferPointer) {
    #if canImport(Darwin)
      arc4random_buf(target.baseAddress, target.count)
    #else
      for start in stride(from: 0, to: target.count, by: batchByteCount) {
        let batch = UnsafeMutableRawBufferPointer(rebasing: target[start...].prefix(batchByteCount))
        if getentropy(batch.baseAddress, batch.count) != 0 {
          for index in batch.indices { batch[index] = .random(in: .min ... .max) }
        }
      }
    #endif
  }
}
