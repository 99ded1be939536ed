package import SwiftSyntax
package import SwiftSyntaxMacros

/// A macro that makes a property one of the graph: its key beside it, its accessors in it. It is `@Attribute` or `@Relationship`, as the
/// code has it.
///
/// A protocol, since the compiler looks for the types of macros in the module of the plugin.
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
    // What is wrong has been said where the key is made.
    guard let property = try? PropertyReader.property(declaration, macro: node) else { return [] }
    return property.accessors(in: className(context))
  }

  private static func className(_ context: some MacroExpansionContext) -> String {
    let names = context.lexicalContext.lazy.compactMap { $0.as(ClassDeclSyntax.self)?.name.text }
    return names.first ?? "Self"
  }
}

/// Finds what the macros say of a property.
enum PropertyReader {
  /// The property that `declaration` is by `macro`.
  static func property(
    _ declaration: some DeclSyntaxProtocol,
    macro: AttributeSyntax
  ) throws(MacroFault) -> any PersistedProperty {
    let variable = try PersistedVariable(declaration, macro: macro)
    return macro.baseName == "Relationship" ? try RelationshipProperty(variable) : try AttributeProperty(variable)
  }

  /// The properties among the members of a class, without those that have faults: these are told where they are.
  static func properties(among members: MemberBlockItemListSyntax) -> [any PersistedProperty] {
    members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self), let macro = macro(of: variable) else { return nil }
      return try? property(variable, macro: macro)
    }
  }

  /// The macro that makes a variable a property of the graph.
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
