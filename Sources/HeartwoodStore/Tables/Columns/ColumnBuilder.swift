public import HeartwoodFoundation
public import HeartwoodModel

/// Builds a column, row by row or many rows at a time.
///
/// Each row must be appended by the call that fits the column's kind; any other call is a programming error that stops
/// the program.
///
///     let memo = row.columns[memoOrdinal]
///     if let text { memo.append(text: text) } else { memo.appendNull() }
public final class ColumnBuilder {
  /// The layout of the values.
  public let kind: ColumnKind
  // Exclusivity is checked by eye: no method calls another's code while it changes one of these.
  @exclusivity(unchecked) private var rows = 0
  @exclusivity(unchecked) private var validity: GrowableBits?
  @exclusivity(unchecked) var bits = GrowableBits()
  let offsets = GrowableBytes()
  let values = GrowableBytes()
  private let references = ReferenceColumnBuilder()
  private var unreadable: UnreadableRows?

  /// Makes a builder without rows. The columns of a ``RowGroupBuilder`` have theirs.
  public init(kind: ColumnKind) {
    self.kind = kind
  }

  /// The number of rows. Computed, since other modules check exclusivity at each access to a stored property.
  @inline(__always)
  public internal(set) var rowCount: Int {
    get { rows }
    set { rows = newValue }
  }

  /// The number of bytes that the values take, to end a group before its offsets overflow.
  var byteCount: Int { values.count + references.byteCount }

  /// Returns the values as an immutable column; this becomes empty. O(1).
  public func sealed() -> RecordColumn {
    let hasOffsets = kind == .bytes || kind == .toMany
    precondition(byteCount <= UInt32.max, "A column holds at most 4 GiB in one group; end the group when it is full.")
    if hasOffsets { offsets.append(UInt32(truncatingIfNeeded: kind == .bytes ? values.count : references.count)) }
    defer {
      rowCount = 0
      validity = nil
      unreadable = nil
    }
    return RecordColumn(
      kind: kind,
      rowCount: rowCount,
      validity: validity?.sealed(),
      offsets: hasOffsets ? offsets.sealed() : nil,
      values: kind == .bits ? bits.sealed().bytes : values.sealed(),
      references: kind == .toOne || kind == .toMany ? references.sealed() : nil,
      unreadable: unreadable
    )
  }
}

// MARK: Rows

extension ColumnBuilder {
  @inline(__always)
  private func noteValue() {
    validity?.append(true)
    rowCount &+= 1
  }

  @inline(__always)
  func expect(_ expected: ColumnKind) {
    precondition(kind == expected, "The value is of another kind than the column.")
  }

  /// Appends a row without a value; for a to-many relationship, one without objects.
  public func appendNull() {
    if kind == .absent || kind == .toMany {
      appendPlaceholder()
      return noteValue()
    }
    beginValidity()
    validity?.append(false)
    rowCount += 1
    appendPlaceholder()
  }

  /// Starts to store a bit for each row.
  private func beginValidity() {
    guard validity == nil else { return }
    var bits = GrowableBits()
    bits.append(repeating: true, count: rowCount)
    validity = bits
  }

  /// Marks which of the next `count` rows have values: all, or those whose flag is not 0.
  func appendValidity(_ flags: UnsafeBufferPointer<UInt8>?, count: Int) {
    guard let flags else {
      validity?.append(repeating: true, count: count)
      return
    }
    beginValidity()
    for flag in flags { validity?.append(flag != 0) }
  }

  private func appendPlaceholder() {
    switch kind {
    case .absent: break
    case .bits: bits.append(false)
    case .bytes: offsets.append(UInt32(truncatingIfNeeded: values.count))
    case .toOne: references.appendPlaceholder()
    case .toMany: offsets.append(UInt32(truncatingIfNeeded: references.count))
    case .int16, .int32, .int64, .float, .double, .decimal, .uuid:
      values.append(repeating: 0, count: kind.width ?? 0)
    }
  }

  /// Appends a truth value.
  @inline(__always)
  public func append(boolean: Bool) {
    expect(.bits)
    bits.append(boolean)
    noteValue()
  }

  /// Appends an integer, which must be in the range of the column's type.
  @inline(__always)
  public func append(integer: Int64) {
    switch kind {
    case .int16: values.append(Int16(truncatingIfNeeded: integer))
    case .int32: values.append(Int32(truncatingIfNeeded: integer))
    case .int64: values.append(integer)
    default: preconditionFailure("The value is of another kind than the column.")
    }
    noteValue()
  }

  /// Appends a number, or a date: the seconds since 2001-01-01 00:00 UTC.
  @inline(__always)
  public func append(double: Double) {
    expect(.double)
    values.append(double)
    noteValue()
  }

  /// Appends a number of 4 bytes.
  public func append(float: Float) {
    expect(.float)
    values.append(float)
    noteValue()
  }

  /// Appends a decimal number.
  public func append(decimal: Decimal) {
    expect(.decimal)
    values.append(PackedDecimal(decimal))
    noteValue()
  }

  @inline(__always)
  package func append(uuid: uuid_t) {
    expect(.uuid)
    values.append(uuid)
    noteValue()
  }

  @inline(__always)
  package func append(bytes: UnsafeRawBufferPointer) {
    expect(.bytes)
    offsets.append(UInt32(truncatingIfNeeded: values.count))
    values.append(bytes)
    noteValue()
  }

  /// Appends a UUID.
  public func append(uuid: UUID) {
    append(uuid: uuid.uuid)
  }

  /// Appends a text, or that of a URI.
  public func append(text: String) {
    var text = text
    text.withUTF8 { append(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// Appends binary data, or a text in UTF-8: ``UTF8Validation`` checks a text of unknown origin.
  public func append(bytes: RawSpan) {
    bytes.withUnsafeBytes { append(bytes: $0) }
  }

  /// Appends the destination of a to-one relationship.
  public func append(toOne reference: ReferenceID, of entity: EntityDescription) {
    append(toOne: reference, entityOrdinal: entity.ordinal)
  }

  /// Appends the destinations of a to-many relationship, in order.
  public func append(toMany objects: [(reference: ReferenceID, entity: EntityDescription)]) {
    append(toMany: objects.map { ($0.reference, $0.entity.ordinal) })
  }

  /// Appends a row of text or data whose value exists and cannot be read, such as large data in a file beside the store
  /// that is missing. The record can be read without it; `error` is thrown when the value is used.
  public func append(unreadable error: PersistenceError) {
    expect(.bytes)
    unreadable = unreadable ?? UnreadableRows()
    unreadable?.append(rowCount, error)
    append(bytes: UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Appends the destination of a to-one relationship.
  ///
  /// - Parameter entityOrdinal: the index of the destination's entity in ``ManagedObjectModel/entities``.
  public func append(toOne reference: ReferenceID, entityOrdinal: Int) {
    expect(.toOne)
    references.append(reference, entityOrdinal: entityOrdinal)
    noteValue()
  }

  /// Appends the destinations of a to-many relationship, in order, each with the index of its entity in
  /// ``ManagedObjectModel/entities``.
  public func append(toMany objects: [(reference: ReferenceID, entityOrdinal: Int)]) {
    expect(.toMany)
    offsets.append(UInt32(truncatingIfNeeded: references.count))
    for object in objects { references.append(object.reference, entityOrdinal: object.entityOrdinal) }
    noteValue()
  }
}

// MARK: Runs of rows

extension ColumnBuilder {
  /// Appends the rows in `rows` of a column of the same kind.
  package func append(_ rows: Range<Int>, of column: RecordColumn) {
    expect(column.kind)
    precondition(rows.lowerBound >= 0 && rows.upperBound <= column.rowCount, "The rows are not in the table.")
    appendValidity(rows, of: column)
    if let source = column.unreadable { appendUnreadable(rows, of: source) }
    switch kind {
    case .absent: break
    case .bits: bits.append(rows, of: BitSlice(column.values))
    case .bytes: appendBytes(rows, of: column)
    case .toOne, .toMany: appendReferences(rows, of: column)
    case .int16, .int32, .int64, .float, .double, .decimal, .uuid:
      let width = kind.width ?? 0
      values.append(
        UnsafeRawBufferPointer(
          rebasing: column.values.unsafeBytes[(rows.lowerBound * width)..<(rows.upperBound * width)]
        )
      )
    }
    rowCount += rows.count
  }

  private func appendValidity(_ rows: Range<Int>, of column: RecordColumn) {
    guard kind != .absent, let source = column.validity else {
      validity?.append(repeating: true, count: rows.count)
      return
    }
    beginValidity()
    validity?.append(rows, of: source)
  }

  private func appendUnreadable(_ rows: Range<Int>, of source: UnreadableRows) {
    var all = unreadable ?? UnreadableRows()
    all.append(rows, of: source, at: rowCount)
    if !all.isEmpty { unreadable = all }
  }

  private func appendBytes(_ rows: Range<Int>, of column: RecordColumn) {
    guard let source = column.offsets, let first = rows.first, let last = rows.last else { return }
    let start = column.range(first).lowerBound
    offsets.append(offsets: source, in: rows, movedBy: values.count - start)
    values.append(UnsafeRawBufferPointer(rebasing: column.values.unsafeBytes[start..<column.range(last).upperBound]))
  }

  private func appendReferences(_ rows: Range<Int>, of column: RecordColumn) {
    guard let source = column.references, let first = rows.first, let last = rows.last else { return }
    guard let sourceOffsets = column.offsets else { return appendToOneReferences(rows, of: column, source) }
    let start = column.range(first).lowerBound
    offsets.append(offsets: sourceOffsets, in: rows, movedBy: references.count - start)
    references.append(start..<column.range(last).upperBound, of: source)
  }

  private func appendToOneReferences(_ rows: Range<Int>, of column: RecordColumn, _ source: ReferenceColumn) {
    // The placeholders in rows without a destination must not determine the layout of the references.
    let nulls = rows.prefix { column.validity?[$0] == false }
    for _ in nulls { references.appendPlaceholder() }
    references.append(nulls.endIndex..<rows.upperBound, of: source)
  }
}

// MARK: Batches

/// Appends many rows in one call. Readers of whole columns use it to avoid the cost of a call for each value.
///
/// In all of these methods, `flags` has a byte for each row, 0 if the row has no value; nil means that every row has
/// one. The bytes of a row without a value are ignored.
extension ColumnBuilder {
  /// Appends `count` values of fixed width, stored in `bytes` one after another.
  package func append(fixedWidth bytes: UnsafeRawBufferPointer, count: Int, flags: UnsafeBufferPointer<UInt8>?) {
    precondition(kind.width.map { $0 * count } == bytes.count, "The values are of another width than the column's.")
    appendValidity(flags, count: count)
    values.append(bytes)
    rowCount += count
  }

  /// Appends numbers, one for each row.
  public func append<Element: ColumnElement>(_ numbers: Span<Element>) {
    numbers.withUnsafeBytes { bytes in
      expect(Element.columnKind)
      append(fixedWidth: bytes, count: numbers.count, flags: nil)
    }
  }

  /// Appends booleans, each a byte that is 1 or 0.
  package func append(booleans: UnsafeBufferPointer<UInt8>, flags: UnsafeBufferPointer<UInt8>?) {
    expect(.bits)
    appendValidity(flags, count: booleans.count)
    for boolean in booleans { bits.append(boolean != 0) }
    rowCount += booleans.count
  }

  /// Appends texts or data, each a span of `bytes`; a row without a value has an empty span.
  package func append(
    spans: UnsafeBufferPointer<ByteSpan>,
    of bytes: UnsafeRawBufferPointer,
    flags: UnsafeBufferPointer<UInt8>?
  ) {
    expect(.bytes)
    appendValidity(flags, count: spans.count)
    offsets.reserve(spans.count * 4)
    for span in spans {
      offsets.append(UInt32(truncatingIfNeeded: values.count))
      values.append(UnsafeRawBufferPointer(rebasing: bytes[Int(span.start)..<Int(span.end)]))
    }
    rowCount += spans.count
  }

  /// Appends `count` rows without a value.
  public func appendNulls(_ count: Int) {
    for _ in 0..<count { appendNull() }
  }
}
