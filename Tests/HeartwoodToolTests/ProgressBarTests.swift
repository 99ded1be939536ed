import Testing

@testable import HeartwoodTool

/// What a terminal is shown while work goes on.
@Suite struct ProgressBarTests {
  private static let text = "migrating, 12.3 s"

  @Test(arguments: [nil, 46, 80, 200]) func whereThereIsRoomTheBarHasItsLength(_ width: Int?) {
    let bar = String(repeating: "#", count: 12) + String(repeating: "-", count: 12)
    #expect(ProgressBar.line(Self.text, fraction: 0.5, width: width) == "[\(bar)] \(Self.text)")
  }

  @Test(arguments: [45, 40, 30, 22, 21]) func whereThereIsNoneItIsShorter(_ width: Int) {
    let line = ProgressBar.line(Self.text, fraction: 0.5, width: width)
    #expect(line.count == width - 1)
    #expect(line.hasPrefix("[") && line.hasSuffix("] \(Self.text)"))
    #expect(ProgressBar.line(Self.text, fraction: 1, width: width).count == width - 1)
  }

  @Test(arguments: [0, 1, 10, 20]) func aLineNeverFillsTheTerminal(_ width: Int) {
    #expect(ProgressBar.line(Self.text, fraction: 0.5, width: width).count == max(0, width - 1))
  }
}
