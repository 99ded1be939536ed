/// A text with places that are filled in, in a small part of the Mustache language.
///
/// `{{name}}` is replaced by a text; what stands between `{{#name}}` and `{{/name}}` is written once for each item of a list, or where a
/// flag is set or a text is not empty, and between `{{^name}}` and `{{/name}}` where it is not so. Names that an item does not have are
/// looked up around it. A tag of a section that has a line to itself leaves no empty line. Nothing is escaped.
public struct Template: Sendable {
  indirect enum Node: Sendable {
    case text(String)
    case value(String, line: Int)
    case section(String, isInverted: Bool, [Node], line: Int)
  }

  let nodes: [Node]
  private let name: String?

  /// Reads a template.
  ///
  /// - Parameter name: what errors call it, such as its path.
  /// - Throws: ``TemplateError`` with the line of a tag that is not closed, or that closes another.
  public init(_ text: String, named name: String? = nil) throws(TemplateError) {
    self.name = name
    var parser = TemplateParser(text)
    do {
      nodes = try parser.parse()
    } catch {
      throw error.of(name)
    }
  }

  /// The text with everything filled in.
  ///
  /// - Throws: ``TemplateError`` where a name is not known.
  public func render(_ values: [String: TemplateValue]) throws(TemplateError) -> String {
    var text = ""
    do {
      try Self.render(nodes, [values], into: &text)
    } catch {
      throw error.of(name)
    }
    return text
  }

  private static func render(
    _ nodes: [Node],
    _ scopes: [[String: TemplateValue]],
    into text: inout String
  ) throws(TemplateError) {
    for node in nodes {
      switch node {
      case .text(let part): text += part
      case .value(let name, let line):
        guard case .text(let value) = try find(name, scopes, line) else {
          throw TemplateError(line: line, message: "“\(name)” is no text. Use it as a section.")
        }
        text += value
      case .section(let name, let isInverted, let inner, let line):
        let value = try find(name, scopes, line)
        if isInverted {
          if value.isEmpty { try render(inner, scopes, into: &text) }
        } else {
          for scope in value.scopes { try render(inner, scopes + [scope], into: &text) }
        }
      }
    }
  }

  private static func find(
    _ name: String,
    _ scopes: [[String: TemplateValue]],
    _ line: Int
  ) throws(TemplateError) -> TemplateValue {
    for scope in scopes.reversed() {
      if let value = scope[name] { return value }
    }
    let known = Set(scopes.flatMap(\.keys)).sorted().joined(separator: ", ")
    throw TemplateError(line: line, message: "“\(name)” is not known here. There are: \(known).")
  }
}

/// What a template is filled with.
public enum TemplateValue: Sendable, Hashable {
  /// A text; a section of it is written once, unless it is empty.
  case text(String)
  /// Whether a section is written.
  case flag(Bool)
  /// Items by name, for each of which a section is written.
  case list([[String: TemplateValue]])

  /// Whether a section of it is left out.
  var isEmpty: Bool { scopes.isEmpty }

  /// What is known in each repetition of a section, beside what is known around it.
  var scopes: [[String: TemplateValue]] {
    switch self {
    case .text(let text): text.isEmpty ? [] : [[:]]
    case .flag(let flag): flag ? [[:]] : []
    case .list(let items): items
    }
  }
}

/// What is wrong with a template.
public struct TemplateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What the template was called when it was read, such as its path.
  public var template: String?
  /// The line, from 1.
  public let line: Int
  /// What is wrong, and what to do.
  public let message: String

  /// Where it is, and the message.
  public var description: String {
    template.map { "\($0):\(line): \(message)" } ?? "line \(line) of the template: \(message)"
  }

  /// The same in the template called `name`.
  func of(_ name: String?) -> TemplateError {
    var error = self
    error.template = name
    return error
  }
}
