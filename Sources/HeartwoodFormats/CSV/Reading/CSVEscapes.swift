/// Quotes in quoted fields, which are written twice.
enum CSVEscapes {
  /// Makes one quote of two, and returns how many bytes are left; quotes fill the rest, so that UTF-8 stays whole.
  static func remove(_ text: UnsafeMutableRawBufferPointer) -> Int {
    var (target, source) = (0, 0)
    while source < text.count {
      text[target] = text[source]
      source += text[source] == CSVFormat.quote ? 2 : 1
      target += 1
    }
    for index in target..<text.count { text[index] = CSVFormat.quote }
    return target
  }
}
