import HeartwoodFoundation
package import HeartwoodModel

/// Checks that the values of a group of rows are valid: both after reading, before they are used, and before writing.
/// So no file is ever written that would be refused.
package struct ColumnMeaning: Sendable {
  private let entity: EntityDescription
  /// Indexed by property ordinal.
  private let rules: [ColumnRule]

  package init(of entity: EntityDescription, in model: ManagedObjectModel) {
    self.entity = entity
    rules = ColumnRule.rules(for: entity, of: model)
  }

  /// Returns the fault in a group of the entity's rows, or nil. O(bytes).
  package func fault(in group: RowGroup) -> ColumnFault? {
    if let fault = Self.fault(in: group.references) { return fault }
    if let fault = Self.fault(in: group.versions, rowCount: group.rowCount) { return fault }
    for ordinal in entity.properties.indices {
      if let fault = fault(in: group.columns[ordinal], ordinal: ordinal) {
        return fault.of(property: entity.properties[ordinal].name)
      }
    }
    return nil
  }

  /// Returns the fault in the values of the property with `ordinal`, or nil. O(bytes of the column).
  package func fault(in column: RecordColumn, ordinal: Int) -> ColumnFault? {
    if let fault = ColumnShape.fault(in: column) { return fault }
    if let what = ColumnCheck.fault(in: column) { return ColumnFault(what, in: column.firstPart) }
    // A property that no store keeps has a type and no values.
    if column.kind == .absent { return nil }
    switch rules[ordinal] {
    case .anyBytes: return nil
    case .text: return TextMeaning.fault(in: column.values, offsets: column.offsets)
    case .uri: return TextMeaning.fault(in: column.values, offsets: column.offsets) ?? uriFault(column)
    case .decimal: return decimalFault(column)
    case .references(let allowed):
      guard let references = column.references else { return nil }
      return ReferenceMeaning(references, validity: column.validity, allowedEntities: allowed).fault()
    }
  }

  /// Returns the fault in the references of records, or nil. O(bytes).
  package static func fault(in references: ReferenceColumn) -> ColumnFault? {
    if let fault = ColumnShape.fault(in: references) { return fault }
    if let what = ColumnCheck.fault(in: references) { return ColumnFault(what, in: references.values) }
    return ReferenceMeaning(references, validity: nil, allowedEntities: nil).fault()
  }

  /// Returns the fault in the versions of rows, or nil. O(rows).
  package static func fault(in versions: VersionColumn, rowCount: Int) -> ColumnFault? {
    guard case .each(let bytes) = versions else { return nil }
    guard bytes.count == rowCount * 8 else { return ColumnFault("there are too few versions", in: bytes) }
    // Half of the numbers are kept free, so that no version overflows when it is raised.
    let row = (0..<rowCount).first { !(1...UInt64(Int64.max)).contains(versions[$0]) }
    return row.map { ColumnFault("a version is out of range", in: bytes, at: $0 * 8) }
  }

  private func uriFault(_ column: RecordColumn) -> ColumnFault? {
    for row in 0..<column.rowCount where column.validity?[row] ?? true {
      let range = column.range(row)
      let text = String(decoding: column.values.unsafeBytes[range], as: UTF8.self)
      if URL(string: text) == nil { return ColumnFault("a text is not a URI", in: column.values, at: range.lowerBound) }
    }
    return nil
  }

  private func decimalFault(_ column: RecordColumn) -> ColumnFault? {
    for row in 0..<column.rowCount where column.validity?[row] ?? true {
      let place = row * PackedDecimal.width
      let packed = column.values.unsafeBytes.loadUnaligned(fromByteOffset: place, as: PackedDecimal.self)
      if !packed.isCanonical { return ColumnFault("bytes are not a decimal number", in: column.values, at: place) }
    }
    return nil
  }
}

extension RecordColumn {
  /// The bytes that come first in a file.
  fileprivate var firstPart: ByteSlice {
    validity?.bytes ?? offsets ?? references?.offsets ?? references?.values ?? values
  }
}

// MARK: ColumnShape

/// Checks that a column's parts have exactly the form that the format requires: no byte too many, offsets from 0 to the
/// end, unused bits zero.
package enum ColumnShape {
  /// Returns the fault, or nil. O(1). A column without a fault here has no part that is too short.
  package static func fault(in column: RecordColumn) -> ColumnFault? {
    let rows = column.rowCount
    if let validity = column.validity?.bytes, let fault = bitsFault(validity, count: rows) { return fault }
    switch column.kind {
    case .absent: return nil
    case .bits: return bitsFault(column.values, count: rows)
    case .bytes: return offsetsFault(column.offsets, count: rows, end: column.values.count, in: column.values)
    case .toOne:
      guard let references = column.references else { return ColumnFault("there are no references", in: .empty) }
      guard references.count == rows else { return ColumnFault("there are too few references", in: references.values) }
      return fault(in: references)
    case .toMany:
      guard let references = column.references else { return ColumnFault("there are no references", in: .empty) }
      return offsetsFault(column.offsets, count: rows, end: references.count, in: references.values)
        ?? fault(in: references)
    default: return lengthFault(column.values, rows * (column.kind.width ?? 0))
    }
  }

  /// Returns the fault in references, or nil. O(1).
  package static func fault(in references: ReferenceColumn) -> ColumnFault? {
    guard (0...Int(UInt32.max)).contains(references.count) else {
      return ColumnFault("no column has \(references.count) references", in: references.values)
    }
    if case .each(let ordinals) = references.entities, let fault = lengthFault(ordinals, references.count * 4) {
      return fault
    }
    switch references.layout {
    case .integer: return lengthFault(references.values, references.count * 8)
    case .uuid: return lengthFault(references.values, references.count * 16)
    case .string, .mixed:
      return offsetsFault(
        references.offsets,
        count: references.count,
        end: references.values.count,
        in: references.values
      )
    }
  }

  private static func lengthFault(_ bytes: ByteSlice, _ length: Int) -> ColumnFault? {
    bytes.count == length ? nil : ColumnFault("there are \(bytes.count) bytes instead of \(length)", in: bytes)
  }

  private static func bitsFault(_ bytes: ByteSlice, count: Int) -> ColumnFault? {
    if let fault = lengthFault(bytes, BitSlice.byteCount(count)) { return fault }
    guard count % 8 != 0, let last = bytes.unsafeBytes.last, last >> UInt8(count % 8) != 0 else { return nil }
    return ColumnFault("bits after the last row are set", in: bytes, at: bytes.count - 1)
  }

  private static func offsetsFault(_ offsets: ByteSlice?, count: Int, end: Int, in values: ByteSlice) -> ColumnFault? {
    guard let offsets else { return ColumnFault("there are no offsets", in: values) }
    if let fault = lengthFault(offsets, (count + 1) * 4) { return fault }
    let first = offsets.unsafeBytes.loadUnaligned(as: UInt32.self)
    let last = offsets.unsafeBytes.loadUnaligned(fromByteOffset: count * 4, as: UInt32.self)
    if first != 0 { return ColumnFault("the first offset is not 0", in: offsets) }
    return Int(last) == end ? nil : ColumnFault("the last offset is not the end", in: offsets, at: count * 4)
  }
}

// MARK: ReferenceMeaning

/// Checks that references whose parts fit refer to records of entities that are allowed.
package struct ReferenceMeaning {
  private let references: ReferenceColumn
  /// A bit for each reference, 0 for a placeholder; nil if there are none.
  private let validity: BitSlice?
  /// True at the ordinal of each allowed entity; nil for the references of the records themselves.
  private let allowedEntities: [Bool]?

  package init(_ references: ReferenceColumn, validity: BitSlice?, allowedEntities: [Bool]?) {
    self.references = references
    self.validity = validity
    self.allowedEntities = allowedEntities
  }

  /// Returns the fault, or nil. O(bytes).
  package func fault() -> ColumnFault? {
    entityFault() ?? nameFault()
  }

  @inline(__always)
  private func isReference(_ index: Int) -> Bool { validity?[index] ?? true }

  private func entityFault() -> ColumnFault? {
    guard let allowedEntities else { return nil }
    let what = "a reference is to an entity that is not a destination of the relationship"
    switch references.entities {
    case .same(let ordinal):
      let isAllowed = allowedEntities.indices.contains(Int(ordinal)) && allowedEntities[Int(ordinal)]
      let isUsed = (0..<references.count).contains { isReference($0) }
      return isAllowed || !isUsed ? nil : ColumnFault(what, in: references.values)
    case .each(let bytes):
      for index in 0..<references.count where isReference(index) {
        let ordinal = references.entityOrdinal(index)
        guard ordinal < allowedEntities.count, allowedEntities[ordinal] else {
          return ColumnFault(what, in: bytes, at: index * 4)
        }
      }
      return nil
    }
  }

  private func nameFault() -> ColumnFault? {
    switch references.layout {
    case .integer, .uuid: return nil
    case .string: return TextMeaning.fault(in: references.values, offsets: references.offsets)
    case .mixed:
      for index in 0..<references.count where isReference(index) {
        let bytes = references.bytes(index)
        guard isMixedName(bytes) else {
          let place = bytes.baseAddress.map { $0 - references.values.unsafeBase } ?? 0
          return ColumnFault("a reference is of an unknown kind", in: references.values, at: place)
        }
      }
      return nil
    }
  }

  private func isMixedName(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch bytes.first.flatMap(ReferenceColumn.Layout.init(rawValue:)) {
    case .integer: bytes.count == 1 + 8
    case .uuid: bytes.count == 1 + 16
    case .string: UTF8Validation.firstInvalidOffset(in: UnsafeRawBufferPointer(rebasing: bytes.dropFirst())) == nil
    case .mixed, nil: false
    }
  }
}

// MARK: TextMeaning

/// Checks that bytes are texts in UTF-8.
package enum TextMeaning {
  /// Returns the fault in texts that begin at `offsets`, or nil. O(bytes).
  package static func fault(in values: ByteSlice, offsets: ByteSlice?) -> ColumnFault? {
    let bytes = values.unsafeBytes
    if ASCIIScan.isASCII(bytes) { return nil }
    if let place = UTF8Validation.firstInvalidOffset(in: bytes) {
      return ColumnFault("a text is not UTF-8", in: values, at: place)
    }
    guard let offsets else { return nil }
    for index in 0..<(offsets.count / 4) {
      let start = Int(offsets.unsafeBytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
      if start < bytes.count, bytes[start] & 0xC0 == 0x80 {
        return ColumnFault("a text begins inside of a character", in: values, at: start)
      }
    }
    return nil
  }
}

// MARK: ColumnRule

/// The rule for the bytes in the column of a property.
package enum ColumnRule: Sendable {
  /// Any.
  case anyBytes
  /// UTF-8.
  case text
  /// UTF-8 that is a URI.
  case uri
  case decimal
  /// References to entities for whose ordinals the element is true.
  case references([Bool])
}

extension ColumnRule {
  /// Returns the rules for the properties of `entity`, indexed by ordinal.
  static func rules(for entity: EntityDescription, of model: ManagedObjectModel) -> [ColumnRule] {
    zip(entity.properties, entity.relationshipTargets).map { property, target in
      if let target { return .references(allowedEntities(model.entities[target.entityOrdinal], of: model)) }
      return property.attribute.map { ColumnRule($0.type) } ?? .anyBytes
    }
  }

  private static func allowedEntities(_ destination: EntityDescription, of model: ManagedObjectModel) -> [Bool] {
    var allowed = [Bool](repeating: false, count: model.entities.count)
    for entity in model.concreteEntities(under: destination) { allowed[entity.ordinal] = true }
    return allowed
  }

  private init(_ type: AttributeType) {
    switch type {
    case .string: self = .text
    case .uri: self = .uri
    case .decimal: self = .decimal
    default: self = .anyBytes
    }
  }
}

// MARK: ColumnFault

/// A fault in a column or in references, and its place in the bytes that hold them.
package struct ColumnFault: Sendable {
  package let what: String
  /// The offset in the region of the bytes; for a mapped file, in the file.
  package let offset: Int
  /// The property whose column it is; nil for the references of records and their versions.
  package private(set) var property: String?

  package init(_ what: String, in bytes: ByteSlice, at place: Int = 0) {
    self.what = what
    self.offset = bytes.offset + place
  }

  func of(property: String) -> ColumnFault {
    var fault = self
    fault.property = property
    return fault
  }
}

extension ColumnFault {
  /// Returns the error for a file that was damaged since it was written.
  package func corrupt(in path: String?, storeType: StoreType, entity: String) -> PersistenceError {
    PersistenceError(
      .fileCorrupt,
      "The file was cut short or altered: \(what).",
      recovery: .restoreCopy,
      context: .init(path: path, byteOffset: offset, storeType: storeType, entity: entity, property: property)
    )
  }

  /// Returns the error for records that could not be read back once they were written.
  package func unsupported(by storeType: StoreType, path: String?, entity: String) -> PersistenceError {
    PersistenceError(
      .valueUnsupported,
      "The store cannot keep a value: \(what). Nothing was written.",
      context: .init(path: path, storeType: storeType, entity: entity, property: property)
    )
  }
}
