import HeartwoodModel

/// A condition on the bytes of strings.
struct TextFilter: Sendable {
  enum Condition: Sendable {
    case contains, beginsWith, endsWith, equals
    /// The string is one of these.
    case isIn(Set<[UInt8]>)
    /// The string comes before the operand, is the same, or comes after it.
    case order(before: Bool, same: Bool, behind: Bool)
    case wildcards(WildcardPattern)
  }

  let condition: Condition
  let folding: TextFolding
  /// The text to search for, folded.
  let operand: [UInt8]
  let searcher: ByteSearcher
  /// Whether a string of ASCII can pass by its bytes alone, without being folded.
  let isOperandASCII: Bool

  init(_ condition: Condition, _ operand: [UInt8], folding: TextFolding) {
    self.condition = condition
    self.folding = folding
    self.operand = operand
    self.searcher = ByteSearcher(operand, ignoresASCIICase: folding.ignoresCase)
    self.isOperandASCII = operand.allSatisfy { $0 < 0x80 }
  }

  var cost: Double {
    switch condition {
    case .contains: folding.isNone ? 8 : 12
    case .beginsWith, .endsWith, .equals: folding.isNone ? 4 : 10
    case .isIn: 40
    case .order: folding.isNone ? 6 : 50
    case .wildcards: folding.isNone ? 40 : 80
    }
  }
}

extension TextFilter {
  /// Keeps the rows whose strings pass. Rows without a value do not.
  func apply(to rows: inout RowBitmap, _ view: ColumnView, _ scratch: inout [UInt8]) {
    if case .contains = condition, !operand.isEmpty { return sweep(&rows, view, &scratch) }
    var bytes = scratch
    rows.filter { row in
      !view.unsafeIsNull(row) && passes(view.unsafeBytes(row), &bytes)
    }
    scratch = bytes
  }

  /// Returns whether a string passes.
  private func passes(_ text: UnsafeRawBufferPointer, _ scratch: inout [UInt8]) -> Bool {
    if folding.isNone { return passes(folded: text) }
    if ASCIIScan.isASCII(text), let answer = passes(ascii: text) { return answer }
    scratch.removeAll(keepingCapacity: true)
    folding.append(text, to: &scratch)
    return scratch.withUnsafeBytes { passes(folded: $0) }
  }

  /// Returns whether a string of ASCII passes; nil if it has to be folded first.
  private func passes(ascii text: UnsafeRawBufferPointer) -> Bool? {
    // Diacritical marks are not ASCII, so that only case has to be ignored.
    switch condition {
    case .contains, .beginsWith, .endsWith, .equals:
      if !isOperandASCII { return false }
      return passes(text, searcher)
    case .isIn, .order, .wildcards: return nil
    }
  }

  private func passes(_ text: UnsafeRawBufferPointer, _ searcher: ByteSearcher) -> Bool {
    guard let base = text.baseAddress else { return operand.isEmpty }
    switch condition {
    case .contains: return searcher.unsafeFirst(in: base, from: 0, to: text.count) != nil
    case .beginsWith: return searcher.unsafeStands(at: 0, in: base, to: text.count)
    case .endsWith:
      return text.count >= operand.count
        && searcher.unsafeStands(at: text.count - operand.count, in: base, to: text.count)
    default: return text.count == operand.count && searcher.unsafeStands(at: 0, in: base, to: text.count)
    }
  }

  /// Returns whether a string passes that is folded, or is compared as it is.
  private func passes(folded text: UnsafeRawBufferPointer) -> Bool {
    switch condition {
    case .contains, .beginsWith, .endsWith, .equals: return passes(text, searcher)
    case .isIn(let strings): return strings.contains(Array(text))
    case .order(let before, let same, let behind):
      let order = ByteOrder.compare(text, operand)
      return order < 0 ? before : order == 0 ? same : behind
    case .wildcards(let pattern): return pattern.matches(folded: text)
    }
  }
}

// MARK: Searching all rows at once

extension TextFilter {
  /// If fewer than one row in this many is tested, each is searched by itself.
  private static let sparseness = 6
  /// A longer operand is searched in each row by itself: most rows are too short to contain it, and one that reaches
  /// into the next rows would be compared again from row to row.
  private static let longestSweptOperand = 64

  /// Searches for the operand in the bytes of all rows at once, and keeps the rows that contain it.
  private func sweep(_ rows: inout RowBitmap, _ view: ColumnView, _ scratch: inout [UInt8]) {
    guard rows.count * Self.sparseness >= rows.rowCount, operand.count <= Self.longestSweptOperand else {
      var bytes = scratch
      rows.filter { row in !view.unsafeIsNull(row) && passes(view.unsafeBytes(row), &bytes) }
      scratch = bytes
      return
    }
    var found = rows.cleared
    let all = view.unsafeAllBytes(rowCount: rows.rowCount)
    guard let base = all.base else { return rows.removeAll() }
    if isOperandASCII || folding.isNone {
      view.unsafeForEachRow(rows.rowCount, from: all.range) { place, end in
        searcher.unsafeFirst(in: base, from: place, to: end)
      } body: { row, place, rowEnd in
        if place + operand.count <= rowEnd { found.insert(row) }
      }
    }
    if !folding.isNone { sweepBeyondASCII(rows, view, base, all.range, &found, &scratch) }
    let result = found
    rows.filter { result.contains($0) && !view.unsafeIsNull($0) }
  }

  /// Folds the strings that are not ASCII and have not been found yet.
  private func sweepBeyondASCII(
    _ rows: RowBitmap,
    _ view: ColumnView,
    _ base: UnsafeRawPointer,
    _ range: Range<Int>,
    _ found: inout RowBitmap,
    _ scratch: inout [UInt8]
  ) {
    var (matches, bytes) = (found, scratch)
    view.unsafeForEachRow(rows.rowCount, from: range) { place, end in
      ASCIIScan.unsafeFirstBeyond(in: base, from: place, to: end)
    } body: { row, _, _ in
      if rows.contains(row), !matches.contains(row), passes(view.unsafeBytes(row), &bytes) { matches.insert(row) }
    }
    (found, scratch) = (matches, bytes)
  }
}

extension ColumnView {
  /// Returns the bytes of all rows: their address, and their range.
  func unsafeAllBytes(rowCount: Int) -> (base: UnsafeRawPointer?, range: Range<Int>) {
    guard rowCount > 0, let start = unsafeBytes(0).baseAddress, let end = unsafeBytes(rowCount - 1).baseAddress else {
      return (nil, 0..<0)
    }
    return (start, 0..<(end - start + unsafeBytes(rowCount - 1).count))
  }

  /// Calls `body` for the rows in which `find` finds something, in order, each once: with the first place.
  ///
  /// - Parameters:
  ///   - range: the bytes of all rows, counted from the beginning of the first one.
  ///   - find: returns the next place from a place on; nil if there is none.
  ///   - body: receives the row, the place, and the end of the row.
  @inline(__always)
  func unsafeForEachRow(
    _ rowCount: Int,
    from range: Range<Int>,
    find: (_ place: Int, _ end: Int) -> Int?,
    body: (_ row: Int, _ place: Int, _ rowEnd: Int) -> Void
  ) {
    guard rowCount > 0, let base = unsafeBytes(0).baseAddress else { return }
    var row = 0
    var place = range.lowerBound
    func end(_ row: Int) -> Int {
      let bytes = unsafeBytes(row)
      return (bytes.baseAddress ?? base) - base + bytes.count
    }
    while let next = find(place, range.upperBound) {
      while row < rowCount - 1, end(row) <= next { row &+= 1 }
      let rowEnd = end(row)
      body(row, next, rowEnd)
      place = rowEnd
    }
  }
}

/// Compares bytes; strings of UTF-8 have the same order.
enum ByteOrder {
  static func compare(_ left: UnsafeRawBufferPointer, _ right: [UInt8]) -> Int {
    right.withUnsafeBytes { compare(left, $0) }
  }

  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    var place = 0
    let shared = min(left.count, right.count)
    while place &+ 8 <= shared {
      let a = left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      let b = right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if a != b { return a.byteSwapped < b.byteSwapped ? -1 : 1 }
      place &+= 8
    }
    while place < shared {
      if left[place] != right[place] { return left[place] < right[place] ? -1 : 1 }
      place &+= 1
    }
    return left.count - right.count
  }
}
