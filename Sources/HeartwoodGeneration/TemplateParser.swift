/// Reads the tags of a template.
struct TemplateParser {
  private struct OpenSection {
    let name: String
    let isInverted: Bool
    let line: Int
    /// What came before the section.
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

  /// Whether a tag between `text` and the rest has its line to itself.
  private func isAlone(after text: Substring) -> Bool {
    let before = text.reversed().drop { $0 == " " || $0 == "\t" }.first
    let startsLine = before?.isNewline ?? (text.startIndex == text.base.startIndex || isAtLineStart(text))
    let after = rest.drop { $0 == " " || $0 == "\t" }.first
    return startsLine && (after?.isNewline ?? true)
  }

  /// Whether `text` begins just after a line break, of a tag that had its line to itself.
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
  /// Without the last characters for which `predicate` holds.
  fileprivate func dropLast(while predicate: (Character) -> Bool) -> Substring {
    var end = endIndex
    while end > startIndex, predicate(base[base.index(before: end)]) { end = base.index(before: end) }
    return self[..<end]
  }
}
