/// The pattern of `LIKE`: `*` stands for any characters, `?` for one Unicode scalar, `\*` and `\?` for themselves.
package struct WildcardPattern: Sendable {
  private enum Part: Sendable, Equatable {
    case byte(UInt8)
    case one
    case any
  }

  private let parts: [Part]
  private let folding: TextFolding

  package init(_ pattern: String, folding: TextFolding) {
    var parts: [Part] = []
    var literal = ""
    func endLiteral() {
      parts += folding.folded(literal).map(Part.byte)
      literal = ""
    }
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      if !isEscaped, scalar == "\\" {
        isEscaped = true
        continue
      }
      if !isEscaped, scalar == "*" || scalar == "?" {
        endLiteral()
        let part: Part = scalar == "*" ? .any : .one
        if part == .one || parts.last != .any { parts.append(part) }
      } else {
        literal.unicodeScalars.append(scalar)
      }
      isEscaped = false
    }
    endLiteral()
    self.parts = parts
    self.folding = folding
  }
}

extension WildcardPattern {
  /// Whether all of `text` is as the pattern says.
  package func matches(_ text: String) -> Bool {
    folding.folded(text).withUnsafeBytes { matches(folded: $0) }
  }

  /// Whether all of the text that is folded already is as the pattern says. O(text × pattern) at worst.
  package func matches(folded text: UnsafeRawBufferPointer) -> Bool {
    var (place, part) = (0, 0)
    // Where to go on when what follows the last `*` does not match.
    var retry: (place: Int, part: Int)?
    while true {
      if part < parts.count, parts[part] == .any {
        part += 1
        retry = (place, part)
      } else if let next = step(text, place, part) {
        (place, part) = (next, part + 1)
      } else if place == text.count, part == parts.count {
        return true
      } else {
        guard let last = retry, last.place < text.count else { return false }
        place = Self.scalarEnd(text, last.place)
        part = last.part
        retry = (place, part)
      }
    }
  }

  /// Where the text goes on behind what `part` stands for; nil where it stands for something else.
  @inline(__always)
  private func step(_ text: UnsafeRawBufferPointer, _ place: Int, _ part: Int) -> Int? {
    guard place < text.count, part < parts.count else { return nil }
    switch parts[part] {
    case .byte(let byte): return text[place] == byte ? place + 1 : nil
    case .one: return Self.scalarEnd(text, place)
    case .any: return nil
    }
  }

  private static func scalarEnd(_ text: UnsafeRawBufferPointer, _ place: Int) -> Int {
    var end = place + 1
    while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
    return end
  }
}
