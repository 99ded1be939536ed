import HeartwoodModel
import HeartwoodTesting
import Testing

@Suite struct DateTextTests {
  private func read(_ text: String) -> Double? {
    var reader = DateTextReader()
    return Array(text.utf8).withUnsafeBytes { reader.seconds($0) }
  }

  @Test(
    arguments: [
      ("2016-09-17 18:15:00 +0000", 495_828_900), ("2001-01-01 00:00:00 +0000", 0),
      ("2000-12-31 23:59:59 +0000", -1), ("0001-01-01 00:00:00 +0000", -63_113_904_000),
      ("9999-12-31 23:59:59 +0000", 252_423_993_599), ("1970-01-01 00:00:00 +0000", -978_307_200),
      ("2000-02-29 12:00:00 +0000", -26_481_600), ("1582-10-10 00:00:00 +0000", -13_198_032_000),
      ("2001-01-01 00:00:00.25 +0000", 0.25), ("2000-12-31 23:59:59.75 +0000", -0.25),
      ("2016-09-17 18:15:00.1 +0000", 495_828_900.1), ("1999-12-31 00:00:00.000001 +0000", -31_708_799.999999),
    ] as [(String, Double)]
  )
  func datesAndTheirText(text: String, seconds: Double) {
    #expect(read(text) == seconds && DateText.seconds(text) == seconds)
    let iso8601 = text.replacing(" +0000", with: "Z").replacing(" ", with: "T")
    #expect(DateText.iso8601(seconds) == iso8601)
    #expect(read(iso8601) == seconds)
  }

  @Test(
    arguments: [
      "2016-09-17 20:15:00 +0200", "2016-09-17T18:15:00Z", "2016-09-17 18:15:00Z", "2016-09-17T12:45:00-05:30",
      "2016-09-17 18:15:00.000 +0000", "2016-09-18 17:15:00+23:00", "2016-09-17 18:15:00 -0000",
      "2016-09-17 18:15:00 Z",
    ]
  )
  func otherWaysToWriteTheSameDate(text: String) {
    #expect(read(text) == 495_828_900)
  }

  @Test(
    arguments: [
      "", "2016-09-17", "2016-09-17 18:15:00", "2016-13-17 18:15:00 +0000", "2016-00-17 18:15:00 +0000",
      "2015-02-29 18:15:00 +0000", "1900-02-29 18:15:00 +0000", "2016-04-31 18:15:00 +0000",
      "2016-09-00 18:15:00 +0000",
      "2016-09-17 24:00:00 +0000", "2016-09-17 18:60:00 +0000", "2016-09-17 18:15:60 +0000",
      "2016-09-17 18:15:00. +0000",
      "2016-09-17 18:15:00 +000", "2016-09-17 18:15:00 +00000", "2016-09-17 18:15:00 0000", "2016-09-17 18:15:00 +2400",
      "2016-09-17 18:15:00 +0060", "2016-09-17 18:15:00  +0000", "2016-09-17_18:15:00 +0000",
      "2016-9-17 18:15:00 +00000",
      "20160-09-17 18:15:00 +000", "0000-12-31 23:59:59 +0000", "0001-01-01 00:00:00 +0001",
      "9999-12-31 23:59:59 -0001",
      "2016-09-17 18:15:00 +00:0", "2016-09-17 18:15:00 +0a00", "2016-09-17 18:15:00 z", "+016-09-17 18:15:00 +0000",
      "2016-09-17 1:15:000 +0000", "２016-09-17 18:15:0 +0000",
      "\0\0\0\0\0\0\0\0\0\0 00:00:00 +0000", "0000000000 00:00:00 +0000",
    ]
  )
  func otherTextIsNoDate(text: String) {
    #expect(read(text) == nil)
  }

  @Test func aDayBeginsAtMidnight() {
    #expect(DateText.seconds("2001-01-02") == 86_400)
    #expect(
      DateText.seconds("2001-02-30") == nil && DateText.seconds("yesterday!") == nil && DateText.seconds("") == nil
    )
  }

  @Test(arguments: [.infinity, -.infinity, .nan, 1e300, -1e300, 252_423_993_600, -63_113_904_000.001] as [Double])
  func otherDatesHaveNoText(seconds: Double) {
    #expect(DateText.iso8601(seconds) == nil)
    #expect(!DateText.representable.contains(seconds))
  }

  /// Every bit comes back, from the smallest fraction of a second to the ends of the calendar.
  @Test func everyDateComesBack() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    var dates: [Double] = [
      .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 1e-300, -1e-300, 0.1 + 0.2, -0.1, 252_423_993_599.999_97, 1e-5,
      -1.5e-5,
    ]
    for _ in 0..<20_000 {
      let day = Double.random(in: -63_113_904_000..<252_423_993_600, using: &generator)
      let exponent = Double.random(in: -320...11, using: &generator)
      dates += [day, day.rounded(), (day * 1000).rounded() / 1000]
      dates += [Double(sign: generator.chance(oneIn: 2) ? .minus : .plus, exponent: Int(exponent), significand: 1.7)]
    }
    for date in dates where DateText.representable.contains(date) {
      let back = DateText.iso8601(date).flatMap(read)
      #expect(back == date, "seed \(seed): \(date) came back as \(String(describing: back))")
    }
  }

  /// The days of the calendar, counted one by one.
  @Test func daysFollowEachOther() {
    var (year, month, day) = (1, 1, 1)
    for days in CivilDate.days(year: 1, month: 1, day: 1)..<CivilDate.days(year: 2500, month: 1, day: 1) {
      // A million expectations would take a minute.
      if CivilDate.date(days: days) != (year, month, day) || CivilDate.days(year: year, month: month, day: day) != days
      {
        Issue.record("\(days) is \(year)-\(month)-\(day)")
      }
      day += 1
      if day > CivilDate.dayCount(month: month, year: year) { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
  }
}
