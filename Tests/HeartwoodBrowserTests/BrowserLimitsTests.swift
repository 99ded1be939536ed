import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodSQLite
import HeartwoodStore
import Synchronization
import Testing

@testable import HeartwoodBrowser
@testable import HeartwoodTool

/// What takes too long, answers too much or is asked by nobody any more is ended.
struct BrowserLimitsTests {
  @Test(arguments: BrowserBench.types)
  func aCancelledFetchReturnsNothing(_ type: StoreType?) throws {
    let bench = try BrowserBench(type)
    let context = ManagedObjectContext(bench.coordinator)
    let progress = FetchProgress()
    context.fetchProgress = progress
    var request = FetchRequest<ManagedObject>(
      entityName: "Item",
      where: try FetchPredicate(format: "memo CONTAINS 'item'"),
      sortedBy: [FetchSortDescriptor("order", ascending: false)]
    )
    #expect(try context.count(for: request) == 24)
    #expect(try context.fetchObjectIDs(request).count == 24)
    progress.cancel()
    #expect(throws: CancellationError.self) { try context.fetchObjectIDs(request) }
    #expect(throws: CancellationError.self) { try context.count(for: request) }
    request.sortDescriptors = []
    request.propertiesToGroupBy = [try ExpressionDescription(format: "isDone AS value")]
    request.propertiesToFetch = request.propertiesToGroupBy
    #expect(throws: CancellationError.self) { try context.fetchRows(request) }
    context.fetchProgress = nil
    #expect(try context.fetchRows(request).count == 2)
  }

  /// A condition that SQLite needs seconds for: it looks at all groups of items.
  @Test func aQueryThatTakesTooLongIsEnded() async throws {
    let bench = try BrowserBench(.sqlite)
    let items = "SUBQUERY(list.items,"
    let condition =
      "\(items) $a, \(items) $b, \(items) $c, $a.order == $b.order AND $b.order == $c.order AND $c.order == -1)"
      + ".@count > 0).@count > 0).@count > 0"
    var limits = BrowserLimits()
    limits.time = .milliseconds(1)
    let browser = StoreBrowser([BrowsedStore("Shop", bench.coordinator)], limits: limits)
    let question = #"{"entity": "Item", "condition": "\#(condition)"}"#
    let response = await browser.respond(to: .asking("api/stores/0/rows", question))
    let answer = try BrowserBench.object(response)
    #expect(response.status == 503, "\(answer)")
    #expect((answer["error"] as? String)?.contains("--time-limit") == true)
    // The next one begins anew.
    limits.time = .seconds(60)
    let patient = StoreBrowser([BrowsedStore("Shop", bench.coordinator)], limits: limits)
    #expect(await patient.respond(to: .asking("api/stores/0/rows", #"{"entity": "Item"}"#)).status == 200)
  }

  @Test func theReasonForTheEndIsTold() async throws {
    var limits = BrowserLimits()
    limits.time = .milliseconds(10)
    let late = RequestWork(limits)
    await #expect {
      try await WaitingWork.run {
        try late.limitingTime {
          while !late.progress.isCancelled { Thread.sleep(forTimeInterval: 0.001) }
          try late.check()
        }
      }
    } throws: {
      ($0 as? BrowserError)?.message.contains("limit") == true
    }
    let abandoned = RequestWork(BrowserLimits())
    abandoned.cancel()
    #expect {
      try abandoned.limitingTime {}
    } throws: {
      ($0 as? BrowserError)?.status == 503
    }
    // An error of another kind stays what it is.
    #expect(throws: BrowserError.self) { try RequestWork(BrowserLimits()).limitingTime { throw BrowserError.notFound } }
  }

  @Test func aLargeExportIsRefused() async throws {
    let bench = try BrowserBench(.binary)
    var limits = BrowserLimits()
    limits.exportedRecordCount = 24
    let browser = StoreBrowser([BrowsedStore("Shop", bench.coordinator)], limits: limits)
    func export(_ condition: String) async -> BrowserResponse {
      let records = #"{"entity": "Item", "condition": "\#(condition)"}"#
      return await browser.respond(to: .asking("api/stores/0/export", #"{"format": "csv", "records": \#(records)}"#))
    }
    let all = await export("order >= 0")
    #expect(all.status == 413)
    #expect((try BrowserBench.object(all)["error"] as? String)?.hasPrefix("25 records were found") == true)
    #expect(await export("memo != 'item 1'").status == 200)
  }

  /// More records than one batch has, with and without a condition and an order.
  @Test func aLongExportComesInPieces() async throws {
    let count = 70_000
    let model = try ManagedObjectModel(entities: [.entity("Item", .attribute("order", .integer64))])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    for number in 0..<count {
      try context.insert(entityName: "Item").setPropertyValue(.integer(Int64(number)), forKey: "order")
    }
    try context.save()
    let browser = StoreBrowser([BrowsedStore("Items", coordinator)])
    func orders(_ rest: String) async throws -> (pieces: Int, orders: [Int]) {
      let question = #"{"format": "csv", "records": {"entity": "Item"\#(rest)}}"#
      let response = await browser.respond(to: .asking("api/stores/0/export", question))
      #expect(response.body == Data("$id,order\n".utf8))
      var (text, pieces) = (Data(), 0)
      for try await piece in try #require(response.rest) { (text, pieces) = (text + piece, pieces + 1) }
      let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
      return (pieces, lines.compactMap { $0.split(separator: ",").last.flatMap { Int($0) } })
    }
    let all = try await orders("")
    // With more processors, a piece has more records.
    #expect(all.pieces > 1 || Parallel.powerOfTwoProcessorCount > 4)
    #expect(all.orders == Array(0..<count))
    let later = try await orders(#", "condition": "order >= 5""#)
    #expect(later.orders == Array(5..<count))
    let reversed = try await orders(#", "sort": [{"key": "order", "descending": true}]"#)
    #expect(reversed.orders == (0..<count).reversed())
  }
}

extension BrowserRequest {
  fileprivate static func asking(_ path: String, _ question: String) -> BrowserRequest {
    BrowserRequest(
      method: "POST",
      path: path,
      headers: [.init("Content-Type", "application/json")],
      body: Data(question.utf8)
    )
  }
}

// MARK: Clients

extension BrowserLimitsTests {
  /// A connection to a server on this machine.
  private struct Client: Sendable {
    private let connection: CInt

    init(port: UInt16) throws {
      #if canImport(Darwin)
        let kind = SOCK_STREAM
      #else
        let kind = CInt(SOCK_STREAM.rawValue)
      #endif
      connection = socket(AF_INET, kind, 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      try #require(isConnected)
      let request = Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
      try #require(send(connection, request, request.count, 0) == request.count)
    }

    func leave() { close(connection) }

    /// Everything that the server sends until it closes the connection.
    func answer() -> String {
      var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
      while case let count = recv(connection, &buffer, buffer.count, 0), count > 0 { bytes += buffer[..<count] }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func whatAClientAskedForIsEndedWhenItLeaves() async throws {
    let server = try LoopbackServer(port: 0)
    let (ended, end) = AsyncStream.makeStream(of: Bool.self)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    server.run(bodyLimit: 0) { _ in
      begin.yield()
      // try?: the sleep ends early when the task is cancelled.
      try? await Task.sleep(for: .seconds(600))
      end.yield(Task.isCancelled)
      return BrowserResponse(status: 200, headers: [], body: Data())
    }
    let client = try Client(port: server.port)
    for await _ in begun { break }
    client.leave()
    for await isCancelled in ended {
      #expect(isCancelled)
      break
    }
  }

  @Test(arguments: [false, true])
  func aRestIsSentInChunksAndABrokenOneIsNotComplete(_ isBroken: Bool) async throws {
    let server = try LoopbackServer(port: 0)
    server.run(bodyLimit: 0) { _ in
      let rest = BrowserResponse.Rest { number in
        if number == 2, isBroken { throw CancellationError() }
        return number < 3 ? Data("piece \(number);".utf8) : nil
      }
      return BrowserResponse(status: 200, headers: [], body: Data("head;".utf8), rest: rest)
    }
    let client = try Client(port: server.port)
    // The server needs the threads that tests run on.
    let answer = await WaitingWork.run { client.answer() }
    client.leave()
    #expect(answer.contains("Transfer-Encoding: chunked\r\n") && !answer.contains("Content-Length"))
    let start = "\r\n\r\n5\r\nhead;\r\n8\r\npiece 0;\r\n8\r\npiece 1;\r\n"
    #expect(answer.hasSuffix(isBroken ? start : start + "8\r\npiece 2;\r\n0\r\n\r\n"), "\(answer)")
  }
}
