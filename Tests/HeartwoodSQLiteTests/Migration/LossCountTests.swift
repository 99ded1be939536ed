import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// What a migration would lose, counted in SQL and in memory.
@Suite struct LossCountTests {
  @Test func aLossIsTheSameErrorAndTheSameCounts() throws {
    let old = try ManagedObjectModel(entities: [
      .entity(
        "Note",
        .attribute("name", .string, optional: true),
        .attribute("count", .integer64, optional: true),
        .toMany("tags", "Tag", inverse: "notes"),
        .toMany("pages", "Page", inverse: "note"),
        .toOne("cover", "Page", inverse: nil)
      ),
      .entity("Page", .attribute("number", .integer16, optional: true), .toOne("note", "Note", inverse: "pages")),
      .entity("Tag", .toMany("notes", "Note", inverse: "tags")), .entity("Empty", .attribute("name", .string)),
    ])
    let new = try ManagedObjectModel(entities: [
      .entity("Note", .attribute("name", .string, optional: true)), .entity("Page"),
    ])
    var migration = try TwoWayMigration(from: old, to: new) { context in
      let page = try context.insert(entityName: "Page")
      let notes = try (1...3).map { _ in try context.insert(entityName: "Note") }
      try page.setValue(7, forKey: "number")
      try page.setValue(notes[0], forKey: "note")
      try notes[1].setValue(page, forKey: "cover")
      try notes[2].setValue(0, forKey: "count")
      for note in notes.dropFirst() { try note.setValue([try context.insert(entityName: "Tag")], forKey: "tags") }
    }
    migration.options[.allowsMigrationLoss] = nil
    let lines = [
      "Tag: 2 records left out: nothing is made of them", "Note.count: 1 record with a value that is left out",
      "Note.tags: 2 records with a value that is left out", "Note.pages: 1 record with a value that is left out",
      "Note.cover: 1 record with a value that is left out", "Page.number: 1 record with a value that is left out",
      "Page.note: 1 record with a value that is left out",
    ]
    for inStore in [true, false] {
      migration.options[.migratesInStore] = inStore
      let report = try #require(try migration.migration(migration.options)).dryRun()
      #expect(report.isDoneInStore == inStore)
      #expect(report.losses.map { "\($0)" } == lines)
      #expect(report.obstacles == report.losses)
    }
    migration.options[.migratesInStore] = true
    #expect(try migration.run() == nil)
    migration.options[.allowsMigrationLoss] = true
    #expect(try migration.run() == true)
  }
}
