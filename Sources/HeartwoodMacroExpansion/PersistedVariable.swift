package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The declaration of a property with one of the macros, after the checks that attributes and relationships have in
/// common.
struct PersistedVariable {
  let declaration: VariableDeclSyntax
  let macro: AttributeSyntax
  let arguments: MacroArguments
  let binding: PatternBindingSyntax
  /// The name in Swift, in backticks if it is a keyword.
  let identifier: String
  /// The type, without surrounding whitespace and comments.
  let type: TypeSyntax
  /// The type as it stands in the source.
  let writtenType: TypeSyntax

  /// - Throws: ``MacroFault`` if the macro cannot be attached to the declaration.
  init(_ declaration: some DeclSyntaxProtocol, macro: AttributeSyntax) throws(MacroFault) {
    let macroName = macro.attributeName.trimmedDescription
    guard let variable = declaration.as(VariableDeclSyntax.self) else {
      throw MacroFault("notAProperty", "@\(macroName) is for properties of a class.", at: macro)
    }
    self.declaration = variable
    self.macro = macro
    arguments = MacroArguments(macro)
    try arguments.checkOptions()
    try Self.checkSpecifiers(of: variable, macroName)
    guard let binding = variable.bindings.first, variable.bindings.count == 1,
      let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else {
      throw MacroFault("severalProperties", "@\(macroName) is for one property. Declare each by itself.", at: variable)
    }
    self.binding = binding
    identifier = pattern.identifier.text
    try Self.checkIsStored(binding, of: variable, macro: macro)
    guard let type = binding.typeAnnotation?.type else { throw Self.missingType(binding) }
    self.type = type.trimmed
    writtenType = type
    try checkName()
  }

  /// The name without backticks.
  var bareIdentifier: String { identifier.trimmingBackticks }

  /// The name of the key.
  var keyName: String { bareIdentifier + "Key" }

  /// The string literal with the name that the property has in the entity.
  var nameLiteral: String { arguments.text("name") ?? "\"\(bareIdentifier)\"" }

  var initialValue: ExprSyntax? { binding.initializer?.value }

  /// The access modifier of the key, which is that of the property.
  var keyAccess: String {
    for modifier in declaration.modifiers where modifier.detail == nil {
      switch modifier.name.text {
      case "open": return "public "
      case "public", "package", "fileprivate", "private": return modifier.name.text + " "
      default: continue
      }
    }
    return ""
  }

  /// Returns an error with a fix-it that removes the initial value.
  func faultOfInitialValue(_ id: String, _ message: String) -> MacroFault {
    var bare = binding
    bare.initializer = nil
    bare.typeAnnotation?.type.trailingTrivia = []
    return MacroFault(
      id,
      message,
      at: initialValue.map(Syntax.init) ?? Syntax(binding),
      mends: [.init("Remove the initial value", replacing: binding, by: bare)]
    )
  }
}

extension PersistedVariable {
  private static func checkSpecifiers(of variable: VariableDeclSyntax, _ macroName: String) throws(MacroFault) {
    if variable.bindingSpecifier.tokenKind != .keyword(.var) { throw faultOfConstant(variable.bindingSpecifier) }
    for modifier in variable.modifiers
    where ["static", "class", "lazy", "weak", "unowned"].contains(modifier.name.text) {
      var bare = variable
      bare.modifiers = variable.modifiers.filter { $0.id != modifier.id }
      bare.leadingTrivia = variable.leadingTrivia
      throw MacroFault(
        "modifier",
        "@\(macroName) keeps a value of each object in the graph: the property cannot be \(modifier.name.text).",
        at: modifier,
        mends: [.init("Remove '\(modifier.name.text)'", replacing: variable, by: bare)]
      )
    }
  }

  private static func faultOfConstant(_ specifier: TokenSyntax) -> MacroFault {
    let mended = TokenSyntax.keyword(
      .var,
      leadingTrivia: specifier.leadingTrivia,
      trailingTrivia: specifier.trailingTrivia
    )
    return MacroFault(
      "constant",
      "A property in the graph can change: it must be a var.",
      at: specifier,
      mends: [.init("Replace 'let' by 'var'", replacing: specifier, by: mended)]
    )
  }

  private static func checkIsStored(
    _ binding: PatternBindingSyntax,
    of variable: VariableDeclSyntax,
    macro: AttributeSyntax
  ) throws(MacroFault) {
    guard let accessors = binding.accessorBlock else { return }
    var bare = variable
    // The macro gets a copy of itself with another id, so it is found by its name.
    bare.attributes = variable.attributes.filter { $0.as(AttributeSyntax.self)?.baseName != macro.baseName }
    bare.leadingTrivia = variable.leadingTrivia
    throw MacroFault(
      "computed",
      "The macro writes the accessors, so the property cannot have its own. Override willSave() or didSave() to follow changes.",
      at: accessors,
      mends: [
        .init("Remove '@\(macro.attributeName.trimmedDescription)'", replacing: variable, by: bare)
      ]
    )
  }

  private static func missingType(_ binding: PatternBindingSyntax) -> MacroFault {
    let type = binding.initializer?.value.literalType ?? "<#Type#>"
    var typed = binding
    typed.pattern.trailingTrivia = []
    typed.typeAnnotation = TypeAnnotationSyntax(
      colon: .colonToken(trailingTrivia: .space),
      type: TypeSyntax(IdentifierTypeSyntax(name: .identifier(type))),
      trailingTrivia: binding.pattern.trailingTrivia
    )
    return MacroFault(
      "missingType",
      "A macro sees only the source text: write the property's type.",
      at: binding.pattern,
      mends: [.init("Add the type", replacing: binding, by: typed)]
    )
  }

  /// Checks that no member of every managed object has the name.
  private func checkName() throws(MacroFault) {
    guard ReservedNames.members.contains(bareIdentifier), let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else { return }
    throw MacroFault(
      "reservedName",
      "Every managed object has a member called \(bareIdentifier). Give the property another name, and say what the model calls "
        + "it: @\(macro.attributeName.trimmedDescription)(name: \"\(bareIdentifier)\").",
      at: pattern,
      mends: [
        .init(
          "Rename the property to '\(bareIdentifier)_'",
          replacing: pattern,
          by: IdentifierPatternSyntax(
            identifier: .identifier(bareIdentifier + "_", trailingTrivia: pattern.identifier.trailingTrivia)
          )
        )
      ]
    )
  }
}

extension ExprSyntax {
  /// The type that Swift infers for a literal.
  fileprivate var literalType: String? {
    switch kind {
    case .stringLiteralExpr: "String"
    case .integerLiteralExpr: "Int"
    case .floatLiteralExpr: "Double"
    case .booleanLiteralExpr: "Bool"
    default: nil
    }
  }
}

extension String {
  var trimmingBackticks: String {
    hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self
  }
}

// MARK: PersistedProperty

/// The text that the macros generate for a property.
protocol PersistedProperty {
  var variable: PersistedVariable { get }
  /// The type of the key.
  var keyType: String { get }
  /// The expression that describes the property.
  var description: String { get }
  /// Returns the expression that reads the property with the key of this name.
  func getter(key: String) -> String
  /// Returns the statement that sets the property; nil if it is read-only.
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

  /// Returns the accessors, for the class called `className`.
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

// MARK: OptionalType

/// A type as it is written, and the type that it wraps if it is optional.
struct OptionalType {
  let wrapped: TypeSyntax
  let isOptional: Bool
  private let isUnwrapped: Bool

  init(_ type: TypeSyntax) {
    if let optional = type.as(OptionalTypeSyntax.self) {
      (wrapped, isOptional, isUnwrapped) = (optional.wrappedType.trimmed, true, false)
    } else if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      (wrapped, isOptional, isUnwrapped) = (unwrapped.wrappedType.trimmed, true, true)
    } else if let argument = type.onlyArgument(of: "Optional") {
      (wrapped, isOptional, isUnwrapped) = (argument, true, false)
    } else {
      (wrapped, isOptional, isUnwrapped) = (type, false, false)
    }
  }

  /// Returns an error if the type has an exclamation mark.
  func faultOfUnwrapping(_ variable: PersistedVariable) -> MacroFault? {
    guard isUnwrapped else { return nil }
    return MacroFault(
      "implicitlyUnwrapped",
      "A value may be missing: write the type with a question mark, or without any mark.",
      at: variable.writtenType,
      mends: [variable.makingTypeOptional]
    )
  }
}

extension TypeSyntax {
  /// Returns the argument of `name<Argument>`.
  func onlyArgument(of name: String) -> TypeSyntax? {
    let generic: (name: String, arguments: GenericArgumentClauseSyntax)? =
      if let type = self.as(IdentifierTypeSyntax.self), let clause = type.genericArgumentClause {
        (type.name.text, clause)
      } else if let type = self.as(MemberTypeSyntax.self), let clause = type.genericArgumentClause {
        (type.name.text, clause)
      } else {
        nil
      }
    guard let generic, generic.name == name, generic.arguments.arguments.count == 1,
      case .type(let argument)? = generic.arguments.arguments.first?.argument
    else { return nil }
    return argument.trimmed
  }
}

extension PersistedVariable {
  /// A fix-it that adds a question mark to the type.
  var makingTypeOptional: MacroFault.Mend {
    let written = writtenType
    var optional = TypeSyntax(OptionalTypeSyntax(wrappedType: OptionalType(type).wrapped))
    optional.trailingTrivia = written.trailingTrivia
    return .init("Make the type optional", replacing: written, by: optional)
  }
}

// MARK: PropertyMacro

/// A macro that makes a property part of the graph: it adds a key, and accessors. It is attached as `@Attribute` or
/// `@Relationship`.
///
/// It is a protocol, because the compiler looks for the types of macros in the module of the plugin.
package protocol PropertyMacro: AccessorMacro, PeerMacro {}

extension PropertyMacro {
  package static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    do throws(MacroFault) {
      return [try PropertyReader.property(declaration, macro: node).keyDeclaration]
    } catch {
      context.diagnose(error.diagnostic)
      return []
    }
  }

  package static func expansion(
    of node: AttributeSyntax,
    providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    // The error has been reported where the key is generated.
    guard let property = try? PropertyReader.property(declaration, macro: node) else { return [] }
    return property.accessors(in: className(context))
  }

  private static func className(_ context: some MacroExpansionContext) -> String {
    let names = context.lexicalContext.lazy.compactMap { $0.as(ClassDeclSyntax.self)?.name.text }
    return names.first ?? "Self"
  }
}

/// Finds the properties with macros.
enum PropertyReader {
  /// Returns the property that `declaration` describes with `macro`.
  static func property(
    _ declaration: some DeclSyntaxProtocol,
    macro: AttributeSyntax
  ) throws(MacroFault) -> any PersistedProperty {
    let variable = try PersistedVariable(declaration, macro: macro)
    return macro.baseName == "Relationship" ? try RelationshipProperty(variable) : try AttributeProperty(variable)
  }

  /// Returns the properties among the members of a class. Those with errors are left out: their own macros report them.
  static func properties(among members: MemberBlockItemListSyntax) -> [any PersistedProperty] {
    members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self), let macro = macro(of: variable) else { return nil }
      return try? property(variable, macro: macro)
    }
  }

  /// Returns the macro that is attached to a variable.
  static func macro(of variable: VariableDeclSyntax) -> AttributeSyntax? {
    variable.attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }
      .first { ["Attribute", "Relationship"].contains($0.baseName) }
  }
}

extension AttributeSyntax {
  /// The name without a module.
  var baseName: String {
    attributeName.as(MemberTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
  }
}
