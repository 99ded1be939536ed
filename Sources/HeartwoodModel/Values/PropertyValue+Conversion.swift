extension PropertyValue {
  /// The same value as an attribute of `type` can hold it, or nil where it cannot: numbers become other numbers, integers only where
  /// nothing is lost, and others where no more than digits are.
  package func converted(to type: AttributeType) -> PropertyValue? {
    if fits(type) { return self }
    guard let number = NumericValue(self) else { return nil }
    let value: PropertyValue
    switch type {
    case .integer16, .integer32, .integer64:
      guard let exact = number.exactInteger else { return nil }
      value = .integer(exact)
    case .boolean:
      guard let exact = number.exactInteger, exact == 0 || exact == 1 else { return nil }
      value = .boolean(exact == 1)
    case .double: value = Computation.cast(self, to: .double)
    case .float: value = Computation.cast(self, to: .float)
    case .decimal: value = Computation.cast(self, to: .decimal)
    case .string, .date, .binary, .uuid, .uri, .transformable, .undefined: return nil
    }
    return value.isNull || value.isInfinite && number.isFinite || !value.fits(type) ? nil : value
  }

  /// Whether it is a number without bound, which a finite number becomes where a type has no room for it.
  private var isInfinite: Bool {
    switch self {
    case .double(let number): number.isInfinite
    case .float(let number): number.isInfinite
    default: false
    }
  }
}
