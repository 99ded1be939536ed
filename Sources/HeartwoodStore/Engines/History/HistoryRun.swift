import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Records of one entity to which a transaction did the same, as they lie in a page.
struct HistoryRun: Sendable {
  /// The length of 8 bytes, the kind, the layout, zeros, two counts, the least entity name, and the shortest reference.
  static let minimumLength = 8 + 4 + 4 + 4 + 5 + 4

  let kind: PersistentHistoryChange.ChangeType
  let count: Int
  let entityName: String
  /// The properties that were updated, or those whose values the tombstones have.
  let propertyNames: [String]
  private let layout: ReferenceColumn.Layout
  private let records: HistoryCursor

  init(_ transaction: inout HistoryCursor) throws(HistoryFault) {
    var cursor = try transaction.part()
    let place = cursor.position
    let kind = PersistentHistoryChange.ChangeType(rawValue: try cursor.number(UInt8.self))
    let layout = ReferenceColumn.Layout(rawValue: try cursor.number(UInt8.self))
    let zeros = try cursor.number(UInt16.self)
    count = Int(try cursor.number(UInt32.self))
    let propertyCount = Int(try cursor.number(UInt32.self))
    guard let kind, let layout, zeros == 0, count > 0, kind != .insert || propertyCount == 0 else {
      throw HistoryFault("changes in the history are described wrongly", at: place)
    }
    self.kind = kind
    self.layout = layout
    entityName = try cursor.name()
    var names: [String] = []
    for _ in 0..<propertyCount { names.append(try cursor.name()) }
    guard Set(names).count == names.count else { throw HistoryFault("a property is named twice", at: place) }
    propertyNames = names
    records = cursor
  }
}

// MARK: Records

extension HistoryRun {
  private var hasTombstones: Bool { kind == .delete && !propertyNames.isEmpty }

  /// Gives `body` each record's name and tombstone. The page has been verified.
  func forEachRecord(_ body: (ReferenceID, [String: PropertyValue]) -> Void) {
    do throws(HistoryFault) {
      try readRecords(body)
    } catch {
      preconditionFailure("A page of the history is verified before it is read.")
    }
  }

  /// Makes sure that the records can be read.
  func checkRecords() throws(HistoryFault) {
    guard let width = layout.width, !hasTombstones else { return try readRecords { _, _ in } }
    guard records.remainingCount == count * width else {
      throw HistoryFault("the history has not as many changes as it says", at: records.position)
    }
  }

  private func readRecords(_ body: (ReferenceID, [String: PropertyValue]) -> Void) throws(HistoryFault) {
    var cursor = records
    for _ in 0..<count {
      let reference = try reference(&cursor)
      var tombstone: [String: PropertyValue] = [:]
      if hasTombstones {
        for name in propertyNames { tombstone[name] = try HistoryValueCoding.value(&cursor) }
      }
      body(reference, tombstone)
    }
    try cursor.expectEnd("bytes follow the last change")
  }

  private func reference(_ cursor: inout HistoryCursor) throws(HistoryFault) -> ReferenceID {
    switch layout {
    case .integer: return .integer(try cursor.number(Int64.self))
    case .uuid: return .uuid(UUID(uuid: try cursor.number(uuid_t.self)))
    case .string: return .string(try cursor.text())
    case .mixed: return try mixedReference(&cursor)
    }
  }

  private func mixedReference(_ cursor: inout HistoryCursor) throws(HistoryFault) -> ReferenceID {
    let place = cursor.position
    switch try cursor.number(UInt8.self) {
    case ReferenceColumn.Layout.integer.rawValue: return .integer(try cursor.number(Int64.self))
    case ReferenceColumn.Layout.uuid.rawValue: return .uuid(UUID(uuid: try cursor.number(uuid_t.self)))
    case ReferenceColumn.Layout.string.rawValue: return .string(try cursor.text())
    default: throw HistoryFault("a reference in the history is of no known kind", at: place)
    }
  }
}
