/// Where a field lies in a window, without its quotes.
struct CSVField: BitwiseCopyable {
  private static let flag: UInt32 = 1 << 31
  /// A field begins and ends before it.
  static let greatestPlace = Int(flag) - 1

  private var rawStart: UInt32
  private var rawEnd: UInt32

  /// A field without quotes.
  @inline(__always)
  init(start: Int, end: Int) {
    rawStart = UInt32(truncatingIfNeeded: start)
    rawEnd = UInt32(truncatingIfNeeded: end)
  }

  @inline(__always)
  init(quotedStart start: Int, end: Int, hasEscapes: Bool) {
    rawStart = UInt32(truncatingIfNeeded: start) | Self.flag
    rawEnd = UInt32(truncatingIfNeeded: end) | (hasEscapes ? Self.flag : 0)
  }

  @inline(__always) var start: Int { Int(rawStart & ~Self.flag) }
  @inline(__always) var end: Int { Int(rawEnd & ~Self.flag) }
  @inline(__always) var count: Int { end &- start }
  @inline(__always) var isQuoted: Bool { rawStart & Self.flag != 0 }
  @inline(__always) var hasEscapes: Bool { rawEnd & Self.flag != 0 }
  /// Whether there is nothing, not even quotes.
  @inline(__always) var isNull: Bool { rawStart == rawEnd }
}

/// Some rows of fields that have been found in a window and are yet to be read.
///
/// An unsafe place: ``fields`` has room for ``capacity`` rows of ``columnCount`` fields, of which ``rowCount`` rows are set.
final class CSVBatch {
  static let capacity = 1 << 10

  let columnCount: Int
  let fields: UnsafeMutablePointer<CSVField>
  var rowCount = 0
  /// Whether a field holds two quotes that stand for one.
  var hasEscapes = false

  init(columnCount: Int) {
    self.columnCount = columnCount
    self.fields = .allocate(capacity: Self.capacity * columnCount)
    self.fields.initialize(repeating: CSVField(start: 0, end: 0), count: Self.capacity * columnCount)
  }

  deinit {
    fields.deallocate()
  }

  func removeAll() {
    rowCount = 0
    hasEscapes = false
  }
}
