public import HeartwoodModel

/// The values of one property in one group of rows, with the same layout in memory and in the files of the binary
/// store.
///
/// It is immutable, so groups share it, and its parts may lie in a mapped file:
///
///     let flags = RecordColumn(kind: .bits, rowCount: 3, values: ByteSlice([0b101]))
///     let numbers = RecordColumn(kind: .int32, rowCount: 2, values: file.slice(from: 64, count: 8) ?? .empty)
///
/// Numbers are little-endian. ``ColumnKind`` describes the parts.
public struct RecordColumn: Sendable {
  /// The layout of the values.
  public let kind: ColumnKind
  /// The number of rows.
  public let rowCount: Int
  /// A bit for each row, set if it has a value; nil if every row has one.
  public let validity: BitSlice?
  /// For bytes and to-many: 4 bytes for each row and one more, the offsets at which its bytes or references begin, and
  /// the end of the last one's.
  public let offsets: ByteSlice?
  /// The values, one after another; empty for relationships.
  public let values: ByteSlice
  /// The references of a relationship.
  public let references: ReferenceColumn?
  /// The rows whose values could not be read; nil if all could, as nearly always.
  package let unreadable: UnreadableRows?
  /// The rows in the order of their values, made on demand.
  package let order = ColumnOrder()

  /// Makes a column from its parts. O(1): whether the parts fit each other is checked when a group is made from it
  /// (``RowGroup/init(of:references:versions:columns:)``), and whether the values are valid, before the first is read.
  public init(
    kind: ColumnKind,
    rowCount: Int,
    validity: BitSlice? = nil,
    offsets: ByteSlice? = nil,
    values: ByteSlice = .empty,
    references: ReferenceColumn? = nil
  ) {
    self.init(
      kind: kind,
      rowCount: rowCount,
      validity: validity,
      offsets: offsets,
      values: values,
      references: references,
      unreadable: nil
    )
  }

  package init(
    kind: ColumnKind,
    rowCount: Int,
    validity: BitSlice?,
    offsets: ByteSlice?,
    values: ByteSlice,
    references: ReferenceColumn?,
    unreadable: UnreadableRows?
  ) {
    self.kind = kind
    self.rowCount = rowCount
    self.validity = validity
    self.offsets = offsets
    self.values = values
    self.references = references
    self.unreadable = unreadable
  }

  /// Returns a column for a property that no store keeps.
  public static func absent(rowCount: Int) -> RecordColumn {
    RecordColumn(kind: .absent, rowCount: rowCount)
  }

  /// Returns the same relationship with other references, as many as before.
  package func with(references: ReferenceColumn) -> RecordColumn {
    RecordColumn(
      kind: kind,
      rowCount: rowCount,
      validity: validity,
      offsets: offsets,
      values: values,
      references: references
    )
  }

  /// Returns the value of an attribute in `row`. The row, and the type that has the column's ``kind``, are those of the
  /// column, or the program stops. O(1), and O(bytes) for text and data. A value that cannot be read is returned empty.
  public func value(in row: Int, of type: AttributeType) -> PropertyValue {
    precondition(kind == .absent || kind == ColumnKind(type), "The column is of another kind than the value.")
    precondition(ColumnShape.fault(in: self) == nil, "The parts of the column do not fit each other.")
    precondition(kind != .bytes || range(row).upperBound <= values.count, "A value is past the end of the column.")
    return value(row: row, type: type, scopes: [])
  }

  /// Returns the range of the bytes or references of `row`.
  package func range(_ row: Int) -> Range<Int> {
    precondition(row >= 0 && row < rowCount, "The row is not in the table.")
    guard let offsets else { return 0..<0 }
    let start = Int(offsets.unsafeBase.loadUnaligned(fromByteOffset: row * 4, as: UInt32.self))
    let end = Int(offsets.unsafeBase.loadUnaligned(fromByteOffset: row * 4 + 4, as: UInt32.self))
    return start..<end
  }
}

// MARK: ColumnKind

/// The layout of a column's values in memory and in the binary file.
public enum ColumnKind: UInt8, Sendable, BitwiseCopyable {
  /// A property that no store keeps.
  case absent = 0
  /// One bit a row, the lowest bit first.
  case bits = 1
  /// Integers of 2 bytes.
  case int16 = 2
  /// Integers of 4 bytes.
  case int32 = 3
  /// Integers of 8 bytes.
  case int64 = 4
  /// Numbers of 4 bytes.
  case float = 5
  /// Doubles; dates too, as seconds since 2001-01-01 00:00 UTC.
  case double = 6
  /// Decimal numbers of 20 bytes: `Formats/Binary` specifies their layout.
  case decimal = 7
  /// 16 bytes in the order of the text form.
  case uuid = 8
  /// Offsets and bytes: strings and URIs as UTF-8, binary data as it is.
  case bytes = 9
  /// A reference to one record.
  case toOne = 10
  /// Offsets and references to records.
  case toMany = 11
}

extension ColumnKind {
  /// Returns the layout for the values of `property`.
  public init(_ property: PropertyDescription) {
    switch property {
    case _ where property.isTransient: self = .absent
    case .attribute(let attribute): self.init(attribute.type)
    case .relationship(let relationship): self = relationship.isToMany ? .toMany : .toOne
    }
  }

  fileprivate init(_ type: AttributeType) {
    switch type {
    case .integer16: self = .int16
    case .integer32: self = .int32
    case .integer64: self = .int64
    case .decimal: self = .decimal
    case .double, .date: self = .double
    case .float: self = .float
    case .boolean: self = .bits
    case .uuid: self = .uuid
    case .string, .uri, .binary, .transformable, .undefined: self = .bytes
    }
  }

  /// The number of bytes of a row in a column of fixed width; nil for other columns.
  public var width: Int? {
    switch self {
    case .int16: 2
    case .int32, .float: 4
    case .int64, .double: 8
    case .uuid: 16
    case .decimal: PackedDecimal.width
    case .absent, .bits, .bytes, .toOne, .toMany: nil
    }
  }
}

// MARK: VersionColumn

/// The version of each record in a group of rows: 1 when it was inserted, and one more at each update.
public enum VersionColumn: Sendable {
  /// All records have the same version.
  case same(UInt64)
  /// A version of 8 bytes for each row.
  case each(ByteSlice)
}

extension VersionColumn {
  /// The version of the record in `row`. O(1).
  public subscript(row: Int) -> UInt64 {
    switch self {
    case .same(let version): return version
    case .each(let versions):
      precondition(row >= 0 && row < versions.count / 8, "The row is not in the table.")
      return versions.unsafeBase.loadUnaligned(fromByteOffset: row * 8, as: UInt64.self)
    }
  }

  /// Appends the versions of the first `rowCount` rows to `bytes`.
  func append(rowCount: Int, to bytes: GrowableBytes) {
    switch self {
    case .same(let version): for _ in 0..<rowCount { bytes.append(version) }
    case .each(let versions): bytes.append(UnsafeRawBufferPointer(rebasing: versions.unsafeBytes[..<(rowCount * 8)]))
    }
  }

  /// Returns the versions with those of `rows`, which ascend, one higher.
  func raising(_ rows: [UInt16], rowCount: Int) -> VersionColumn {
    if rows.count == rowCount, case .same(let version) = self { return .same(Self.next(version)) }
    let raised = GrowableBytes(capacity: rowCount * 8)
    append(rowCount: rowCount, to: raised)
    for row in rows {
      raised.unsafeMutableBytes.storeBytes(of: Self.next(self[Int(row)]), toByteOffset: Int(row) * 8, as: UInt64.self)
    }
    return .each(raised.sealed())
  }

  /// Returns the version that follows another one. A file may contain the highest version that a store keeps; it is
  /// followed by the first.
  private static func next(_ version: UInt64) -> UInt64 { version < UInt64(Int64.max) ? version + 1 : 1 }

  /// Returns the versions with that of `rows` replaced.
  func setting(_ version: UInt64, in rows: [Int], rowCount: Int) -> VersionColumn {
    let versions = GrowableBytes(capacity: rowCount * 8)
    append(rowCount: rowCount, to: versions)
    for row in rows {
      versions.unsafeMutableBytes.storeBytes(of: version, toByteOffset: row * 8, as: UInt64.self)
    }
    return .each(versions.sealed())
  }
}

// MARK: UnreadableRows

/// The rows of a column whose values the store has and could not read, such as large data in a file that is missing.
///
/// The value exists, so the row is not null; the column contains an empty placeholder, which must not be taken for the
/// value.
package struct UnreadableRows: Sendable {
  /// The errors, in the order of the rows.
  private var errors: [(row: Int, error: PersistenceError)] = []

  /// Returns the error for the first row for which `isMeant` returns true.
  func first(where isMeant: (Int) -> Bool) -> PersistenceError? { errors.first { isMeant($0.row) }?.error }

  /// The reason why the value in `row` cannot be read; nil if it can. O(log n).
  package subscript(row: Int) -> PersistenceError? {
    let place = place(of: row)
    return place < errors.count && errors[place].row == row ? errors[place].error : nil
  }

  /// Returns the index of the first row that is not before `row`.
  private func place(of row: Int) -> Int {
    var (low, high) = (0, errors.count)
    while low < high {
      let middle = (low + high) / 2
      if errors[middle].row < row { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Adds a row after all that were added.
  mutating func append(_ row: Int, _ error: PersistenceError) { errors.append((row, error)) }

  /// Adds those of `rows` that are unreadable in another column, as rows from `start` on.
  mutating func append(_ rows: Range<Int>, of other: UnreadableRows, at start: Int) {
    for (row, error) in other.errors[other.place(of: rows.lowerBound)...] {
      guard row < rows.upperBound else { return }
      errors.append((start + row - rows.lowerBound, error))
    }
  }

  var isEmpty: Bool { errors.isEmpty }
}
