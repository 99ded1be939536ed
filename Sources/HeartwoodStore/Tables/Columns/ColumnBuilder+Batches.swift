/// Many rows in one call: what a reader of columns uses, so that the cost of a call is not paid for each value.
///
/// In all of them `flags` has a byte for each row, 0 where the row has no value; nil means that every row has one. What stands
/// where there is no value does not matter.
extension ColumnBuilder {
  /// Appends `count` values of fixed width, which lie in `bytes` one after another.
  package func append(fixedWidth bytes: UnsafeRawBufferPointer, count: Int, flags: UnsafeBufferPointer<UInt8>?) {
    precondition(kind.width.map { $0 * count } == bytes.count, "The values are of another width than the column's.")
    appendValidity(flags, count: count)
    values.append(bytes)
    rowCount += count
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
  package func appendNulls(_ count: Int) {
    for _ in 0..<count { appendNull() }
  }
}
