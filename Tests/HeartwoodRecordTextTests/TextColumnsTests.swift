import HeartwoodStore
import Testing

@testable import HeartwoodRecordText

@Suite struct TextColumnsTests {
  private static func text(_ columns: TextColumns, _ lines: [[String]]) -> String {
    let output = GrowableBytes()
    for line in lines { columns.append(line, to: output) }
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }

  @Test func wideAndCombiningCharactersKeepTheirPlaces() {
    var columns = TextColumns([.init(title: "a"), .init(title: "b")])
    let lines = [["漢字", "x"], ["e\u{301}", "x"], ["🌲", "x"], ["", "x"], ["abcd", ""]]
    columns.widen(to: lines)
    #expect(Self.text(columns, lines) == "漢字  x\ne\u{301}     x\n🌲    x\n      x\nabcd\n")
  }

  @Test func numbersStandAtTheEnd() {
    var columns = TextColumns([.init(title: "n", isRightAligned: true), .init(title: "t")])
    let lines = [["1", "x"], ["1000", "y"]]
    columns.widen(to: lines)
    #expect(Self.text(columns, lines) == "   1  x\n1000  y\n")
  }

  @Test(arguments: [
    ("abcdefgh", "abcde…"), ("abcdef", "abcdef"), ("漢字漢字", "漢字…"), ("\u{1B}[31m", "…"), ("ab\ncdef", "ab\\nc…"),
    ("ab\u{202E}c", "ab…"),
  ])
  func textsAreCut(_ text: String, _ cut: String) {
    let output = GrowableBytes()
    var bytes = Array(text.utf8)
    let used = bytes.withUnsafeMutableBytes { DisplayText.append(UnsafeRawBufferPointer($0), limit: 6, to: output) }
    #expect(String(decoding: output.unsafeMutableBytes, as: UTF8.self) == cut)
    #expect(used == DisplayText.width(of: cut))
  }
}
