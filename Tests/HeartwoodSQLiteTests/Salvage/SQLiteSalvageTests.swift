import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// What is left of damaged SQLite files.
@Suite struct SQLiteSalvageTests {
  private let bench: SQLiteBench
  private static let itemCount = 600

  init() throws {
    bench = try SQLiteBench(
      try ManagedObjectModel(entities: [
        .entity("List", .attribute("name", .string), .toMany("items", "Item", inverse: "list")),
        .entity(
          "Item",
          .attribute("title", .string),
          .attribute("rank", .integer16, optional: true),
          .attribute(
            AttributeDescription(
              name: "picture",
              type: .binary,
              isOptional: true,
              allowsExternalBinaryDataStorage: true
            )
          ),
          .toOne("list", "List", inverse: "items", optional: true),
          .toMany("tags", "Tag", inverse: "items")
        ),
        .entity("Tag", .attribute("name", .string), .toMany("items", "Item", inverse: "tags")),
      ])
    )
  }

  /// Writes lists of 20 items; every hundredth item has a long picture, and the first a longer one beside the file.
  private func write() throws {
    let context = try bench.context()
    let tag = try context.insert(entityName: "Tag")
    try tag.setPropertyValue(.string("tag"), forKey: "name")
    var list: ManagedObject?
    for number in 0..<Self.itemCount {
      if number % 20 == 0 {
        let next = try context.insert(entityName: "List")
        try next.setPropertyValue(.string("list \(number / 20)"), forKey: "name")
        list = next
      }
      let item = try context.insert(entityName: "Item")
      try item.setPropertyValue(.string("item \(number) " + String(repeating: "x", count: 40)), forKey: "title")
      try item.setPropertyValue(.integer(Int64(number)), forKey: "rank")
      if let list { try item.setPropertyValue(.toOne(list.objectID), forKey: "list") }
      if number % 100 == 0 {
        let length = number == 0 ? 200_000 : 9_000
        try item.setPropertyValue(.binary(Data(repeating: UInt8(number / 100 + 1), count: length)), forKey: "picture")
      }
      if number % 50 == 0 { try item.setPropertyValue(.toMany([tag.objectID]), forKey: "tags") }
    }
    try context.save()
    context.persistentStoreCoordinator.close()
    try SQLiteStore.checkpoint(storeAt: bench.url().path)
  }

  private func salvage() throws -> (report: SalvageReport, contents: StoreContents) {
    let coordinator = try bench.coordinator()
    let target = bench.url("rescued.heartwood")
    let report = try coordinator.salvageStore(
      at: bench.url(),
      type: .sqlite,
      to: target,
      destinationType: .binary,
      replacing: true
    )
    let store = try coordinator.addPersistentStore(type: .binary, at: target)
    return (report, try store.engine.contents())
  }

  private func execute(_ statements: String...) throws {
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.writeWithoutTransaction { db in
      for statement in statements { try db.execute(sql: statement) }
    }
    try queue.close()
  }

  private func titles(_ contents: StoreContents) throws -> [Int64: PropertyValue] {
    let item = try #require(bench.model.entity(named: "Item"))
    return Dictionary(
      uniqueKeysWithValues: contents.nodes(of: item).compactMap { node in
        if case .integer(let key) = node.reference { (key, node["title"]) } else { nil }
      }
    )
  }

  @Test func aMissingFileBesideTheStoreCostsItsValue() throws {
    try write()
    try FileManager.default.removeItem(at: bench.scratch.url.appending(path: ".Store_SUPPORT/_EXTERNAL_DATA"))
    let (report, contents) = try salvage()
    #expect(report.losses.count == 1, "\(report.losses)")
    let loss = try #require(report.losses.first)
    #expect((loss.kind, loss.entity, loss.property, loss.count) == (.values, "Item", "picture", 1))
    #expect(loss.references.count == 1)
    #expect(try titles(contents).count == Self.itemCount)
  }

  @Test func valuesThatCannotBeReadCostThemselves() throws {
    try write()
    try execute(
      "UPDATE ZITEM SET ZRANK = 70000 WHERE Z_PK = 7",
      "UPDATE ZITEM SET ZTITLE = CAST(x'FFFE' AS TEXT) WHERE Z_PK = 9",
      "UPDATE ZITEM SET ZRANK = 70000, ZTITLE = CAST(x'FFFE' AS TEXT) WHERE Z_PK = 11"
    )
    let (report, contents) = try salvage()
    #expect(report.lostValueCount == 4, "\(report.losses)")
    #expect(report.lostRecordCount == 0)
    #expect(report.recordCount == Self.itemCount + Self.itemCount / 20 + 1)
    let item = try #require(bench.model.entity(named: "Item"))
    let node = try #require(try contents.node(.integer(11), of: item))
    #expect(node["rank"].isNull && node["title"].isNull && !node["list"].isNull)
  }

  @Test func rowsOfNoEntityAndLinksToNothingAreReported() throws {
    try write()
    try execute(
      "UPDATE ZITEM SET Z_ENT = 77 WHERE Z_PK = 5",
      "DELETE FROM ZITEM WHERE Z_PK = 51",
      "DELETE FROM ZLIST WHERE Z_PK = 4"
    )
    let (report, _) = try salvage()
    #expect(report.count(of: .records) == 1, "\(report.losses)")
    let links = report.losses.filter { $0.kind == .links }
    // The tag's pair with the item that is gone, and the items of the list that is gone.
    #expect(links.filter { $0.property == "list" }.count == 20, "\(links)")
    #expect(links.contains { ["tags", "items"].contains($0.property) }, "\(links)")
    #expect(report.recordCount == Self.itemCount - 2 + Self.itemCount / 20)
  }

  @Test func aMissingTableCostsItsRecords() throws {
    try write()
    try execute("DROP TABLE ZTAG")
    let (report, contents) = try salvage()
    #expect(try titles(contents).count == Self.itemCount)
    #expect(report.hasUncountedLosses)
    #expect(report.losses.contains { $0.kind == .records && $0.entity == "Tag" }, "\(report.losses)")
  }

  @Test func aDamagedPageCostsItsRows() throws {
    try write()
    let whole = try Data(contentsOf: bench.url())
    let original = try titles(try salvage().contents)
    #expect(original.count == Self.itemCount)
    let pageSize = 4_096
    var (salvaged, lostRows) = (0, 0)
    for page in 1..<(whole.count / pageSize) {
      var bytes = whole
      bytes.replaceSubrange((page * pageSize)..<((page + 1) * pageSize), with: Data(repeating: 0xFF, count: pageSize))
      try bytes.write(to: bench.url())
      guard let (report, contents) = try? salvage() else { continue }
      salvaged += 1
      let reported = Set(report.losses.filter { $0.property == "title" }.flatMap(\.references))
      let left = try titles(contents)
      for (key, title) in left where !reported.contains(.integer(key)) {
        #expect(title == original[key], "page \(page + 1), row \(key)")
      }
      if !report.hasUncountedLosses {
        let lost = report.losses.filter { $0.kind == .records && $0.entity == "Item" }.reduce(0) {
          $0 + ($1.count ?? 0)
        }
        #expect(left.count + lost == Self.itemCount, "page \(page + 1): \(report)")
        if lost > 0 { lostRows += 1 }
      }
      #expect(try ContentsValidation.findings(in: contents, limit: 3).allSatisfy { $0.message.contains("required") })
    }
    // Most pages are of rows, of values and of indexes, and none of these is needed for the others.
    #expect(salvaged > whole.count / pageSize / 2, "\(salvaged)")
    #expect(lostRows > 5, "\(lostRows)")
  }

  @Test func aFileThatWasCutShortGivesItsFirstPages() throws {
    try write()
    let whole = try Data(contentsOf: bench.url())
    let original = try titles(try salvage().contents)
    var greatest = 0
    for length in stride(from: 5_000, to: whole.count, by: 7_000) {
      try whole.prefix(length).write(to: bench.url())
      guard let (report, contents) = try? salvage() else { continue }
      #expect(!report.isComplete)
      let reported = Set(report.losses.filter { $0.property == "title" }.flatMap(\.references))
      let left = try titles(contents)
      for (key, title) in left where !reported.contains(.integer(key)) { #expect(title == original[key]) }
      greatest = max(greatest, left.count)
    }
    #expect(greatest > Self.itemCount / 2, "\(greatest)")
  }
}
