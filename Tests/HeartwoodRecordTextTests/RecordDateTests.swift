import Foundation
import HeartwoodStore
import Testing

@testable import HeartwoodRecordText

@Suite struct RecordDateTests {
  @Test(arguments: [
    (0, "2001-01-01T00:00:00Z"), (495_828_900, "2016-09-17T18:15:00Z"), (-1, "2000-12-31T23:59:59Z"),
    (-978_307_200, "1970-01-01T00:00:00Z"), (0.5, "2001-01-01T00:00:00.5Z"), (-0.25, "2000-12-31T23:59:59.75Z"),
    (0.1, "2001-01-01T00:00:00.1Z"), (1.5e-5, "2001-01-01T00:00:00.000015Z"), (-1e-3, "2000-12-31T23:59:59.999Z"),
    (-27_080_000, "2000-02-22T13:46:40Z"), (252_423_993_599, "9999-12-31T23:59:59Z"),
    (-63_113_904_000, "0001-01-01T00:00:00Z"),
  ])
  func datesAreISO8601(_ seconds: Double, _ text: String) {
    #expect(Self.text(seconds) == text)
  }

  @Test(arguments: [(Double.nan, "nan"), (.infinity, "inf"), (252_423_993_600, "252423993600.0"), (-1e300, "-1e+300")])
  func othersAreSeconds(_ seconds: Double, _ text: String) {
    #expect(Self.text(seconds) == text)
  }

  private static func text(_ seconds: Double) -> String {
    let output = GrowableBytes()
    RecordDate.append(seconds, to: output)
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }
}
