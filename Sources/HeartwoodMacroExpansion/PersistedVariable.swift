import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The declaration of a property that a macro keeps in the graph, after the checks that are the same for all.
struct PersistedVariable {
  let declaration: VariableDeclSyntax
  let macro: AttributeSyntax
  let arguments: MacroArguments
  let binding: PatternBindingSyntax
  /// The name as Swift has it, in backticks where it needs them.
  let identifier: String
  /// The type, without what stands around it.
  let type: TypeSyntax
  /// The type in its place.
  let writtenType: TypeSyntax

  /// - Throws: ``MacroFault`` where the declaration is none that a macro can keep.
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

  /// The literal of the name that the property has in the entity.
  var nameLiteral: String { arguments.text("name") ?? "\"\(bareIdentifier)\"" }

  var initialValue: ExprSyntax? { binding.initializer?.value }

  /// What stands before the declaration of the key: who may use it is who may use the property.
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

  /// A fault whose mend leaves out the initial value.
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
      "A property in the graph can change: it is a var.",
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
    // What the macro is given of itself is a copy, with other ids.
    bare.attributes = variable.attributes.filter { $0.as(AttributeSyntax.self)?.baseName != macro.baseName }
    bare.leadingTrivia = variable.leadingTrivia
    throw MacroFault(
      "computed",
      "The macro writes the accessors, so the property has none of its own. Override willSave() or didSave() to follow changes.",
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
      "A macro sees only what is written: write the property's type.",
      at: binding.pattern,
      mends: [.init("Add the type", replacing: binding, by: typed)]
    )
  }

  /// What is called as a member of every object has to have another name in Swift.
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
  /// The type that Swift gives a literal.
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
