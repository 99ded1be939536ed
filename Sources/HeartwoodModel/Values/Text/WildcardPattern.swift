/// A pattern of `LIKE`: `*` stands for any characters, `?` for one Unicode scalar, `\*` and `\?` for themselves.
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
  /// Returns whether the whole text matches the pattern.
  package func matches(_ text: String) -> Bool {
    folding.folded(text).withUnsafeBytes { matches(folded: $0) }
  }

  /// Returns whether the whole text, which must be folded, matches the pattern. O(text × pattern) in the worst case.
  package func matches(folded text: UnsafeRawBufferPointer) -> Bool {
    var (place, part) = (0, 0)
    // Where to continue if the part after the last `*` does not match.
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

  /// Returns the place after the text that matches `part`; nil if the text does not match it.
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
