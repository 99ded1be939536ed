import Foundation

/// A part of a statement.
enum SQLToken: Hashable {
  /// A keyword or a name without quotes, in upper case.
  case word(String)
  case quotedName(String)
  /// A literal, with what is between its quotes.
  case text(String)
  case number(String)
  case parameter(Int)
  case symbol(Character)

  /// Returns the parts of a statement; nil if a quote is not closed.
  static func tokens(_ text: String) -> [SQLToken]? {
    var scanner = SQLScanner(text)
    return scanner.tokens()
  }
}

/// Reads SQL as PostgreSQL's lexer does, as far as a store writes it: it writes no comments.
private struct SQLScanner {
  private let characters: [Character]
  private var place = 0

  init(_ text: String) { characters = Array(text) }

  private var next: Character? { place < characters.count ? characters[place] : nil }

  mutating func tokens() -> [SQLToken]? {
    var tokens: [SQLToken] = []
    while let character = next {
      if character.isWhitespace {
        place += 1
        continue
      }
      guard let token = token(character) else { return nil }
      tokens.append(token)
    }
    return tokens
  }

  private mutating func token(_ character: Character) -> SQLToken? {
    switch character {
    case "\"": return quoted("\"").map(SQLToken.quotedName)
    case "'": return quoted("'").map(SQLToken.text)
    case "$": return dollar()
    case _ where character.isLetter || character == "_": return word()
    case _ where character.isNumber: return .number(taken { $0.isNumber || $0 == "." || $0 == "e" })
    default:
      place += 1
      return .symbol(character)
    }
  }

  private mutating func taken(_ isPart: (Character) -> Bool) -> String {
    let start = place
    while let character = next, isPart(character) { place += 1 }
    return String(characters[start..<place])
  }

  private mutating func word() -> SQLToken? {
    let word = taken { $0.isLetter || $0.isNumber || $0 == "_" }
    // E'' is a literal in which a backslash protects the next character.
    if word.uppercased() == "E", next == "'" { return quoted("'", escape: "\\").map(SQLToken.text) }
    return .word(word.uppercased())
  }

  /// Reads what is between quotes; a quote that is doubled stands for itself.
  private mutating func quoted(_ quote: Character, escape: Character? = nil) -> String? {
    var content = ""
    place += 1
    while let character = next {
      place += 1
      if character == escape, let protected = next {
        content.append(protected)
        place += 1
      } else if character != quote {
        content.append(character)
      } else if next == quote {
        content.append(quote)
        place += 1
      } else {
        return content
      }
    }
    return nil
  }

  /// Reads a parameter, or a literal between tags such as `$heartwood$`.
  private mutating func dollar() -> SQLToken? {
    place += 1
    if let character = next, character.isNumber { return Int(taken { $0.isNumber }).map(SQLToken.parameter) }
    let tag = "$" + taken { $0.isLetter || $0.isNumber || $0 == "_" } + "$"
    place += 1
    let rest = String(characters[min(place, characters.count)...])
    guard let end = rest.range(of: tag) else { return nil }
    let content = String(rest[..<end.lowerBound])
    place += content.count + tag.count
    return .text(content)
  }
}
