/// How many cells of a terminal characters take.
package enum TerminalWidth {
  package static func of(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + of($1) } }

  package static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: 0
    default: isWide(scalar) ? 2 : 1
    }
  }

  /// The blocks whose characters Unicode calls wide; emoji are, too.
  private static let wideBlocks: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
  ]

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x1100
      && (wideBlocks.contains { $0.contains(scalar.value) } || scalar.properties.isEmojiPresentation)
  }
}
