import Foundation
import Heartwood
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// Groups have the numbers and the amounts that a fetch of their records has.
struct GroupTests {
  private func groups(_ bench: BrowserBench, _ question: String) async throws -> [String: Any] {
    let response = await bench.ask("POST", "api/stores/0/values", [:], #"{"entity": "Item", \#(question)}"#)
    #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try BrowserBench.object(response)
  }

  @Test(arguments: BrowserBench.types)
  func valuesHaveAnAmountByWhichTheyAreSorted(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    // The orders are 0, 2, … 8 and 3, 5, 7, 9.
    let condition = #""condition": "order < 10", "column": "isDone""#
    for (function, amounts) in [
      ("sum", [24.0, 20]), ("average", [6.0, 4]), ("min", [3.0, 0]), ("max", [9.0, 8]),
    ] {
      let amount = #""amount": {"function": "\#(function)", "column": "order"}"#
      let answer = try await groups(bench, "\(condition), \(amount)")
      let values = try #require(answer["values"] as? [[String: Any]])
      #expect(values.map { $0["amount"] as? Double } == amounts, "\(function)")
      #expect(values.map { $0["value"] as? Bool } == [false, true], "\(function)")
      #expect(values.map { $0["count"] as? Int } == [4, 5], "\(function)")
    }
  }

  @Test(arguments: BrowserBench.types)
  func recordsAreGroupedByWhatTheyReferTo(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let values = try #require(try await groups(bench, #""column": "list""#)["values"] as? [[String: Any]])
    #expect(values.count == 1 && values[0]["count"] as? Int == 25)
    let list = try #require(values[0]["value"] as? [String: Any])
    #expect(list["label"] as? String == "Groceries")
    // The condition to which the page narrows.
    let uri = try #require(list["uri"] as? String)
    let condition = #"list == CAST(\"\#(uri)\", \"NSManagedObjectID\")"#
    #expect(try await bench.rows(#"{"entity": "Item", "condition": "\#(condition)"}"#).count == 25)
  }

  @Test(arguments: BrowserBench.types)
  func moreGroupsThanTheLimitAreSaid(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let few = try await groups(bench, #""column": "order", "limit": 24"#)
    #expect((few["values"] as? [Any])?.count == 24 && few["hasMore"] as? Bool == true)
    let all = try await groups(bench, #""column": "order", "limit": 25"#)
    #expect((all["values"] as? [Any])?.count == 25 && all["hasMore"] as? Bool == false)
  }

  @Test(arguments: BrowserBench.types)
  func intervalsHaveAnAmount(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let question =
      #"{"entity": "Item", "condition": "order < 4", "column": "order", "amount": {"function": "sum", "column": "order"}}"#
    let answer = try BrowserBench.object(await bench.ask("POST", "api/stores/0/histogram", [:], question))
    let intervals = try #require(answer["intervals"] as? [[String: Any]])
    #expect(intervals.map { $0["count"] as? Int } == [1, 0, 1, 1])
    #expect(intervals.map { $0["amount"] as? Int } == [0, 0, 2, 3])
  }

  @Test(arguments: ["memo", "list", "nothing", "order) OR (1"])
  func anAmountIsOfNumbers(_ column: String) async throws {
    let bench = try BrowserBench(nil)
    let amount = #""amount": {"function": "sum", "column": "\#(column)"}"#
    for path in ["values", "histogram"] {
      let question = #"{"entity": "Item", "column": "order", \#(amount)}"#
      #expect(await bench.ask("POST", "api/stores/0/\(path)", [:], question).status == 400)
    }
    let unknown = #"{"entity": "Item", "column": "order", "amount": {"function": "median(x", "column": "order"}}"#
    #expect(await bench.ask("POST", "api/stores/0/values", [:], unknown).status == 400)
  }
}
