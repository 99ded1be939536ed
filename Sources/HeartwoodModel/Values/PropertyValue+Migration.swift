#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension AttributeType {
  /// Whether values of the type may become values of `type` by themselves. Some may not: a number may be too large, a text no number.
  ///
  /// Numbers and booleans become each other, everything but data becomes text and text becomes everything but data; data and what
  /// transformers make are the same bytes. Dates become no numbers: which number is meant is for a mapping model to say.
  public func converts(to type: AttributeType) -> Bool {
    if self == type || (isNumeric && type.isNumeric) { return true }
    if self == .undefined || type == .undefined { return false }
    switch (self, type) {
    case (.binary, .transformable), (.transformable, .binary): return true
    case (.string, .binary), (.string, .transformable), (.binary, .string), (.transformable, .string): return false
    case (.string, .date), (.date, .string): return false
    case (.string, _), (_, .string): return true
    default: return false
    }
  }

  private var isNumeric: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: true
    default: false
    }
  }
}

extension PropertyValue {
  /// The same value as one of another type, as ``AttributeType/converts(to:)`` says; nil where this value has no such form.
  package func migrated(to type: AttributeType) -> PropertyValue? {
    if isNull || fits(type) { return self }
    switch self {
    case .string(let text): return PropertyValue(text: text, type: type)
    case .binary: return nil
    default: break
    }
    guard type == .string else { return converted(to: type) }
    let text = Computation.cast(self, to: .string)
    return text.isNull ? nil : text
  }
}
