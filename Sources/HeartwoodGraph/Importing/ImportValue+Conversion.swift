public import HeartwoodModel

extension ImportValue {
  /// What an attribute of `type` keeps of the value; nil where it keeps nothing that is the same.
  ///
  /// Numbers become other numbers where nothing is lost but the last digits of a fraction, also from text; numbers and booleans become
  /// text. Booleans are `true`, `yes`, 1 and their opposites, in capitals or not. Dates are ISO 8601, or seconds since 1970. Data is
  /// base64.
  public func propertyValue(of type: AttributeType) -> PropertyValue? { propertyValue(of: type, .iso8601) }

  func propertyValue(of type: AttributeType, _ dates: ImportDateFormat) -> PropertyValue? {
    let value: PropertyValue?
    switch self {
    case .null, .scalar(.null): return .null
    case .array, .object, .scalar(.toOne), .scalar(.toMany): return nil
    case .number(let text): value = type == .string ? .string(text) : Self.value(ofNumber: text, type, dates)
    case .scalar(.string(let text)): value = Self.value(of: text, type, dates)
    case .scalar(let scalar): value = Self.value(of: scalar, type, dates)
    }
    return value.flatMap { $0.fits(type) ? $0 : nil }
  }

  private static func value(of scalar: PropertyValue, _ type: AttributeType, _ dates: ImportDateFormat)
    -> PropertyValue?
  {
    if scalar.fits(type) { return scalar }
    guard type == .date, case .double(let number) = scalar.converted(to: .double) else {
      return scalar.migrated(to: type)
    }
    return dates.date(number).map(PropertyValue.date)
  }

  private static func value(of text: String, _ type: AttributeType, _ dates: ImportDateFormat) -> PropertyValue? {
    switch type {
    case .string: .string(text)
    case .boolean: boolean(text).map(PropertyValue.boolean)
    case .date: dates.date(text).map(PropertyValue.date)
    case .integer16, .integer32, .integer64, .decimal, .double, .float: value(ofNumber: text, type, dates)
    case .binary, .uuid, .uri, .transformable, .undefined: PropertyValue(text: text, type: type)
    }
  }

  private static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "1": true
    case "false", "no", "0": false
    default: nil
    }
  }
}

// MARK: Numbers as text

extension ImportValue {
  private static func value(
    ofNumber text: String,
    _ type: AttributeType,
    _ dates: ImportDateFormat
  ) -> PropertyValue? {
    switch type {
    case .integer16, .integer32, .integer64, .boolean: integer(text).flatMap { $0.converted(to: type) }
    case .decimal: NumberText.decimal(text).map(PropertyValue.decimal)
    case .double, .float: PropertyValue(text: text, type: type)
    case .date: NumberText.number(text, Double.self).flatMap(dates.date).map(PropertyValue.date)
    case .string, .binary, .uuid, .uri, .transformable, .undefined: nil
    }
  }

  /// A whole number, however it is written: `7`, `7.0`, `7e3`.
  private static func integer(_ text: String) -> PropertyValue? {
    Int64(text).map(PropertyValue.integer) ?? NumberText.decimal(text).map(PropertyValue.decimal)
  }
}
