package import Foundation
import SwiftParser
import SwiftSyntax

/// The public types of modules whose names Foundation has taken since: a source that imports both must say which one
/// it means.
package struct OwnNames {
  /// The types of Foundation whose names libraries had before.
  private static let foundation: Set<String> = [
    "AttributedString", "Expression", "Predicate", "PredicateError", "PredicateExpression", "PredicateExpressions",
    "SortDescriptor", "SortOrder",
  ]

  private var modules: [String: Set<String>] = [:]

  /// Creates an empty list.
  package init() {}

  /// Notes the types that a source of a module declares. O(length) if it has one of the names; else a search for them.
  package mutating func note(_ source: String, ofModule module: String) {
    guard Self.foundation.contains(where: source.contains) else { return }
    for statement in Parser.parse(source: source).statements {
      guard let declaration = statement.item.asProtocol((any NamedDeclSyntax).self),
        let modifiers = statement.item.asProtocol((any WithModifiersSyntax).self)?.modifiers,
        modifiers.contains(where: { ["public", "open"].contains($0.name.text) }),
        Self.foundation.contains(declaration.name.text)
      else { continue }
      modules[declaration.name.text, default: []].insert(module)
    }
  }

  /// Returns the module whose type a source means that imports some modules; nil if it can only mean Foundation's, or
  /// several have such a type.
  package func module(of name: String, imported: Set<String>) -> String? {
    guard let candidates = modules[name]?.intersection(imported), candidates.count == 1 else { return nil }
    return candidates.first
  }

  /// Returns the module that a source of a package belongs to, by the usual folders: `Sources/Module/File.swift`, or
  /// `Module/File.swift`.
  package static func module(of source: URL, in package: URL) -> String? {
    let folders = source.pathComponents.dropFirst(package.pathComponents.count).dropLast()
    guard let first = folders.first, first != "Tests" else { return nil }
    return ["Sources", "Source", "src", "srcs"].contains(first) ? folders.dropFirst().first : first
  }
}
