import SwiftSyntax
import SwiftSyntaxBuilder

/// What the macros write for a property.
protocol PersistedProperty {
  var variable: PersistedVariable { get }
  /// The type of the key.
  var keyType: String { get }
  /// The description of the property, as an expression.
  var description: String { get }
  /// What reads the property by the key of this name.
  func getter(key: String) -> String
  /// What sets it; nil where it cannot be set.
  func setter(key: String) -> String?
}

extension PersistedProperty {
  /// The declaration of the key.
  var keyDeclaration: DeclSyntax {
    """
    /// The name and type of the property `\(raw: variable.bareIdentifier)`.
    \(raw: variable.keyAccess)static let \(raw: variable.keyName) = \(raw: keyType)(\(raw: variable.nameLiteral))
    """
  }

  /// The accessors, in the class called `className`.
  func accessors(in className: String) -> [AccessorDeclSyntax] {
    let key = "\(className).\(variable.keyName)"
    let get: AccessorDeclSyntax = "get { \(raw: getter(key: key)) }"
    guard let setter = setter(key: key) else { return [get] }
    return [get, "set { \(raw: setter) }"]
  }
}

extension PersistedVariable {
  /// Adds the arguments that attributes and relationships have in common.
  func addCommonArguments(to call: inout CallText) {
    for label in ["renamedFrom", "versionHashModifier", "userInfo"] { call.add(label, arguments.text(label)) }
  }
}
