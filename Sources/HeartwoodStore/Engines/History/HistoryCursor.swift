/// Reads a page of a history, whose bytes may be anything, and never past its end.
struct HistoryCursor: Sendable {
  let content: ByteSlice
  private(set) var position: Int
  private let end: Int

  init(_ content: ByteSlice) {
    self.init(content, in: 0..<content.count)
  }

  /// - Parameter range: of the bytes of `content`.
  init(_ content: ByteSlice, in range: Range<Int>) {
    self.content = content
    self.position = range.lowerBound
    self.end = range.upperBound
  }

  var remainingCount: Int { end - position }

  func expectEnd(_ what: String) throws(HistoryFault) {
    if remainingCount > 0 { throw HistoryFault(what, at: position) }
  }

  mutating func skip(_ count: Int) throws(HistoryFault) -> Range<Int> {
    guard count >= 0, count <= remainingCount else {
      throw HistoryFault("the history ends inside of a transaction", at: position)
    }
    defer { position += count }
    return position..<(position + count)
  }

  mutating func number<Number: BitwiseCopyable>(_ type: Number.Type) throws(HistoryFault) -> Number {
    let place = try skip(MemoryLayout<Number>.size).lowerBound
    return content.unsafeBytes.loadUnaligned(fromByteOffset: place, as: Number.self)
  }

  /// A length of 8 bytes, and a cursor over so many bytes, which this one skips.
  mutating func part() throws(HistoryFault) -> HistoryCursor {
    let place = position
    guard let length = Int(exactly: try number(UInt64.self)), length <= remainingCount else {
      throw HistoryFault("a part of the history is longer than what it is part of", at: place)
    }
    return HistoryCursor(content, in: try skip(length))
  }

  /// A length of 4 bytes and as many bytes.
  mutating func bytes() throws(HistoryFault) -> UnsafeRawBufferPointer {
    let length = Int(try number(UInt32.self))
    return UnsafeRawBufferPointer(rebasing: content.unsafeBytes[try skip(length)])
  }

  /// A length of 4 bytes and as many bytes of UTF-8.
  mutating func text() throws(HistoryFault) -> String {
    let place = position
    guard let text = String(validating: try bytes(), as: UTF8.self) else {
      throw HistoryFault("a text of the history is not UTF-8", at: place)
    }
    return text
  }

  /// A text, or nil for one without a character.
  mutating func optionalText() throws(HistoryFault) -> String? {
    let text = try text()
    return text.isEmpty ? nil : text
  }

  /// A text that has a character.
  mutating func name() throws(HistoryFault) -> String {
    let place = position
    if let name = try optionalText() { return name }
    throw HistoryFault("a name in the history is empty", at: place)
  }
}
