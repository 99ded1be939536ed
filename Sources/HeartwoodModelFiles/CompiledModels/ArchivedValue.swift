@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodModel

/// Archived default values and bounds of attributes.
enum ArchivedValue {
  /// Returns the text of a value in a model's source; nil if the source cannot represent it.
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

  /// Returns a value for a predicate; nil if predicates have no such values.
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

  private static func decimalText(_ node: ArchiveNode) -> String? {
    guard case .data(let mantissa)? = node["NS.mantissa"]?.value, let exponent = node["NS.exponent"]?.integer else {
      return nil
    }
    return ArchivedDecimal(
      mantissa: [UInt8](mantissa),
      exponent: exponent,
      length: node["NS.length"]?.integer,
      isNegative: node["NS.negative"]?.isTrue == true,
      byteOrder: node["NS.mantissa.bo"]?.integer
    )?.text
  }
}

// MARK: Writing

extension ArchivedValue {
  /// Archives a value as ``value(_:)`` and ``text(_:_:)`` read it. The members of Foundation's objects are those that
  /// [swift-corelibs-foundation](https://github.com/swiftlang/swift-corelibs-foundation) archives.
  static func archive(
    _ value: PropertyValue,
    in archive: inout KeyedArchiveWriter
  ) throws(ArchiveGap) -> ArchiveValue {
    switch value {
    case .null: return .nothing
    case .boolean(let flag): return archive.value(.boolean(flag))
    case .integer(let number): return archive.value(.integer(number))
    case .double(let number): return archive.value(.real(number))
    case .float(let number): return archive.value(.real(Double(number)))
    case .string(let text): return archive.text(text)
    case .binary(let data): return archive.value(.data(data))
    case .date(let date): return archive.object(.date, ["NS.time": .real(date.timeIntervalSinceReferenceDate)])
    case .uuid(let uuid):
      return archive.object(.uuid, ["NS.uuidbytes": .data(withUnsafeBytes(of: uuid.uuid) { Data($0) })])
    case .uri(let url):
      return archive.object(
        .url,
        ["NS.base": ArchiveValue.nothing, "NS.relative": archive.text(url.absoluteString)]
      )
    case .decimal(let number):
      guard !number.isNaN else { throw ArchiveGap("a decimal number that is none") }
      return archive.object(.decimalNumber, ArchivedDecimal(number).members)
    case .toOne, .toMany: throw ArchiveGap("an object in a predicate")
    }
  }
}

// MARK: ArchivedRules

/// Converts between the bounds of an attribute and the validation predicates that Xcode makes of them.
enum ArchivedRules {
  /// Returns the XML attributes for the bounds in a predicate; nil if the source cannot represent it.
  static func attributes(of node: ArchiveNode, _ type: AttributeType) -> [(name: String, text: String)]? {
    ArchivedPredicate.predicate(node).flatMap { attributes(of: $0, type) }
  }

  private static func attributes(of predicate: FetchPredicate, _ type: AttributeType) -> [(name: String, text: String)]?
  {
    switch predicate {
    case .comparison(let comparison): return attribute(of: comparison, type).map { [$0] }
    case .and(let terms):
      let rules = terms.compactMap { attributes(of: $0, type) }
      return rules.count == terms.count ? rules.flatMap(\.self) : nil
    default: return nil
    }
  }

  private static func attribute(of comparison: FetchComparison, _ type: AttributeType) -> (name: String, text: String)?
  {
    guard comparison.modifier == .direct, case .constant(let bound) = comparison.right, comparison.options.isEmpty
    else {
      return nil
    }
    switch (comparison.left, comparison.comparator) {
    case (.selfObject, .matches):
      if case .string(let pattern) = bound, type == .string { return ("regularExpressionString", pattern) }
      return nil
    case (.selfObject, .greaterThanOrEqualTo) where type.hasRange: return self.bound("min", bound, type)
    case (.selfObject, .lessThanOrEqualTo) where type.hasRange: return self.bound("max", bound, type)
    case (.key("length"), .greaterThanOrEqualTo) where type == .string: return self.bound("min", bound, .integer64)
    case (.key("length"), .lessThanOrEqualTo) where type == .string: return self.bound("max", bound, .integer64)
    default: return nil
    }
  }

  private static func bound(_ end: String, _ value: PropertyValue, _ type: AttributeType) -> (
    name: String, text: String
  )? {
    switch value {
    case .date(let date) where type == .date: (end + "DateTimeInterval", "\(date.timeIntervalSinceReferenceDate)")
    case .integer(let number) where type != .date: (end + "ValueString", "\(number)")
    case .double(let number) where type != .date: (end + "ValueString", "\(number)")
    case .decimal(let number) where type != .date: (end + "ValueString", "\(number)")
    default: nil
    }
  }
}

// MARK: Writing

extension ArchivedRules {
  /// Returns the validation predicates of an attribute, bounds first.
  static func predicates(of attribute: AttributeDescription) -> [ValidationPredicate] {
    let rules = attribute.rules
    let length = FetchExpression.key("length")
    let comparisons: [FetchComparison?] = [
      bound(.selfObject, .greaterThanOrEqualTo, rules.minValue),
      bound(.selfObject, .lessThanOrEqualTo, rules.maxValue),
      rules.minLength.map { FetchComparison(length, .greaterThanOrEqualTo, .constant(.integer(Int64($0)))) },
      rules.maxLength.map { FetchComparison(length, .lessThanOrEqualTo, .constant(.integer(Int64($0)))) },
      rules.pattern.map { FetchComparison(.selfObject, .matches, .constant(.string($0))) },
    ]
    return comparisons.compactMap(\.self).map { comparison in
      let predicate = FetchPredicate.comparison(comparison)
      return ValidationPredicate(predicate, warning: "\(attribute.name) does not meet \(predicate).")
    } + rules.predicates
  }

  private static func bound(
    _ subject: FetchExpression,
    _ comparator: FetchComparison.Comparator,
    _ value: PropertyValue
  ) -> FetchComparison? {
    value.isNull ? nil : FetchComparison(subject, comparator, .constant(value))
  }
}
