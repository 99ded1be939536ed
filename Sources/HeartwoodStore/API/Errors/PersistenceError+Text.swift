#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PersistenceError {
  /// The error in words, with a caller's own words for what to do and for files.
  ///
  /// A command-line tool that has options of its own, and shows paths as its user has written them:
  ///
  ///     error.text(
  ///       recovery: { $0.kind == .replaceFile ? "Choose another name, or replace it with --force." : nil },
  ///       path: { $0 == url.path ? argument : $0 }
  ///     )
  ///
  /// - Parameters:
  ///   - recovery: what to say in place of ``Recovery/text``. Nil stands for that text, and an empty string for nothing.
  ///   - path: what to call the file at a path.
  ///   - cause: the words for an underlying error that is not a persistence error. By default its description.
  public func text(
    recovery: (Recovery) -> String? = { _ in nil },
    path: (String) -> String = { $0 },
    cause: (any Error) -> String = { "\($0)" }
  ) -> String {
    let advice = self.recovery.map { recovery($0) ?? $0.text }
    var text = context.place(path) + Self.joined(problem, advice)
    let details = context.details(path)
    if !details.isEmpty { text += " (\(details.joined(separator: ", ")))" }
    text += context.list(path)
    if let underlyingError {
      let ours = underlyingError as? PersistenceError
      text += " [\(ours?.text(recovery: recovery, path: path, cause: cause) ?? cause(underlyingError))]"
    }
    return text
  }

  /// A text and what follows it: on the same line, if the text has one line only.
  static func joined(_ text: String, _ other: String?) -> String {
    guard let other, !other.isEmpty else { return text }
    return text.isEmpty ? other : text + (text.contains("\n") ? "\n" : " ") + other
  }
}

extension PersistenceError: CustomStringConvertible {
  /// One line: `path:line:column: problem recovery (entity.property, at byte 7)`. Some errors list what they found in lines of their own.
  public var description: String { text() }
}

extension PersistenceError: LocalizedError {
  /// Where it happened and what, without what to do: `path:line:column: problem`.
  public var errorDescription: String? { context.place { $0 } + problem }

  /// What happened: the ``problem``.
  public var failureReason: String? { problem }

  /// What to do: the text of the ``recovery``.
  public var recoverySuggestion: String? { recovery?.text }
}

extension PersistenceError.Context {
  /// Where in which file it happened, as compilers write it; empty if that is not known.
  fileprivate func place(_ name: (String) -> String) -> String {
    var parts = path.map { [name($0)] } ?? []
    if let line { parts.append(path == nil ? "line \(line)" : "\(line)") }
    if let column, line != nil { parts.append("\(column)") }
    return parts.isEmpty ? "" : parts.joined(separator: ":") + ": "
  }

  fileprivate func details(_ name: (String) -> String) -> [String] {
    var details: [String] = []
    switch (entity, property) {
    case (let entity?, let property?): details.append("\(entity).\(property)")
    case (let entity?, nil): details.append("entity \(entity)")
    case (nil, let property?): details.append("property \(property)")
    case (nil, nil): break
    }
    if let byteOffset { details.append("at byte \(byteOffset)") }
    if relatedPaths.count == 1 { details += relatedPaths.map { $0.text(name) } }
    return details
  }

  /// The other files, a line each, if there are several.
  fileprivate func list(_ name: (String) -> String) -> String {
    guard relatedPaths.count > 1 else { return "" }
    return relatedPaths.map { "\n  " + $0.text(name) }.joined()
  }
}

extension PersistenceError.RelatedPath {
  fileprivate func text(_ name: (String) -> String) -> String { role.isEmpty ? name(path) : "\(role) \(name(path))" }
}
