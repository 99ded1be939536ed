package import HeartwoodModel

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Puts the bytes of a transaction together: its head, and then a run for all records of an entity to which the same was done.
package final class HistoryTransactionEncoder {
  private static let lengthWidth = 8
  private let bytes = GrowableBytes(capacity: 128)
  private var isEmpty = true

  package init(date: Date, origin: SaveOrigin) {
    bytes.append(UInt64(0))
    bytes.append(date.timeIntervalSinceReferenceDate)
    bytes.append(historyText: origin.author ?? "")
    bytes.append(historyText: origin.contextName ?? "")
  }

  /// Appends what was done to the records that the store calls `references`.
  ///
  /// - Parameters:
  ///   - properties: the names of those that were updated, or whose values are preserved.
  ///   - values: the preserved values of each deleted record, in the order of `properties`.
  package func append(
    _ kind: PersistentHistoryChange.ChangeType,
    entity: String,
    properties: [String] = [],
    references: [ReferenceID],
    values: (Int) -> [PropertyValue] = { _ in [] }
  ) {
    guard !references.isEmpty else { return }
    isEmpty = false
    let start = bytes.count
    let layout = Self.layout(of: references)
    bytes.append(UInt64(0))
    bytes.append(kind.rawValue)
    bytes.append(layout.rawValue)
    bytes.append(UInt16(0))
    bytes.append(UInt32(truncatingIfNeeded: references.count))
    bytes.append(UInt32(truncatingIfNeeded: properties.count))
    bytes.append(historyText: entity)
    for property in properties { bytes.append(historyText: property) }
    bytes.reserve(references.count * (layout.width ?? 0))
    for (index, reference) in references.enumerated() {
      append(reference, isMixed: layout == .mixed)
      for value in values(index) { HistoryValueCoding.append(value, to: bytes) }
    }
    setLength(ofPartAt: start)
  }

  /// The transaction; nil where nothing was done.
  package func sealed() -> ByteSlice? {
    if isEmpty { return nil }
    setLength(ofPartAt: 0)
    return bytes.sealed()
  }

  private func setLength(ofPartAt start: Int) {
    let length = UInt64(bytes.count - start - Self.lengthWidth)
    bytes.unsafeMutableBytes.storeBytes(of: length.littleEndian, toByteOffset: start, as: UInt64.self)
  }

  private func append(_ reference: ReferenceID, isMixed: Bool) {
    if isMixed { bytes.append(Self.layout(of: reference).rawValue) }
    switch reference {
    case .integer(let number): bytes.append(number)
    case .uuid(let uuid): bytes.append(uuid.uuid)
    case .string(let text): bytes.append(historyText: text)
    }
  }

  private static func layout(of references: [ReferenceID]) -> ReferenceColumn.Layout {
    guard let first = references.first.map(layout(of:)) else { return .integer }
    return references.allSatisfy { layout(of: $0) == first } ? first : .mixed
  }

  private static func layout(of reference: ReferenceID) -> ReferenceColumn.Layout {
    switch reference {
    case .integer: .integer
    case .uuid: .uuid
    case .string: .string
    }
  }
}
