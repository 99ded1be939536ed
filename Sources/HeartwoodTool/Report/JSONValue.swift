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
