/// Orders strings as people do, whatever their language: by letters, then by marks, then by case, and digits by the number that
/// they make.
package enum TextOrder {
  /// A negative number where `left` comes first, 0 where both are the same, a positive number where `right` comes first.
  package static func compare(_ left: String, _ right: String) -> Int {
    let byLetters = compareWithNumbers(key(left, .caseAndMarks), key(right, .caseAndMarks))
    if byLetters != 0 { return byLetters }
    let byMarks = compare(key(left, caseOnly), key(right, caseOnly))
    if byMarks != 0 { return byMarks }
    // Small letters come before capitals, which have lower codes.
    return compare(Array(right.utf8), Array(left.utf8))
  }

  private static let caseOnly = TextFolding(ignoresCase: true, ignoresMarks: false)

  private static func key(_ text: String, _ folding: TextFolding) -> [UInt8] { folding.folded(text) }

  /// The order of bytes, one after the other.
  static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    for (a, b) in zip(left, right) where a != b { return a < b ? -1 : 1 }
    return left.count < right.count ? -1 : left.count == right.count ? 0 : 1
  }

  private static func compareWithNumbers(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var (i, j) = (0, 0)
    while i < left.count, j < right.count {
      if isDigit(left[i]), isDigit(right[j]) {
        let (a, b) = (number(left, &i), number(right, &j))
        let order = a.count != b.count ? (a.count < b.count ? -1 : 1) : compare(Array(a), Array(b))
        if order != 0 { return order }
      } else if left[i] != right[j] {
        return left[i] < right[j] ? -1 : 1
      } else {
        i += 1
        j += 1
      }
    }
    return (left.count - i) - (right.count - j)
  }

  /// The digits from `place` on without the zeros before them; `place` goes behind them.
  private static func number(_ bytes: [UInt8], _ place: inout Int) -> ArraySlice<UInt8> {
    let start = place
    while place < bytes.count, isDigit(bytes[place]) { place += 1 }
    return bytes[start..<place].drop { $0 == UInt8(ascii: "0") }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
