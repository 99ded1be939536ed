package import HeartwoodFoundation
package import HeartwoodModel

/// Encodes a transaction: its head, and then a run for all records of an entity that were changed in the same way.
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

  /// Returns the bytes of a transaction; nil if it has no changes.
  static func bytes(of transaction: RecordedTransaction) -> ByteSlice? {
    let origin = SaveOrigin(author: transaction.author, contextName: transaction.contextName)
    let encoder = HistoryTransactionEncoder(date: transaction.date, origin: origin)
    for changes in transaction.changes { encoder.append(changes) }
    return encoder.sealed()
  }

  private func append(_ changes: RecordedChanges) {
    append(
      changes.kind,
      entity: changes.entityName,
      properties: changes.propertyNames,
      references: changes.references,
      values: { changes.preservedValues.indices.contains($0) ? changes.preservedValues[$0] : [] }
    )
  }

  /// Appends the change of the records with these `references`.
  ///
  /// - Parameters:
  ///   - properties: the names of the updated properties, or of those whose values are preserved.
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

  /// Returns the transaction; nil if it has no changes.
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

// MARK: HistoryValueCoding

/// Encodes a value of a tombstone: the number of its type, and then the bytes for a value of that type.
enum HistoryValueCoding {
  /// The numbers that a directory of the binary file uses for the types of properties; 0 means no value.
  private enum Kind: UInt8 {
    case null = 0
    case integer = 3
    case decimal = 4
    case double = 5
    case float = 6
    case string = 7
    case boolean = 8
    case date = 9
    case binary = 10
    case uuid = 11
    case uri = 12
  }

  /// Appends the value of an attribute; a relationship is encoded as no value.
  static func append(_ value: PropertyValue, to bytes: GrowableBytes) {
    func append(_ kind: Kind) { bytes.append(kind.rawValue) }
    switch value {
    case .null, .toOne, .toMany: append(.null)
    case .integer(let number):
      append(.integer)
      bytes.append(number)
    case .decimal(let number):
      append(.decimal)
      bytes.append(PackedDecimal(number))
    case .double(let number):
      append(.double)
      bytes.append(number)
    case .float(let number):
      append(.float)
      bytes.append(number)
    case .string(let text):
      append(.string)
      bytes.append(historyText: text)
    case .boolean(let flag):
      append(.boolean)
      bytes.append(flag ? 1 : 0 as UInt8)
    case .date(let date):
      append(.date)
      bytes.append(date.timeIntervalSinceReferenceDate)
    case .binary(let data):
      append(.binary)
      data.withUnsafeBytes { bytes.append(historyBytes: $0) }
    case .uuid(let uuid):
      append(.uuid)
      bytes.append(uuid.uuid)
    case .uri(let url):
      append(.uri)
      bytes.append(historyText: url.absoluteString)
    }
  }

  static func value(_ cursor: inout HistoryCursor) throws(HistoryFault) -> PropertyValue {
    let place = cursor.position
    switch Kind(rawValue: try cursor.number(UInt8.self)) {
    case .null: return .null
    case .integer: return .integer(try cursor.number(Int64.self))
    case .decimal: return .decimal(try decimal(&cursor))
    case .double: return .double(try cursor.number(Double.self))
    case .float: return .float(try cursor.number(Float.self))
    case .string: return .string(try cursor.text())
    case .boolean: return .boolean(try boolean(&cursor))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: try cursor.number(Double.self)))
    case .binary: return .binary(Data(try cursor.bytes()))
    case .uuid: return .uuid(UUID(uuid: try cursor.number(uuid_t.self)))
    case .uri: return .uri(try uri(&cursor))
    case nil: throw HistoryFault("a value in the history is of an unknown type", at: place)
    }
  }

  private static func decimal(_ cursor: inout HistoryCursor) throws(HistoryFault) -> Decimal {
    let place = cursor.position
    let packed = try cursor.number(PackedDecimal.self)
    if packed.isCanonical, let decimal = packed.decimal { return decimal }
    throw HistoryFault("bytes in the history are not a decimal number", at: place)
  }

  private static func boolean(_ cursor: inout HistoryCursor) throws(HistoryFault) -> Bool {
    let place = cursor.position
    let byte = try cursor.number(UInt8.self)
    guard byte <= 1 else { throw HistoryFault("a byte in the history is neither true nor false", at: place) }
    return byte == 1
  }

  private static func uri(_ cursor: inout HistoryCursor) throws(HistoryFault) -> URL {
    let place = cursor.position
    if let url = URL(string: try cursor.text()) { return url }
    throw HistoryFault("a text in the history is not a URI", at: place)
  }
}

extension GrowableBytes {
  /// Appends a length of 4 bytes and `bytes`. The store that holds them has made sure that they are less than 4 GB.
  func append(historyBytes bytes: UnsafeRawBufferPointer) {
    append(UInt32(truncatingIfNeeded: bytes.count))
    append(bytes)
  }

  /// Appends a length of 4 bytes and the UTF-8 bytes of `text`.
  func append(historyText text: String) {
    var text = text
    text.withUTF8 {
      append(historyBytes: $0.isEmpty ? UnsafeRawBufferPointer(start: nil, count: 0) : UnsafeRawBufferPointer($0))
    }
  }
}
