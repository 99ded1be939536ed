/// Pieces of Swift source.
package enum SwiftText {
  private static let keywords: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
    "internal",
    "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static", "struct",
    "subscript",
    "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for",
    "guard",
    "if", "in", "repeat", "return", "throw", "switch", "where", "while", "Any", "as", "await", "false", "is", "nil",
    "self",
    "Self", "super", "throws", "true", "try", "Type", "Protocol",
  ]

  /// Whether `name` is a word of the language.
  package static func isReserved(_ name: String) -> Bool { keywords.contains(name) }

  /// `name` as a declaration has it.
  static func identifier(_ name: String) -> String {
    keywords.contains(name) ? "`\(name)`" : name
  }

  /// A name with the letters and digits of any text, and underscores for the rest.
  static func name(of text: String) -> String {
    let letters = text.map { $0.isLetter || $0.isNumber ? $0 : "_" }
    return String(letters.first?.isNumber ?? true ? ["_"] + letters : letters)
  }

  /// `name` with a capital.
  static func capitalized(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// `text` as a comment of one line has it, with a blank in place of each sign that would end the line or that no source may have.
  static func comment(_ text: String) -> String {
    let signs: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
    let scalars = text.unicodeScalars.map { signs.contains($0.properties.generalCategory) ? " " : $0 }
    return String(String.UnicodeScalarView(scalars))
  }

  /// A literal of `text`, in which nothing means anything else.
  static func literal(_ text: String) -> String {
    var marks = "#"
    while text.contains("\"" + marks) || text.contains("\\" + marks) { marks += "#" }
    let escape = "\\" + marks
    var body = ""
    // Not by characters: a carriage return and a line feed are one.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": body += escape + "n"
      case "\r": body += escape + "r"
      case "\t": body += escape + "t"
      case "\0"..<" ", "\u{7F}", "\u{2028}", "\u{2029}": body += escape + "u{" + String(scalar.value, radix: 16) + "}"
      default: body.unicodeScalars.append(scalar)
      }
    }
    return "\(marks)\"\(body)\"\(marks)"
  }

  /// A name of constants in capitals, `FIRST_NAME`, as one of a parameter: `firstName`.
  static func parameter(_ name: String) -> String {
    if name.first?.isNumber ?? true { return parameter("value" + name) }
    guard !name.contains(where: \.isLowercase) else { return identifier(name) }
    let words = name.lowercased().split(separator: "_")
    let rest = words.dropFirst().map { capitalized(String($0)) }
    return identifier((words.first.map(String.init) ?? "value") + rest.joined())
  }
}
