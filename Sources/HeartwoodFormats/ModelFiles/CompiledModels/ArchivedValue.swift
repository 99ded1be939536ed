import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Default values and bounds of attributes as archives hold them.
enum ArchivedValue {
  /// The value as a model's source writes it; nil where the source has no way to write it.
  static func text(_ node: ArchiveNode, _ type: AttributeType) -> String? {
    switch type {
    case .boolean: node.integer.map { $0 == 0 ? "NO" : "YES" }
    case .integer16, .integer32, .integer64: node.integer.map(String.init)
    case .double, .float, .decimal: number(node)
    case .string: node.string
    case .date: seconds(node).map { "\($0)" }
    case .uuid: uuid(node)?.uuidString
    case .uri: node["NS.relative"]?.string ?? node.string
    case .binary, .transformable, .undefined: nil
    }
  }

  /// The value as part of a predicate; nil where it is of another kind than predicates have.
  static func value(_ node: ArchiveNode) -> PropertyValue? {
    switch node.value {
    case .boolean(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .real(let number): return .double(number)
    case .date(let date): return .date(date)
    case .data(let data): return .binary(data)
    default: break
    }
    if let text = node.string { return .string(text) }
    if let seconds = seconds(node) { return .date(Date(timeIntervalSinceReferenceDate: seconds)) }
    if let uuid = uuid(node) { return .uuid(uuid) }
    if let url = url(node) { return .uri(url) }
    return decimalText(node).flatMap { Decimal(string: $0) }.map(PropertyValue.decimal)
  }

  private static func number(_ node: ArchiveNode) -> String? {
    switch node.value {
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .boolean(let flag): flag ? "1" : "0"
    case .string(let text): text
    default: decimalText(node)
    }
  }

  private static func seconds(_ node: ArchiveNode) -> Double? {
    switch (node.value, node["NS.time"]?.value) {
    case (.date(let date), _): date.timeIntervalSinceReferenceDate
    case (_, .real(let seconds)): seconds
    case (_, .integer(let seconds)): Double(seconds)
    default: nil
    }
  }

  private static func url(_ node: ArchiveNode) -> URL? {
    guard node["NS.base"] == nil else { return nil }
    return node["NS.relative"]?.string.flatMap { URL(string: $0) }
  }

  private static func uuid(_ node: ArchiveNode) -> UUID? {
    guard case .data(let data)? = node["NS.uuidbytes"]?.value, data.count == 16 else { return nil }
    let hex = data.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
      String(hex.dropFirst(range.lowerBound).prefix(range.count))
    }
    return UUID(uuidString: parts.joined(separator: "-"))
  }

  /// A decimal number: its digits as units of 16 bits, least first, and the power of ten by which they count.
  private static func decimalText(_ node: ArchiveNode) -> String? {
    guard case .data(let mantissa)? = node["NS.mantissa"]?.value, let exponent = node["NS.exponent"]?.integer,
      (-128...127).contains(exponent), mantissa.count.isMultiple(of: 2), mantissa.count <= 16
    else { return nil }
    let isLittleEndian = node["NS.mantissa.bo"]?.integer != 2
    let bytes = [UInt8](mantissa)
    let length = min(node["NS.length"]?.integer ?? bytes.count / 2, bytes.count / 2)
    var number = Decimal(0)
    for unit in (0..<max(0, length)).reversed() {
      let (first, second) = (UInt16(bytes[unit * 2]), UInt16(bytes[unit * 2 + 1]))
      number = number * 65_536 + Decimal(isLittleEndian ? second << 8 | first : first << 8 | second)
    }
    let sign = node["NS.negative"]?.isTrue == true ? "-" : ""
    return "\(sign)\(number)e\(exponent)"
  }
}
