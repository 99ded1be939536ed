import Foundation
import HeartwoodGraph
import HeartwoodImporting
import HeartwoodModel
import HeartwoodStore
import Testing

/// Dates as text, after the patterns that models have.
@Suite struct ImportDateTests {
  private func date(_ text: String, _ format: String?) throws -> String? {
    let model = try ManagedObjectModel(entities: [
      .entity("Event", .attribute("date", .date, optional: true, userInfo: format.map { ["dateFormat": $0] } ?? [:]))
    ])
    let context = try ImportStack(.inMemory, model).context
    let event = try context.insert(entityName: "Event")
    do {
      try event.importValues(from: ["date": .scalar(.string(text))])
    } catch PersistenceError.Code.importFailed {
      return nil
    }
    let formatter = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    guard context.hasChanges, case .date(let date) = try event.propertyValue(forKey: "date") else { return nil }
    return formatter.format(date).replacing(".000Z", with: "Z")
  }

  @Test(
    arguments: [
      ("2016-11-21T16:20:05Z", "2016-11-21T16:20:05Z"), ("2016-11-21T16:20:05.25Z", "2016-11-21T16:20:05.250Z"),
      ("2016-11-21T16:20:05+0130", "2016-11-21T14:50:05Z"), ("2016-11-21T16:20:05-01", "2016-11-21T17:20:05Z"),
      ("2016-11-21 16:20:05 +0000", "2016-11-21T16:20:05Z"), ("2016-11-21", "2016-11-21T00:00:00Z"),
      ("2016-11-21T16:20:05.5", "2016-11-21T16:20:05.500Z"), ("2016-11-21T16:20", "2016-11-21T16:20:00Z"),
      ("2016-11-21T16:20+01:00", "2016-11-21T15:20:00Z"), ("20161121T162005Z", "2016-11-21T16:20:05Z"),
      ("20161121", "2016-11-21T00:00:00Z"), ("2016-02-29", "2016-02-29T00:00:00Z"), ("2015-02-29", nil),
      ("2016-13-01", nil), ("2016-11-21T25:00:00Z", nil), ("yesterday", nil), ("", nil), ("2016-11-21x", nil),
      ("2016-11-21T16:60:00", nil), ("0000-01-01", nil), ("2016-11-30T24:00:00Z", "2016-12-01T00:00:00Z"),
      ("2016-11-30T24:00:01Z", nil), ("2016-11-30T24:01:00Z", nil), ("2016-11-30T24:00:00.5Z", nil),
      ("0001-01-01T00:00:00+02:00", nil), ("9999-12-31T24:00:00Z", nil),
    ] as [(String, String?)]
  )
  func iso8601(_ text: String, _ expected: String?) throws {
    #expect(try date(text, nil) == expected)
  }

  @Test(
    arguments: [
      ("yyyy-MM-dd'T'HH:mm:ssz", "2016-11-21T16:20:05PST", "2016-11-22T00:20:05Z"),
      ("yyyy-MM-dd'T'HH:mm:ssz", "2016-11-21T16:20:05GMT+2", "2016-11-21T14:20:05Z"),
      ("EEE, dd MMM yyyy HH:mm:ss Z", "Mon, 21 Nov 2016 16:20:05 +0100", "2016-11-21T15:20:05Z"),
      ("EEEE d MMMM y", "Monday 3 may 2010", "2010-05-03T00:00:00Z"), ("dd/MM/yy", "03/05/10", "2010-05-03T00:00:00Z"),
      ("dd/MM/yy", "03/05/99", "1999-05-03T00:00:00Z"),
      ("h:mm a, M/d/yyyy", "12:05 AM, 3/4/2001", "2001-03-04T00:05:00Z"),
      ("h:mm a, M/d/yyyy", "12:05 pm, 3/4/2001", "2001-03-04T12:05:00Z"),
      ("yyyyMMddHHmmssSSS", "20161121162005250", "2016-11-21T16:20:05.250Z"),
      ("'at' HH 'o''clock' ''yyyy''", "at 07 o'clock '2016'", "2016-01-01T07:00:00Z"),
      ("UnixTime", "1000", "1970-01-01T00:00:01Z"), ("yyyy", "2016-11", nil), ("HH:mm", "7", nil),
      ("yyyy-MM-dd kk:mm", "2016-11-21 24:05", "2016-11-21T00:05:00Z"),
      ("dd MMM yyyy", "03 Foo 2010", nil), ("yyyy-MM-dd Z", "2010-01-01 XYZ", nil), ("h a", "13 AM", nil),
      ("yyyy-MM-dd Z", "2010-01-01 +25", nil), ("yyyy-MM-dd Z", "2010-01-01 +01:", nil), ("UnixTime", "soon", nil),
    ] as [(String, String, String?)]
  )
  func patterns(_ format: String, _ text: String, _ expected: String?) throws {
    #expect(try date(text, format) == expected)
  }

  @Test(arguments: ["yyyy 'open", "yyyy-qq", "bb"])
  func patternsThatAreNone(_ format: String) {
    let error = persistenceError { _ = try date("x", format) }
    #expect(error?.code == .importMappingUnusable)
  }
}
