import HeartwoodModel

extension AttributeType {
  /// The attributes by which model files give defaults and rules, whatever the type.
  static let dataModelValues = allCases.reduce(into: ["defaultValueString", "defaultDateTimeInterval"] as Set) {
    $0.formUnion($1.dataModelRules)
  }

  /// The attributes by which model files give rules for values of the type. Of a date, the texts are for people.
  var dataModelRules: Set<String> {
    switch self {
    case .date: ["minDateTimeInterval", "maxDateTimeInterval", "minValueString", "maxValueString"]
    case .string: ["minValueString", "maxValueString", "regularExpressionString"]
    default: hasRange ? ["minValueString", "maxValueString"] : []
    }
  }
}

extension DataModelReader {
  /// The rules that an attribute's element gives. What does not suit the type is no rule: it is left over from another type. What is
  /// meant as a rule and is none is noted, since nothing is checked by it.
  mutating func rules(of element: DataModelElement, _ type: AttributeType) -> AttributeRules {
    var rules = AttributeRules()
    switch type {
    case .string:
      rules.minLength = length("minValueString", of: element)
      rules.maxLength = length("maxValueString", of: element)
      rules.pattern = pattern(of: element)
    case .date:
      rules.minValue = boundingDate("min", of: element)
      rules.maxValue = boundingDate("max", of: element)
    case _ where type.hasRange:
      rules.minValue = bound("minValueString", of: element, type)
      rules.maxValue = bound("maxValueString", of: element, type)
    default: break
    }
    return rules
  }

  private mutating func noteRule(_ name: String, of element: DataModelElement, _ reason: String) {
    note("“\(name)” of “\(element.text("name") ?? "")” \(reason): values are not held to it.", element)
  }

  private mutating func pattern(of element: DataModelElement) -> String? {
    let name = "regularExpressionString"
    guard let pattern = element.filledText(name) else { return nil }
    do throws(TextPattern.Fault) {
      _ = try TextPattern(pattern)
      return pattern
    } catch {
      noteRule(name, of: element, "cannot be used (\(error.message))")
      return nil
    }
  }

  /// Strings have their lengths where numbers have their values.
  private mutating func length(_ name: String, of element: DataModelElement) -> Int? {
    guard let text = element.filledText(name) else { return nil }
    if case .integer(let number)? = Self.number(text, .integer64), number >= 0, let length = Int(exactly: number) {
      return length
    }
    noteRule(name, of: element, "is no length")
    return nil
  }

  private mutating func bound(_ name: String, of element: DataModelElement, _ type: AttributeType) -> PropertyValue {
    guard let text = element.filledText(name) else { return .null }
    if let value = Self.number(text, type), !value.isNaN { return value }
    noteRule(name, of: element, "is no value of the type \(type.dataModelName)")
    return .null
  }

  private mutating func boundingDate(_ end: String, of element: DataModelElement) -> PropertyValue {
    let name = end + "DateTimeInterval"
    guard let text = element.filledText(name) else {
      if element.filledText(end + "ValueString") != nil {
        noteRule("\(end)ValueString", of: element, "gives a date only as a text for people")
      }
      return .null
    }
    if let value = PropertyValue(text: text, type: .date), !value.isNaN { return value }
    noteRule(name, of: element, "is no number of seconds")
    return .null
  }
}
