import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodFormats

@Suite struct TableTests {
  private static func numbers() throws -> SampleStore {
    try SampleStore(ManagedObjectModel(entities: [.entity("Number", .attribute("value", .integer32, optional: true))]))
  }

  private static func group(_ store: SampleStore, _ numbers: Range<Int>) -> RowGroup {
    let builder = RowGroupBuilder(entity: store.model.entities[0])
    for number in numbers {
      builder.references.append(.integer(Int64(number)), entityOrdinal: 0)
      builder.columns[0].append(integer: Int64(number))
    }
    return builder.sealed()
  }

  @Test(arguments: [
    ([40_000, 65_536, 10], [40_000, 65_536, 10]), ([100, 200, 300], [600]),
    ([16_383, 16_384, 1, 2], [16_383, 16_384, 3]),
    ([16_000, 16_000, 16_000, 16_000, 16_000], [65_536, 14_464]),
  ])
  func groupsAreKeptOrMerged(counts: [Int], expected: [Int]) throws {
    let store = try Self.numbers()
    var next = 0
    let groups = counts.map { count in
      defer { next += count }
      return Self.group(store, next..<(next + count))
    }
    let contents = try store.contents { _ in }.replacing("Number", with: groups)
    let bytes = try store.write(contents)
    let table = try store.read(bytes).tables[0]
    #expect(table.groups.map(\.rowCount) == expected)
    let references = table.liveRows.map { table.reference($0) }
    #expect(references == (0..<next).map { .integer(Int64($0)) })
    #expect(try store.write(store.read(bytes)) == bytes)
  }

  @Test func deletedRowsAreLeftOut() throws {
    let store = try Self.numbers()
    var contents = try store.contents { _ in }.replacing("Number", with: [Self.group(store, 0..<20_000)])
    contents.tables[0].delete((0..<20_000).filter { $0 % 3 == 0 }.map { RowID(group: 0, row: $0) })
    let read = try store.read(try store.write(contents))
    let left: [ReferenceID] = (Int64(0)..<20_000).filter { $0 % 3 != 0 }.map { .integer($0) }
    #expect(read.records.map(\.reference) == left)
    #expect(read.tables[0].groups.allSatisfy { $0.liveness == nil })
  }

  @Test func entitiesAndPropertiesInAnotherOrder() throws {
    let golden = try GoldenSample.contents()
    let bytes = try GoldenSample.store().writeGroups(of: golden)
    let note = EntityDefinition.entity("Note", parent: "Item")
    var reordered = note
    reordered.properties = SampleModel.note.properties.reversed()
    let store = try SampleStore(
      ManagedObjectModel(
        entities: [SampleModel.tag, SampleModel.project, SampleModel.task, reordered, SampleModel.item],
        versionIdentifiers: ["1"]
      )
    )
    let read = try store.read(bytes)
    for entity in golden.entities {
      let other = try #require(read.model.entity(named: entity.name))
      let (expected, found) = (Array(golden.nodes(of: entity)), Array(read.nodes(of: other)))
      #expect(found.map(\.reference) == expected.map(\.reference))
      for (node, expectedNode) in zip(found, expected) {
        for property in entity.properties {
          #expect(node[property.name].names == expectedNode[property.name].names, "\(entity.name).\(property.name)")
        }
      }
    }
    #expect(try store.read(store.write(read)).records == read.records)
  }

  @Test func recordsThatTheModelDoesNotHave() throws {
    let bytes = try GoldenSample.store().write(GoldenSample.contents())
    var task = SampleModel.task
    task.properties.removeLast()
    var renamed = SampleModel.task
    renamed.properties[0] = .attribute("finished", .boolean)
    var changed = SampleModel.task
    changed.properties[1] = .attribute("order", .integer64)
    var missing = SampleModel.task
    missing.properties.append(.attribute("more", .string))
    for definition in [task, renamed, changed, missing] {
      let model = try ManagedObjectModel(
        entities: [SampleModel.item, SampleModel.note, definition, SampleModel.project, SampleModel.tag]
      )
      let error = try #require(DamageTests.refusal(of: bytes, by: try SampleStore(model)))
      #expect(error.code == .modelIncompatible && error.context.entity == "Task" && error.context.property != nil)
    }
    let configured = try ManagedObjectModel(
      entities: [SampleModel.item, SampleModel.note, SampleModel.task, SampleModel.project, SampleModel.tag],
      configurations: ["Some": ["Item", "Note", "Task", "Project"]]
    )
    let error = try #require(DamageTests.refusal(of: bytes, by: try SampleStore(configured, configuration: "Some")))
    #expect(error.code == .modelIncompatible && error.context.entity == "Tag")
  }

  @Test func aTransientPropertyMayComeAndGo() throws {
    let golden = try GoldenSample.contents()
    let bytes = try GoldenSample.store().write(golden)
    var task = SampleModel.task
    task.properties.insert(.attribute("isLate", .boolean, transient: true), at: 0)
    let model = try ManagedObjectModel(
      entities: [SampleModel.item, SampleModel.note, task, SampleModel.project, SampleModel.tag]
    )
    let read = try SampleStore(model).read(bytes)
    let tasks = try read.nodes(of: #require(model.entity(named: "Task"))).map { $0["order"] }
    #expect(tasks == (0..<9).map { .integer($0 * 10) })
  }

  @Test func whatCannotBeReadBackIsNotWritten() throws {
    let store = try SampleStore(SampleModel.make())
    let (project, tag) = (
      try #require(store.model.entity(named: "Project")), try #require(store.model.entity(named: "Tag"))
    )
    let contents = try store.contents { loader in
      try loader.addNode(.integer(1), to: project) { node in
        try node.setValue(.toMany([loader.objectID(.integer(1), of: tag)]), forKey: "items")
      }
    }
    #expect { try store.write(contents) } throws: { error in
      guard let error = error as? PersistenceError else { return false }
      return error.code == .valueUnsupported && error.context.property == "items"
    }
  }

  @Test(arguments: 0..<24)
  func randomTables(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let store = try SampleStore(SampleModel.make())
    let contents = try RandomContents.make(store, &generator)
    let bytes = try store.writeGroups(of: contents)
    let read = try store.read(bytes)
    #expect(read.records == contents.records, "seed \(seed)")
    #expect(try store.writeGroups(of: read) == bytes, "seed \(seed)")
    #expect(try store.read(store.write(contents)).records == contents.records, "seed \(seed)")
  }
}
