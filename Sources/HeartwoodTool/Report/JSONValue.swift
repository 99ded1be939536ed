import HeartwoodFormats
import HeartwoodStore

/// A JSON value whose members keep their order.
enum JSONValue {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([(name: String, value: JSONValue)])
  /// Text that is JSON already.
  case raw(String)

  static func integer(_ number: Int) -> JSONValue { .integer(Int64(number)) }

  /// A string, or null.
  static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

  /// An object whose members are sorted by name.
  static func sorted(_ members: some Sequence<(key: String, value: JSONValue)>) -> JSONValue {
    .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }

  /// The value as one line of text.
  var line: String { text + "\n" }

  var text: String {
    let output = GrowableBytes()
    append(to: output)
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  private func append(to output: GrowableBytes) {
    switch self {
    case .null: output.append(text: "null")
    case .boolean(let flag): output.append(text: flag ? "true" : "false")
    case .integer(let number): output.append(digitsOf: number)
    case .double(let number):
      if number.isFinite {
        output.append(text: number.description)
      } else {
        output.append(jsonString: number.description)
      }
    case .string(let text): output.append(jsonString: text)
    case .raw(let text): output.append(text: text)
    case .array(let values):
      Self.append(values, "[", "]", to: output) { $0.append(to: output) }
    case .object(let members):
      Self.append(members, "{", "}", to: output) { member in
        output.append(jsonString: member.name)
        output.append(ascii: ":")
        member.value.append(to: output)
      }
    }
  }

  private static func append<Item>(
    _ items: [Item],
    _ opening: Unicode.Scalar,
    _ closing: Unicode.Scalar,
    to output: GrowableBytes,
    _ body: (Item) -> Void
  ) {
    output.append(ascii: opening)
    for (index, item) in items.enumerated() {
      if index > 0 { output.append(ascii: ",") }
      body(item)
    }
    output.append(ascii: closing)
  }
}

// MARK: LabelledLines

/// Lines of a label and a text, the texts below each other.
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

/// Amounts in words.
enum Quantity {
  /// `1 record`, `6 records`.
  static func text(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  /// `0.012 s`.
  static func text(_ duration: Duration, digits: Int = 3) -> String {
    let unit = (0..<digits).reduce(1) { product, _ in product * 10 }
    let attosecondsPerUnit = 1_000_000_000_000_000_000 / Int64(unit)
    let (seconds, attoseconds) = duration.components
    let fraction = String(attoseconds / attosecondsPerUnit)
    return "\(seconds).\(String(repeating: "0", count: digits - fraction.utf8.count))\(fraction) s"
  }
}
