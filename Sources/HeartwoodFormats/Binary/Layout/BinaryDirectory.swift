import HeartwoodModel
import HeartwoodStore

/// The contents of a file and their places: its sections in order, and the tables that consist of them.
struct BinaryDirectory: Sendable {
  /// The metadata, the model, the parts of each table's groups, and then the pages of the history.
  var sections: [BinarySection]
  /// A table for each entity of the model, in the model's order: references identify entities by their place here.
  var tables: [Table]
  /// Nil if the store keeps none.
  var history: History?
}

extension BinaryDirectory {
  /// The records of one entity.
  struct Table: Sendable {
    var entityName: String
    var columns: [Column]
    var groups: [Group]
  }

  /// A property whose values the table keeps.
  struct Column: Sendable, Equatable {
    var name: String
    var type: BinaryPropertyType
  }

  /// A group of 1 to 65,536 rows.
  struct Group: Sendable {
    var rowCount: Int
    var referenceLayout: ReferenceColumn.Layout
    var hasVersions: Bool
    /// One for each column of the table.
    var columns: [GroupColumn]
    /// The place of the group's first section in ``BinaryDirectory/sections``.
    var firstSection = 0
  }

  /// The saves of the store, in pages.
  struct History: Sendable {
    /// The number of the last transaction that was purged.
    var purgedNumber: Int64
    /// The number of transactions in each page.
    var transactionCounts: [Int]
    /// The place of the first page in ``BinaryDirectory/sections``.
    var firstSection = 0
  }

  /// The values of one property in a group.
  struct GroupColumn: Sendable {
    var hasValidity = false
    /// Whether each reference contains the entity of its record.
    var hasEntityIndices = false
    var referenceLayout = ReferenceColumn.Layout.integer
    /// The place of the entity that all references belong to, if they do not contain it themselves.
    var entityIndex = 0
    var referenceCount = 0
  }
}

extension BinaryDirectory.Column {
  /// Returns the columns of the table that a store writes for an entity.
  static func all(of entity: EntityDescription) -> [BinaryDirectory.Column] {
    entity.storedOrdinals.map { ordinal in
      let property = entity.properties[ordinal]
      return .init(name: property.name, type: BinaryPropertyType(property))
    }
  }
}

extension BinaryDirectory.Table {
  var rowCount: Int { groups.reduce(0) { $0 + $1.rowCount } }
}

extension BinaryDirectory.Group {
  /// The places of the sections of each part of the group.
  struct Sections {
    let references: Range<Int>
    let versions: Range<Int>
    /// The sections by column of the table.
    let columns: [Range<Int>]
  }

  /// Returns the sections of the file for each part of the group.
  func sections(_ columns: [BinaryDirectory.Column]) -> Sections {
    var next = firstSection
    func take(_ count: Int) -> Range<Int> {
      defer { next += count }
      return next..<(next + count)
    }
    return Sections(
      references: take(Self.lengths(referenceLayout, count: rowCount).count),
      versions: take(hasVersions ? 1 : 0),
      columns: zip(self.columns, columns).map { take(sectionLengths($0, $1.type.columnKind).count) }
    )
  }

  /// Returns the required length of each of the group's sections, in the order of the file; nil for one of any length.
  func sectionLengths(_ columns: [BinaryDirectory.Column]) -> [Int?] {
    var lengths = Self.lengths(referenceLayout, count: rowCount)
    if hasVersions { lengths.append(rowCount * 8) }
    for (entry, column) in zip(self.columns, columns) { lengths += sectionLengths(entry, column.type.columnKind) }
    return lengths
  }

  private func sectionLengths(_ entry: BinaryDirectory.GroupColumn, _ kind: ColumnKind) -> [Int?] {
    var lengths: [Int?] = []
    if entry.hasValidity { lengths.append(BitSlice.byteCount(rowCount)) }
    if kind == .bytes || kind == .toMany { lengths.append((rowCount + 1) * 4) }
    switch kind {
    case .bits: lengths.append(BitSlice.byteCount(rowCount))
    case .bytes: lengths.append(nil)
    case .toOne, .toMany:
      if entry.hasEntityIndices { lengths.append(entry.referenceCount * 4) }
      lengths += Self.lengths(entry.referenceLayout, count: entry.referenceCount)
    default: lengths.append(rowCount * (kind.width ?? 0))
    }
    return lengths
  }

  private static func lengths(_ layout: ReferenceColumn.Layout, count: Int) -> [Int?] {
    switch layout {
    case .integer: [count * 8]
    case .uuid: [count * 16]
    case .string, .mixed: [(count + 1) * 4, nil]
    }
  }
}

// MARK: Encoding

extension BinaryDirectory {
  /// The bits of a group's flags.
  enum GroupFlags {
    static let hasVersions: UInt8 = 1
  }

  /// The bits of a column's flags.
  enum ColumnFlags {
    static let hasValidity: UInt8 = 1
    static let hasEntityIndices: UInt8 = 2
  }

  /// The directory as it is stored in the file.
  var encoded: ByteSlice {
    let bytes = GrowableBytes(capacity: sections.count * BinarySection.encodedLength + 1024)
    bytes.append(UInt32(truncatingIfNeeded: sections.count).littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: tables.count).littleEndian)
    for section in sections { section.encode(to: bytes) }
    for table in tables { table.encode(to: bytes) }
    history?.encode(to: bytes)
    return bytes.sealed()
  }
}

extension BinaryDirectory.History {
  fileprivate func encode(to bytes: GrowableBytes) {
    bytes.append(purgedNumber.littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: transactionCounts.count).littleEndian)
    for count in transactionCounts { bytes.append(UInt32(truncatingIfNeeded: count).littleEndian) }
  }
}

extension BinaryDirectory.Table {
  fileprivate func encode(to bytes: GrowableBytes) {
    bytes.append(name: entityName)
    bytes.append(UInt64(rowCount).littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: columns.count).littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: groups.count).littleEndian)
    for column in columns {
      bytes.append(column.type.rawValue)
      bytes.append(name: column.name)
    }
    for group in groups { group.encode(to: bytes) }
  }
}

extension BinaryDirectory.Group {
  fileprivate func encode(to bytes: GrowableBytes) {
    bytes.append(UInt32(truncatingIfNeeded: rowCount).littleEndian)
    bytes.append(hasVersions ? BinaryDirectory.GroupFlags.hasVersions : 0)
    bytes.append(referenceLayout.rawValue)
    bytes.append(UInt16(0))
    for column in columns { column.encode(to: bytes) }
  }
}

extension BinaryDirectory.GroupColumn {
  func encode(to bytes: GrowableBytes) {
    var flags: UInt8 = 0
    if hasValidity { flags |= BinaryDirectory.ColumnFlags.hasValidity }
    if hasEntityIndices { flags |= BinaryDirectory.ColumnFlags.hasEntityIndices }
    bytes.append(flags)
    bytes.append(referenceLayout.rawValue)
    bytes.append(UInt16(0))
    bytes.append(UInt32(truncatingIfNeeded: entityIndex).littleEndian)
    bytes.append(UInt32(truncatingIfNeeded: referenceCount).littleEndian)
  }
}

extension GrowableBytes {
  fileprivate func append(name: String) {
    var name = name
    append(UInt32(truncatingIfNeeded: name.utf8.count).littleEndian)
    name.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }
}

// MARK: BinarySection

/// A range of bytes of a file with a checksum of its own, followed by zeros up to the next multiple of 64.
struct BinarySection: Sendable, Equatable {
  static let encodedLength = 24

  let offset: Int
  /// The length without the zeros.
  let length: Int
  let checksum: UInt64

  init(offset: Int, length: Int, checksum: UInt64) {
    self.offset = offset
    self.length = length
    self.checksum = checksum
  }

  init(_ cursor: inout BinaryCursor) throws(PersistenceError) {
    offset = try cursor.size()
    length = try cursor.size()
    checksum = try cursor.number(UInt64.self)
  }

  func encode(to bytes: GrowableBytes) {
    bytes.append(UInt64(offset).littleEndian)
    bytes.append(UInt64(length).littleEndian)
    bytes.append(checksum.littleEndian)
  }
}

extension BinarySection {
  /// The end of the zeros; only valid for a section that lies within a file.
  var end: Int { offset + length + BinaryFormat.paddingLength(length) }

  /// Returns whether the bytes and the zeros lie in `range`, which begins and ends at multiples of 64.
  func isInside(_ range: Range<Int>) -> Bool {
    offset.isMultiple(of: BinaryFormat.alignment) && range.contains(offset) && length <= range.upperBound - offset
      || offset == range.upperBound && length == 0
  }
}

// MARK: BinaryPropertyType

/// The number for the type of a property in a directory.
enum BinaryPropertyType: UInt8, Sendable {
  case integer16 = 1
  case integer32 = 2
  case integer64 = 3
  case decimal = 4
  case double = 5
  case float = 6
  case string = 7
  case boolean = 8
  case date = 9
  case binary = 10
  case uuid = 11
  case uri = 12
  case transformable = 18
  case toOne = 32
  case toMany = 33
}

extension BinaryPropertyType {
  init(_ property: PropertyDescription) {
    switch property {
    case .attribute(let attribute): self.init(attribute.type)
    case .relationship(let relationship): self = relationship.isToMany ? .toMany : .toOne
    }
  }

  private init(_ type: AttributeType) {
    switch type {
    case .integer16: self = .integer16
    case .integer32: self = .integer32
    case .integer64: self = .integer64
    case .decimal: self = .decimal
    case .double: self = .double
    case .float: self = .float
    case .string: self = .string
    case .boolean: self = .boolean
    case .date: self = .date
    case .binary: self = .binary
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .transformable, .undefined: self = .transformable
    }
  }

  /// The layout of the values.
  var columnKind: ColumnKind {
    switch self {
    case .integer16: .int16
    case .integer32: .int32
    case .integer64: .int64
    case .decimal: .decimal
    case .double, .date: .double
    case .float: .float
    case .string, .binary, .uri, .transformable: .bytes
    case .boolean: .bits
    case .uuid: .uuid
    case .toOne: .toOne
    case .toMany: .toMany
    }
  }
}
