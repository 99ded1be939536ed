import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// What is wrong with a file and does not show when all records are read.
@Suite struct ExaminationTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench()
  }

  private func faults(limit: Int = 10) throws -> [String] {
    var options = StoreOptions()
    options[.isReadOnly] = true
    let coordinator = try bench.coordinator()
    let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.url(), options: options)
    defer { coordinator.close() }
    #expect(try store.engine.contents().count == 2)
    return try store.engine.fileFaults(limit: limit)
  }

  /// Takes all rows out of an index.
  private func emptyIndex(_ name: String) throws {
    let root = try #require(
      try bench.query { db in
        try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [name])
      }
    )
    var bytes = try Data(contentsOf: bench.url())
    let start = (root - 1) * 4096
    try #require(bytes[start] == 0x0A, "a leaf of an index")
    // No free block, no cell, and cells that begin at the end of the page.
    bytes.replaceSubrange(start + 1..<start + 8, with: [0, 0, 0, 0, 0x10, 0, 0])
    try bytes.write(to: bench.url())
  }

  /// SQLite takes what the last page lacks for zeros, and finds nothing wrong.
  @Test(arguments: [1, 100, 4_000, 5_000])
  func aFileThatWasCutShortIsNotOpened(_ count: Int) throws {
    try bench.makeStore(items: ["a": nil, "b": Data([1])])
    let whole = try Data(contentsOf: bench.url())
    try whole.dropLast(count).write(to: bench.url())
    for isReadOnly in [true, false] {
      var options = StoreOptions()
      options[.isReadOnly] = isReadOnly
      let error = bench.error { _ = try bench.context(options: options) }
      #expect(
        error?.code == .fileCorrupt && error?.context.byteOffset == whole.count - count,
        "\(error?.message ?? "")"
      )
    }
    #expect(bench.error { _ = try SQLiteFile.inspect(atPath: bench.url().path) { _ in } }?.code == .fileCorrupt)
    #expect(try Data(contentsOf: bench.url()).count == whole.count - count)
  }

  @Test func aSoundFileHasNone() throws {
    try bench.makeStore(items: ["a": nil, "b": Data([1])])
    #expect(try faults().isEmpty)
  }

  /// The program that made the index may have had the function.
  @Test func anIndexOfAFunctionThatIsNotHereIsLeftAlone() throws {
    try bench.makeStore(items: ["a": nil, "b": Data([1])])
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { db in
      db.add(function: DatabaseFunction("NSOther", argumentCount: 1, pure: true) { $0[0] })
      try db.execute(sql: "CREATE INDEX other ON ZPART (NSOther(Z_PK))")
    }
    try queue.close()
    #expect(try faults().isEmpty)
    try emptyIndex("Z_Item_UNIQUE_name")
    #expect(try faults().contains { $0.contains("missing from index Z_Item_UNIQUE_name") })
  }

  @Test func anIndexThatLacksRowsIsTold() throws {
    try bench.makeStore(items: ["a": nil, "b": Data([1])])
    try emptyIndex("Z_Item_UNIQUE_name")
    let faults = try faults()
    #expect(faults.contains { $0.contains("missing from index Z_Item_UNIQUE_name") }, "\(faults)")
    #expect(try self.faults(limit: 1).count == 1)
  }
}
