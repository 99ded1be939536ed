import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Records that do not fit together, in files that are whole.
@Suite struct SalvagedLinksTests {
  private let fixture: SalvageFixture

  init() throws {
    fixture = try SalvageFixture(SalvageFixture.Kind(storeClass: BinaryStore.self))
  }

  private func salvage(_ contents: StoreContents) throws -> SalvageFixture.Outcome {
    try #require(try fixture.salvage(fixture.bytes(of: contents), "whole"))
  }

  private func ordinals(_ names: String...) throws -> [Int] {
    try names.map { try #require(fixture.storeManager.model.entity(named: $0)).ordinal }
  }

  @Test func linksToNothingAreDroppedAndReported() throws {
    var contents = try fixture.original(8)
    let item = try ordinals("Item")[0]
    let all = contents.tables[item]
    let gone = try #require(try all.row(of: .integer(5)))
    contents.tables[item] = try all.keeping { $0 != gone }
    let outcome = try salvage(contents)
    #expect(outcome.report.droppedLinkCount == 1, "\(outcome.report.losses)")
    let loss = try #require(outcome.report.losses.first)
    #expect((loss.kind, loss.entity, loss.property, loss.references) == (.links, "List", "items", [.integer(2)]))
    #expect(loss.reason == "It refers to Item 5, which does not exist.")
    let list = try #require(fixture.storeManager.model.entity(named: "List"))
    let items = try #require(try outcome.contents.node(.integer(2), of: list))["items"].objectIDs.map(\.reference)
    #expect(items == [.integer(4), .integer(6), .integer(7)])
    #expect(try ContentsValidation.findings(in: outcome.contents, limit: 9).isEmpty)
  }

  @Test func anEndThatIsSilentFollowsTheOther() throws {
    let contents = try emptied("list", of: "Item")
    let outcome = try salvage(contents)
    #expect(outcome.report.restoredLinkCount == 8, "\(outcome.report.losses)")
    #expect(outcome.report.droppedLinkCount == 0)
    #expect(SalvageFixture.records(outcome.contents) == SalvageFixture.records(try fixture.original(8)))
  }

  /// The records without the links of a property.
  private func emptied(_ property: String, of entityName: String) throws -> StoreContents {
    var contents = try fixture.original(8)
    let entity = try #require(fixture.storeManager.model.entity(named: entityName))
    let ordinal = try #require(entity.ordinal(ofProperty: property))
    let table = contents.tables[entity.ordinal]
    let groups = table.groups.map { group in
      let builder = ColumnBuilder(kind: group.columns[ordinal].kind)
      for _ in 0..<group.rowCount { builder.appendNull() }
      var columns = group.columns
      columns[ordinal] = builder.sealed()
      return RowGroup(references: group.references, versions: group.versions, columns: columns)
    }
    contents.tables[entity.ordinal] = NodeTable(entity: entity, groups: groups)
    return contents
  }

  @Test func endsThatContradictEachOtherLoseTheLink() throws {
    var contents = try fixture.original(8)
    let item = try #require(fixture.storeManager.model.entity(named: "Item"))
    let list = try #require(fixture.storeManager.model.entity(named: "List"))
    let row = try #require(try contents.tables[item.ordinal].row(of: .integer(1)))
    let ordinal = try #require(item.ordinal(ofProperty: "list"))
    let other = contents.objectID(.integer(2), of: list)
    contents.tables[item.ordinal].update([.init(row: row, values: [(ordinal, .toOne(other))])])
    let outcome = try salvage(contents)
    // The item says the second list, the first list says the item: nobody knows which is right.
    #expect(outcome.report.droppedLinkCount == 2, "\(outcome.report.losses)")
    let node = try #require(try outcome.contents.node(.integer(1), of: item))
    #expect(node["list"].isNull)
    // What was required and is missing is kept, and told once.
    #expect(outcome.report.invalidRecordCount == 0)
    #expect(outcome.report.recordCount == contents.count)
  }

  @Test func invalidRecordsAreKeptAndReported() throws {
    var contents = try fixture.original(8)
    let item = try #require(fixture.storeManager.model.entity(named: "Item"))
    let row = try #require(try contents.tables[item.ordinal].row(of: .integer(3)))
    let title = try #require(item.ordinal(ofProperty: "title"))
    contents.tables[item.ordinal].update([.init(row: row, values: [(title, .null)])])
    let outcome = try salvage(contents)
    #expect(outcome.report.invalidRecordCount == 1)
    #expect(outcome.report.recordCount == contents.count)
    #expect(outcome.report.losses.map(\.kind) == [.invalidRecords])
    #expect(!outcome.report.isComplete)
  }

  @Test func theSourceIsNeverTheDestination() throws {
    _ = try fixture.bytes(of: try fixture.original(4))
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: fixture.storeManager.model,
      registry: fixture.storeManager.registry
    )
    let url = URL(filePath: fixture.path("damaged.store"))
    let error = try #require(throws: PersistenceError.self) {
      try coordinator.salvageStore(at: url, type: .binary, to: url, destinationType: .binary, replacing: true)
    }
    #expect(error.code == .fileExists)
  }
}
