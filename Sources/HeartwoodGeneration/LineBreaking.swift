/// Breaks the lines that long names have made too long, as Swift's formatter does.
enum LineBreaking {
  private static let longestLine = 120
  private static let indentation = "  "

  /// `text` with its long lines broken, where there is a place for it.
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

  /// The arguments of a call. What stands in brackets or quotation marks belongs together.
  private static func arguments(_ text: Substring) -> [String] {
    // A literal between number signs may have quotation marks in it.
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
