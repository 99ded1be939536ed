import HeartwoodImporting
import HeartwoodModel
import HeartwoodRecordText

/// The rules of the model for an attribute, in words for the person who fills in its field.
enum PropertyRules {
  /// The types whose fields take any text, one of several choices, or a file.
  private static let typesWithoutForm: Set<AttributeType> = [.string, .boolean, .binary, .transformable, .undefined]

  /// Returns the form of the text, and each rule that the value has to meet.
  static func texts(of attribute: AttributeDescription) -> [String] {
    let form = typesWithoutForm.contains(attribute.type) ? [] : [attribute.type.textForm]
    return form + bounds(attribute) + length(attribute.rules) + conditions(attribute.rules)
  }

  private static func bounds(_ attribute: AttributeDescription) -> [String] {
    let (least, greatest) = (attribute.rules.minValue, attribute.rules.maxValue)
    let isDate = attribute.type == .date
    return [
      text(of: least, attribute).map { "\(isDate ? "not before" : "at least") \($0)" },
      text(of: greatest, attribute).map { "\(isDate ? "not after" : "at most") \($0)" },
    ].compactMap(\.self)
  }

  private static func text(of bound: PropertyValue, _ attribute: AttributeDescription) -> String? {
    if case .date(let date) = bound { return RecordDate.text(of: date) }
    return bound.text(of: attribute.type)
  }

  private static func length(_ rules: AttributeRules) -> [String] {
    switch (rules.minLength, rules.maxLength) {
    case (let least?, let most?): ["\(least) to \(most) characters"]
    case (let least?, nil): ["at least \(least) characters"]
    case (nil, let most?): ["at most \(most) characters"]
    case (nil, nil): []
    }
  }

  private static func conditions(_ rules: AttributeRules) -> [String] {
    let pattern = rules.pattern.map { ["matches \($0)"] } ?? []
    return pattern + rules.predicates.map { "\($0.predicate)" }
  }
}

// MARK: FieldText

/// The text of a field as a value of its attribute.
enum FieldText {
  /// Returns the value for a text; nil stands for no value.
  ///
  /// - Throws: `BrowserError.malformed` if the text stands for no value of the type, or a page cannot set the
  ///   attribute.
  static func value(_ text: String?, of attribute: AttributeDescription) throws -> PropertyValue {
    guard attribute.derivationExpression == nil else {
      throw BrowserError.malformed("\(attribute.name) is derived: each save computes it from other properties.")
    }
    guard !attribute.isTransient else {
      throw BrowserError.malformed("\(attribute.name) is transient: no store keeps it.")
    }
    guard let text else { return .null }
    guard let value = ImportValue.scalar(.string(text)).propertyValue(of: attribute.type) else {
      throw BrowserError.malformed(
        "\(attribute.name) is of type \(attribute.type.rawValue), and the text stands for no such value. "
          + "Write \(attribute.type.textForm)."
      )
    }
    return value
  }
}
