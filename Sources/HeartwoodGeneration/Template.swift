/// A text with placeholders, in a small subset of the Mustache language.
///
///     let template = try Template("{{#names}}Hello, {{name}}!\n{{/names}}")
///     let text = try template.render(["names": .list([["name": .text("Ann")], ["name": .text("Bob")]])])
///
/// `{{name}}` is replaced by a text. The text between `{{#name}}` and `{{/name}}` is repeated for each item of a list,
/// or written once if a flag is true or a text is not empty. The text between `{{^name}}` and `{{/name}}` is written if
/// the list is empty, the flag is false or the text is empty. `{{!…}}` is a comment. Names that an item does not have
/// are looked up in the surrounding sections. The tag of a section that is alone on its line does not leave an empty
/// line. Nothing is escaped.
public struct Template: Sendable {
  indirect enum Node: Sendable {
    case text(String)
    case value(String, line: Int)
    case section(String, isInverted: Bool, [Node], line: Int)
  }

  let nodes: [Node]
  private let name: String?

  /// Parses a template.
  ///
  /// - Parameter name: the name of the template in errors, such as its path.
  /// - Throws: ``TemplateError``, with the line of a section that is not closed, or of a tag that closes no open
  ///   section.
  public init(_ text: String, named name: String? = nil) throws(TemplateError) {
    self.name = name
    var parser = TemplateParser(text)
    do {
      nodes = try parser.parse()
    } catch {
      throw error.of(name)
    }
  }

  /// Returns the text with all values filled in.
  ///
  /// - Throws: ``TemplateError`` if a name in the template is not among the values.
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
          throw TemplateError(line: line, message: "“\(name)” is not text. Use it as a section.")
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

/// A value for a template.
public enum TemplateValue: Sendable, Hashable {
  /// A text. A section with its name is written once, unless the text is empty.
  case text(String)
  /// Whether a section is written.
  case flag(Bool)
  /// A list of items. A section is repeated for each item, with the values of the item.
  case list([[String: TemplateValue]])

  /// Whether a section with the value is left out.
  var isEmpty: Bool { scopes.isEmpty }

  /// The values for each repetition of a section, in addition to the surrounding ones.
  var scopes: [[String: TemplateValue]] {
    switch self {
    case .text(let text): text.isEmpty ? [] : [[:]]
    case .flag(let flag): flag ? [[:]] : []
    case .list(let items): items
    }
  }
}

/// The error if a template cannot be parsed or rendered.
public struct TemplateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name that was given to the template, such as its path.
  public var template: String?
  /// The line, counted from 1.
  public let line: Int
  /// What is wrong, and what to do.
  public let message: String

  /// The position and the message.
  public var description: String {
    template.map { "\($0):\(line): \(message)" } ?? "line \(line) of the template: \(message)"
  }

  /// Returns the error with the name of the template.
  func of(_ name: String?) -> TemplateError {
    var error = self
    error.template = name
    return error
  }
}

// MARK: TemplateParser

/// Parses the tags of a template.
struct TemplateParser {
  private struct OpenSection {
    let name: String
    let isInverted: Bool
    let line: Int
    /// The nodes before the section.
    let nodes: [Template.Node]
  }

  private var rest: Substring
  private var line = 1
  private var nodes: [Template.Node] = []
  private var open: [OpenSection] = []

  init(_ text: String) {
    rest = text[...]
  }

  mutating func parse() throws(TemplateError) -> [Template.Node] {
    while let start = rest.firstRange(of: "{{") {
      var text = rest[..<start.lowerBound]
      guard let end = rest[start.upperBound...].firstRange(of: "}}") else {
        line += text.count { $0.isNewline }
        throw TemplateError(line: line, message: "“{{” has no “}}”. Add it.")
      }
      let tag = rest[start.upperBound..<end.lowerBound]
      rest = rest[end.upperBound...]
      line += text.count { $0.isNewline }
      if let mark = tag.first, "#^/".contains(mark), isAlone(after: text) {
        text = text.dropLast(while: { $0 == " " || $0 == "\t" })
        rest = rest.drop { $0 == " " || $0 == "\t" }.dropFirst()
        append(text)
        try take(tag)
        line += 1
      } else {
        append(text)
        try take(tag)
      }
    }
    append(rest)
    if let section = open.last {
      throw TemplateError(line: section.line, message: "The section “\(section.name)” is not closed.")
    }
    return nodes
  }

  /// Returns whether a tag after `text` is alone on its line.
  private func isAlone(after text: Substring) -> Bool {
    let before = text.reversed().drop { $0 == " " || $0 == "\t" }.first
    let startsLine = before?.isNewline ?? (text.startIndex == text.base.startIndex || isAtLineStart(text))
    let after = rest.drop { $0 == " " || $0 == "\t" }.first
    return startsLine && (after?.isNewline ?? true)
  }

  /// Returns whether `text` begins after the line break of a tag that was alone on its line.
  private func isAtLineStart(_ text: Substring) -> Bool {
    text.startIndex > text.base.startIndex && text.base[text.base.index(before: text.startIndex)].isNewline
  }

  private mutating func append(_ text: Substring) {
    if !text.isEmpty { nodes.append(.text(String(text))) }
  }

  private mutating func take(_ tag: Substring) throws(TemplateError) {
    let name = String(tag.dropFirst(tag.first.map { "#^/!".contains($0) } == true ? 1 : 0)).filter { !$0.isWhitespace }
    switch tag.first {
    case "!": break
    case "#", "^":
      open.append(OpenSection(name: name, isInverted: tag.first == "^", line: line, nodes: nodes))
      nodes = []
    case "/":
      guard let section = open.popLast(), section.name == name else {
        throw TemplateError(line: line, message: "“{{/\(name)}}” closes no section that is open here.")
      }
      nodes = section.nodes + [.section(name, isInverted: section.isInverted, nodes, line: section.line)]
    default: nodes.append(.value(name, line: line))
    }
  }
}

extension Substring {
  /// Returns the substring without the last characters for which `predicate` returns true.
  fileprivate func dropLast(while predicate: (Character) -> Bool) -> Substring {
    var end = endIndex
    while end > startIndex, predicate(base[base.index(before: end)]) { end = base.index(before: end) }
    return self[..<end]
  }
}

// MARK: LineBreaking

/// Breaks lines that long names have made too long, as swift-format does.
enum LineBreaking {
  private static let longestLine = 120
  private static let indentation = "  "

  /// Returns `text` with long lines broken, if there is a place to break them.
  static func applied(to text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { broken(String($0)) }.joined(separator: "\n")
  }

  private static func broken(_ line: String) -> String {
    let code = line.drop { $0 == " " }
    guard line.count > longestLine, !code.hasPrefix("//") else { return line }
    let margin = String(line.prefix(line.count - code.count))
    let inner = margin + indentation
    if code.hasPrefix("case "), let colon = code.firstRange(of: ": ") {
      return "\(margin)\(code[..<colon.lowerBound]):\n\(inner)\(code[colon.upperBound...])"
    }
    if code.hasSuffix("\""), let sign = code.firstRange(of: " = ") {
      return "\(margin)\(code[..<sign.lowerBound]) =\n\(inner)\(code[sign.upperBound...])"
    }
    if code.hasSuffix(" }"), let brace = code.firstRange(of: " { ") {
      return "\(margin)\(code[..<brace.lowerBound]) {\n\(inner)\(code[brace.upperBound...].dropLast(2))\n\(margin)}"
    }
    let isCall = code.hasSuffix(")") || code.hasSuffix(" {")
    guard isCall, let start = code.firstIndex(of: "("), let end = code.lastIndex(of: ")") else { return line }
    let lines = arguments(code[code.index(after: start)..<end]).map { inner + $0 }
    return "\(margin)\(code[...start])\n\(lines.joined(separator: ",\n"))\n\(margin)\(code[end...])"
  }

  /// Returns the arguments of a call. Brackets and string literals are not split.
  private static func arguments(_ text: Substring) -> [String] {
    // A literal with number signs may contain quotation marks.
    if text.contains("#\"") { return [String(text)] }
    var (arguments, depth, isQuoted) = ([""], 0, false)
    for character in text {
      switch character {
      case "\"": isQuoted.toggle()
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      default: break
      }
      if character == ",", depth == 0, !isQuoted {
        arguments.append("")
      } else if character != " " || arguments[arguments.count - 1] != "" {
        arguments[arguments.count - 1].append(character)
      }
    }
    return arguments
  }
}
