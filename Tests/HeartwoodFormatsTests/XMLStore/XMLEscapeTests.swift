import HeartwoodTesting
import Testing

@testable import HeartwoodFormats

@Suite struct XMLEscapeTests {
  private func escaped(_ text: String) -> String {
    var buffer = TextBuffer(capacity: 16)
    Array(text.utf8).withUnsafeBytes { XMLTextEscapes.append($0, to: &buffer) }
    return String(decoding: buffer.bytes, as: UTF8.self)
  }

  private func unescaped(_ text: String) -> String? {
    var bytes = Array(text.utf8)
    return bytes.withUnsafeMutableBytes { XMLTextEscapes.remove($0) }.map {
      String(decoding: bytes.prefix($0), as: UTF8.self)
    }
  }

  @Test(arguments: [
    ("<>&", "\\u3c00\\u3e00\\u2600"), ("\\", "\\\\"), ("\r\u{0}", "\\u0d00\\u0000"), ("\n\t", "\n\t"),
    ("a\u{FFFE}\u{FFFF}\u{FFFD}b", "a\\ufeff\\uffff\u{FFFD}b"), ("ﬀ", "ﬀ"), ("\\u3c00", "\\\\u3c00"), ("", ""),
  ])
  func escapesAreTheseAndComeBack(_ text: String, _ escape: String) {
    #expect(escaped(text) == escape)
    #expect(unescaped(escape) == text)
  }

  @Test func allCharactersMayBeEscaped() {
    #expect(unescaped("\\u4100\\uac20x\\u3DD8\\u4BDC") == "A€x👋")
  }

  @Test(arguments: ["\\", "\\n", "\\u", "\\u12", "\\u12g4", "\\u3dd8", "\\u4bdc", "\\u3dd8\\u4100", "\\u3dd8x"])
  func otherEscapesStandForNothing(_ text: String) {
    #expect(unescaped(text) == nil)
  }

  @Test func randomTextsComeBack() {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<5_000 {
      let scalars = (0..<Int.random(in: 0...20, using: &generator)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0...(Bool.random(using: &generator) ? 0x80 : 0x10FFFF), using: &generator))
      }
      let text = String(String.UnicodeScalarView(scalars))
      #expect(unescaped(escaped(text)).map { Array($0.utf8) } == Array(text.utf8), "seed \(seed)")
    }
  }
}
