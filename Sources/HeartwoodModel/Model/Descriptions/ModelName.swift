/// The names that entities and properties may have.
enum ModelName {
  /// What is allowed, for messages.
  static let rule = "A name begins with a letter or an underscore and goes on with letters, digits and underscores."

  static func isAllowed(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
    return name.unicodeScalars.dropFirst().allSatisfy(\.properties.isXIDContinue)
  }
}
