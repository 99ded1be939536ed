import SwiftSyntax

/// A type as it is written, and what it is an optional of.
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

  /// The fault of a type with an exclamation mark.
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
  /// The argument of `name<Argument>`.
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
  /// Puts a question mark behind the type.
  var makingTypeOptional: MacroFault.Mend {
    let written = writtenType
    var optional = TypeSyntax(OptionalTypeSyntax(wrappedType: OptionalType(type).wrapped))
    optional.trailingTrivia = written.trailingTrivia
    return .init("Make the type optional", replacing: written, by: optional)
  }
}
