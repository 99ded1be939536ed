import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// Intervals cover all values, and their counts are those that fetches find.
struct HistogramTests {
  private struct Interval: Equatable {
    let label: String
    let count: Int
  }

  private func intervals(_ bench: BrowserBench, _ question: String, status: Int = 200) async throws -> [Interval] {
    let response = await bench.ask("POST", "api/stores/0/histogram", [:], #"{"entity": "Item", \#(question)}"#)
    let answer = try BrowserBench.object(response)
    #expect(response.status == status, "\(answer)")
    return (answer["intervals"] as? [[String: Any]] ?? []).map {
      Interval(label: $0["label"] as? String ?? "", count: $0["count"] as? Int ?? -1)
    }
  }

  @Test(arguments: BrowserBench.types)
  func numbersAreInRoundIntervals(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let few = try await intervals(bench, #""column": "order", "condition": "order < 4""#)
    #expect(
      few == [.init(label: "0", count: 1), .init(label: "1", count: 0)] + ["2", "3"].map { .init(label: $0, count: 1) }
    )
    // One order is the greatest integer of all.
    let all = try await intervals(bench, #""column": "order""#)
    #expect(all.first == Interval(label: "0", count: 24) && all.last?.count == 1)
    #expect(all.count <= 26 && all.reduce(0) { $0 + $1.count } == 25)
    let price = try await intervals(bench, #""column": "price""#)
    #expect(price.count == 1 && price[0].count == 1)
    #expect(try await intervals(bench, #""column": "price", "condition": "order == 2""#).isEmpty)
    for column in ["memo", "list", "nothing"] {
      #expect(try await intervals(bench, #""column": "\#(column)""#, status: 400).isEmpty)
    }
  }

  @Test func numbersOfAnySizeHaveIntervals() async throws {
    let bench = try BrowserBench(nil)
    let context = ManagedObjectContext(bench.coordinator)
    let request = FetchRequest<ManagedObject>(
      entityName: "Item",
      where: try FetchPredicate(format: "order < 4"),
      sortedBy: [FetchSortDescriptor("order")]
    )
    let items = try context.fetch(request)
    for prices in [
      ["0.1", "0.3", "0.35"], ["-2000000", "0", "1e30"], ["1e-20", "2e-20", "0.5"], ["7.25", "7.25", "7.25"],
    ] {
      for (item, price) in zip(items, prices) {
        try item.setPropertyValue(.decimal(try #require(Decimal(string: price))), forKey: "price")
      }
      try context.save()
      let found = try await intervals(bench, #""column": "price""#)
      #expect(found.count <= 27 && found.reduce(0) { $0 + $1.count } == 3, "\(prices): \(found)")
      if prices[0] == "0.1" { #expect(found.map(\.label).contains("0.3"), "\(found)") }
      if prices[0] == "7.25" { #expect(found == [Interval(label: "7.25", count: 3)]) }
    }
  }

  @Test(arguments: BrowserBench.types)
  func datesAreInUnitsOfTheCalendar(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let context = ManagedObjectContext(bench.coordinator)
    let request = FetchRequest<ManagedObject>(entityName: "Item", sortedBy: [FetchSortDescriptor("order")])
    let dates = ["2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z", "2026-02-28T12:00:00Z", "2026-03-01T00:00:00Z"]
    for (item, date) in zip(try context.fetch(request), dates) {
      try item.setPropertyValue(.date(try Date(date, strategy: .iso8601)), forKey: "date")
    }
    for item in try context.fetch(request).dropFirst(dates.count) { try item.setPropertyValue(.null, forKey: "date") }
    try context.save()
    let months = try await intervals(bench, #""column": "date", "unit": "month""#)
    #expect(months.map(\.label) == ["2025-12", "2026-01", "2026-02", "2026-03"] && months.allSatisfy { $0.count == 1 })
    #expect(
      try await intervals(bench, #""column": "date", "unit": "year""#)
        == [.init(label: "2025", count: 1), .init(label: "2026", count: 3)]
    )
    let decades = try await intervals(bench, #""column": "date", "unit": "decade""#)
    #expect(decades == [Interval(label: "2020", count: 4)])
    let days = try await intervals(bench, #""column": "date""#)
    #expect(days.count == 61 && days.first?.label == "2025-12-31" && days.last?.label == "2026-03-01")
    #expect(days.reduce(0) { $0 + $1.count } == 4)
    #expect(try await intervals(bench, #""column": "date", "unit": "hour""#, status: 400).isEmpty)
    #expect(try await intervals(bench, #""column": "date", "unit": "week""#, status: 400).isEmpty)
  }

  @Test(arguments: [
    ("0001-02-01T00:00:00Z", "9999-12-31T00:00:00Z", 100, "9900"),
    ("1234-05-06T00:00:00Z", "1250-05-06T00:00:00Z", 17, "1250"),
    ("2026-11-29T06:00:00Z", "2026-11-29T06:00:01Z", 1, "2026-11-29T06"),
  ])
  func anySpanOfTimeHasAChart(_ first: String, _ last: String, _ count: Int, _ label: String) throws {
    let (first, last) = (try Date(first, strategy: .iso8601), try Date(last, strategy: .iso8601))
    let intervals = try TimeIntervals(from: first, to: last, nil)
    #expect(intervals.starts.count == count && intervals.labels.count == count)
    #expect(intervals.starts[0] <= first && intervals.starts == intervals.starts.sorted())
    #expect(intervals.labels.last == label && intervals.labels == intervals.labels.sorted())
    if count == 100 { #expect(intervals.labels.prefix(2) == ["0001", "0100"]) }
  }

  @Test(arguments: [-70_000_000_000.0, 300_000_000_000, 1e300, .infinity, .nan])
  func datesWithoutATextHaveNoPlace(_ seconds: Double) {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    #expect(throws: BrowserError.self) { try TimeIntervals(from: date, to: date + 1, nil) }
  }
}
