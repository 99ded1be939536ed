package import SwiftSyntax
package import SwiftSyntaxMacros

#if !canImport(SwiftSyntax)
  #error("HeartwoodMacros needs swift-syntax: add \"Macros\" to the traits of your dependency on Heartwood.")
#endif

/// A macro that makes a class describe its entity: `@Entity`. A protocol for the same reason as ``PropertyMacro``.
package protocol EntityClassMacro: MemberMacro {}

extension EntityClassMacro {
  package static func expansion(
    of node: AttributeSyntax,
    providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    do throws(MacroFault) {
      return try EntityClass(declaration, macro: node).members
    } catch {
      context.diagnose(error.diagnostic)
      return []
    }
  }
}
