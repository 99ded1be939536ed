import HeartwoodRecordText
import HeartwoodStore

/// Formats lines of a label and a text, with the texts aligned.
enum LabelledLines {
  static func text(_ lines: [(label: String, text: String)]) -> String {
    var columns = TextColumns([.init(title: ""), .init(title: "")])
    columns.widen(to: lines.map { [$0.label, $0.text] })
    let output = GrowableBytes()
    for line in lines { columns.append([line.label, line.text], to: output) }
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }
}

// MARK: Quantity

/// Formats quantities.
enum Quantity {
  /// Returns `1 record` or `6 records`.
  static func text(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  /// Returns `0.012 s`.
  static func text(_ duration: Duration, digits: Int = 3) -> String {
    let unit = (0..<digits).reduce(1) { product, _ in product * 10 }
    let attosecondsPerUnit = 1_000_000_000_000_000_000 / Int64(unit)
    let (seconds, attoseconds) = duration.components
    let fraction = String(attoseconds / attosecondsPerUnit)
    return "\(seconds).\(String(repeating: "0", count: digits - fraction.utf8.count))\(fraction) s"
  }
}
