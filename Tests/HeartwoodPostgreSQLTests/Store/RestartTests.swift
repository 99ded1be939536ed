import Foundation
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// A server that is stopped, or crashes, and starts again while stores are open.
@Suite(.needsServer) struct RestartTests {
  private let bench: StoreBench

  init() throws {
    bench = try StoreBench(on: TestServer())
  }

  private func restart(crashing: Bool) throws {
    try bench.server.stop(crashing: crashing)
    try bench.server.start()
  }

  @Test(arguments: [false, true]) func aStoreGoesOnAfterARestart(crashing: Bool) throws {
    let (context, other) = (try bench.context(), try bench.context())
    let item = try bench.insert("Item", ["title": "Tea"], in: context)
    try context.save()
    #expect(try bench.titles(other) == ["Tea"])
    try restart(crashing: crashing)
    try item.setValue("Coffee", forKey: "title")
    try context.save()
    try restart(crashing: crashing)
    #expect(try bench.titles(other) == ["Coffee"])
    try bench.insert("Item", ["title": "Milk"], in: other)
    try other.save()
    #expect(try bench.titles(context) == ["Coffee", "Milk"])
    #expect(try findings() == [])
  }

  private func findings() throws -> [String] {
    try bench.withEngine { try $0.fileFaults(limit: 10) }
  }

  @Test func withoutAServerNothingIsSaved() throws {
    let context = try bench.context()
    let item = try bench.insert("Item", ["title": "Tea"], in: context)
    try context.save()
    try bench.server.stop()
    try item.setValue("Coffee", forKey: "title")
    #expect(bench.error { try context.save() }?.code == .fileReadFailed)
    #expect(bench.error { _ = try bench.titles(context, where: "title == 'Tea'") }?.code == .fileReadFailed)
    try bench.server.start()
    #expect(try bench.titles(try bench.context()) == ["Tea"])
    try context.save()
    #expect(try bench.titles(try bench.context()) == ["Coffee"])
  }

  /// In each part of a save: nothing of it is kept, or all of it, and the error is the truth.
  @Test(
    arguments: ["BEGIN ISOLATION LEVEL REPEATABLE READ, READ WRITE", "UPDATE \"", "COMMIT"],
    [false, true]
  )
  func aSaveDuringARestartIsDoneOrNot(_ statement: String, crashing: Bool) throws {
    let writer = try bench.context()
    let list = try bench.insert("List", ["name": "Home"], in: writer)
    try bench.insert("Item", ["title": "Tea", "list": list], in: writer)
    try writer.save()
    let interruption = Interruption(statement) { try restart(crashing: crashing) }
    let context = try bench.context(interruption.options)
    let item = try #require(try context.fetch(entityName: "Item").first)
    try item.setValue("Coffee", forKey: "title")
    try bench.insert("Item", ["title": "Milk", "list": item.value(forKey: "list") as Any], in: context)
    interruption.arm()
    let error = bench.error { try context.save() }
    #expect(interruption.isDone)
    #expect(try bench.titles(try bench.context()) == (error == nil ? ["Coffee", "Milk"] : ["Tea"]))
    if error != nil { try context.save() }
    #expect(try bench.titles(try bench.context()) == ["Coffee", "Milk"])
    #expect(try findings() == [])
  }
}
