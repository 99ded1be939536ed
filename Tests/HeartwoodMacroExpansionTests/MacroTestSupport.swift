import HeartwoodMacroExpansion
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

private enum EntityMacro: EntityClassMacro {}
private enum AnyPropertyMacro: PropertyMacro {}

private let macros: [String: MacroSpec] = [
  "Entity": MacroSpec(type: EntityMacro.self),
  "Attribute": MacroSpec(type: AnyPropertyMacro.self),
  "Relationship": MacroSpec(type: AnyPropertyMacro.self),
]

/// Expects that the macros in `source` make `expanded` of it.
func expectExpansion(
  _ source: String,
  _ expanded: String,
  diagnostics: [DiagnosticSpec] = [],
  fixed: String? = nil,
  location: Testing.SourceLocation = #_sourceLocation
) {
  assertMacroExpansion(
    source,
    expandedSource: expanded,
    diagnostics: diagnostics,
    macroSpecs: macros,
    applyFixIts: nil,
    fixedSource: fixed,
    indentationWidth: .spaces(2),
    failureHandler: { Issue.record("\($0.message)", sourceLocation: location) }
  )
}
