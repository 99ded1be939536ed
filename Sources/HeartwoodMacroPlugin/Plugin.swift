import HeartwoodMacroExpansion
import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The executable that the compiler runs to expand the macros.
@main struct Plugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [EntityMacro.self, AttributeMacro.self, RelationshipMacro.self]
}

/// `@Entity`.
enum EntityMacro: EntityClassMacro {}

/// `@Attribute`.
enum AttributeMacro: PropertyMacro {}

/// `@Relationship`.
enum RelationshipMacro: PropertyMacro {}
