/// A number type whose values are stored in columns as they are in memory.
public protocol ColumnElement: BitwiseCopyable, Sendable {
  /// The kind of the columns that consist of such numbers.
  static var columnKind: ColumnKind { get }
}

extension Int16: ColumnElement {
  /// ``ColumnKind/int16``.
  public static var columnKind: ColumnKind { .int16 }
}

extension Int32: ColumnElement {
  /// ``ColumnKind/int32``.
  public static var columnKind: ColumnKind { .int32 }
}

extension Int64: ColumnElement {
  /// ``ColumnKind/int64``.
  public static var columnKind: ColumnKind { .int64 }
}

extension Float: ColumnElement {
  /// ``ColumnKind/float``.
  public static var columnKind: ColumnKind { .float }
}

extension Double: ColumnElement {
  /// ``ColumnKind/double``.
  public static var columnKind: ColumnKind { .double }
}

// MARK: Reading

extension RecordColumn {
  /// Creates a column of numbers, one for each row. O(n).
  ///
  /// - Parameters:
  ///   - values: the numbers, in the order of the rows.
  ///   - validity: a bit for each row, set if it has a value; nil if every row has one.
  public init<Element: ColumnElement>(_ values: [Element], validity: BitSlice? = nil) {
    self.init(
      kind: Element.columnKind,
      rowCount: values.count,
      validity: validity,
      values: values.withUnsafeBytes { ByteSlice(ByteRegion.copying($0)) }
    )
  }

  /// Calls `body` with the numbers of all rows. The numbers of rows without a value are undefined.
  ///
  ///     let sum = column.withValues(of: Int32.self) { numbers in
  ///       numbers.indices.reduce(0) { $0 + (column.hasValue(in: $1) ? Int64(numbers[$1]) : 0) }
  ///     }
  ///
  /// The numbers are not copied if their address is aligned, as it is in tables and in well-aligned files; otherwise
  /// this is O(n).
  ///
  /// - Returns: the result of `body`; nil if the column is of another kind.
  public func withValues<Element: ColumnElement, Result, Failure: Error>(
    of type: Element.Type,
    _ body: (Span<Element>) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard kind == Element.columnKind else { return nil }
    // The number of rows comes from the creator of the column, so it counts only as far as there are bytes.
    let count = min(rowCount, values.count / MemoryLayout<Element>.stride)
    guard count > 0 else { return try body(Span()) }
    defer { withExtendedLifetime(values) {} }
    let bytes = UnsafeRawBufferPointer(start: values.unsafeBase, count: count * MemoryLayout<Element>.stride)
    if Int(bitPattern: values.unsafeBase) % MemoryLayout<Element>.alignment == 0 {
      return try body(Span(_unsafeBytes: bytes))
    }
    let aligned = (0..<count).map {
      bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Element>.stride, as: Element.self)
    }
    return try body(aligned.span)
  }

  /// Returns whether `row` has a value; false if there is no such row. O(1).
  public func hasValue(in row: Int) -> Bool {
    guard kind != .absent, row >= 0, row < rowCount else { return false }
    guard let validity else { return true }
    return row &>> 3 < validity.bytes.count && validity[row]
  }
}
