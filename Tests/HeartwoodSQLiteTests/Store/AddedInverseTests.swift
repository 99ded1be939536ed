import Foundation
import GRDB
import Heartwood
import Testing

@testable import HeartwoodSQLite

/// Models whose to-many relationships get inverses, and stores that come to them.
@Suite struct AddedInverseTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [
        .entity(
          "Note",
          .attribute("text", .string),
          .toMany("tags", "Tag", inverse: nil, ordered: true),
          .toMany("next", "Note", inverse: nil),
          .toOne("folder", "Folder", inverse: "notes")
        ),
        .entity("Tag", .attribute("name", .string), .attribute("inverseOfNoteTags", .string, optional: true)),
        .entity("Folder", .toMany("notes", "Note", inverse: "folder"), .toOne("owner", "Tag", inverse: nil)),
      ],
      configurations: ["Main": ["Note", "Tag", "Folder"]],
      versionIdentifiers: ["7"]
    )
  }

  @Test func toManyRelationshipsGetThemUnderFreeNames() throws {
    let (model, added) = try Self.model().addingInverses()
    #expect(added.map { "\($0.entityName).\($0.relationshipName)" } == ["Note.tags", "Note.next"])
    #expect(
      added.map { "\($0.inverseEntityName).\($0.inverseName)" } == ["Tag.inverseOfNoteTags2", "Note.inverseOfNoteNext"]
    )
    let tags = try #require(model.entity(named: "Note")?.relationshipsByName["tags"])
    #expect(tags.inverseRelationshipName == "inverseOfNoteTags2" && tags.isOrdered)
    let inverse = try #require(model.entity(named: "Tag")?.relationshipsByName["inverseOfNoteTags2"])
    #expect(inverse.isToMany && inverse.isOptional && inverse.inverseRelationshipName == "tags")
    #expect(model.entity(named: "Folder")?.relationshipsByName["owner"]?.inverseRelationshipName == nil)
    #expect(model.configurations == ["Main": ["Note", "Tag", "Folder"]] && model.versionIdentifiers == ["7"])
    let again = try model.addingInverses()
    #expect(again.added.isEmpty && again.model === model)
  }

  @Test func aRecordOfSeveralOwnersKeepsAllOfThem() throws {
    let bench = try SQLiteBench(try Self.model())
    let coordinator = try bench.coordinator()
    let source = bench.url("Notes.heartwood")
    try coordinator.addPersistentStore(type: .binary, at: source)
    let context = ManagedObjectContext(coordinator)
    let tags = try ["x", "y"].map { name in
      let tag = try context.insert(entityName: "Tag")
      try tag.setValue(name, forKey: "name")
      return tag
    }
    for (text, owned) in [("a", [tags[1], tags[0]]), ("b", [tags[0]]), ("c", [])] {
      let note = try context.insert(entityName: "Note")
      try note.setValue(text, forKey: "text")
      try note.setValue(owned, forKey: "tags")
    }
    try context.save()
    let store = try #require(coordinator.persistentStores.first)
    let refusal = bench.error { _ = try coordinator.convert(store, to: bench.url("Refused.sqlite"), type: .sqlite) }
    #expect(refusal?.code == .valueUnsupported)
    #expect(refusal?.recovery?.text.contains("--add-inverses") == true)
    coordinator.close()

    let (model, _) = try Self.model().addingInverses()
    let migration = try SQLiteBench.coordinator(model).migration(
      ofStoreAt: source,
      type: .binary,
      options: StoreOptions()
    )
    try #require(migration).run(to: bench.url(), type: .sqlite)
    let migrated = try SQLiteBench.coordinator(model)
    try migrated.addPersistentStore(type: .sqlite, at: bench.url())
    let fresh = ManagedObjectContext(migrated)
    let read = try Dictionary(
      grouping: fresh.fetch(FetchRequest<ManagedObject>(entityName: "Note")),
      by: { try text($0) }
    )
    #expect(try read.mapValues { try names($0, "tags", "name") } == ["a": ["y", "x"], "b": ["x"], "c": []])
    let owners = try fresh.fetch(
      FetchRequest<ManagedObject>(entityName: "Tag", sortedBy: [FetchSortDescriptor("name")])
    )
    #expect(try owners.map { try names([$0], "inverseOfNoteTags2", "text").sorted() } == [["a", "b"], ["a"]])
    migrated.close()
    #expect(try bench.integrity() == "ok")
  }

  private func text(_ note: ManagedObject) throws -> String { try note.value(forKey: "text") as? String ?? "" }

  /// The names of the objects that the only one of `owners` leads to.
  private func names(_ owners: [ManagedObject], _ relationship: String, _ key: String) throws -> [String] {
    #expect(owners.count == 1)
    let value = try owners.first?.value(forKey: relationship)
    let objects = (value as? [ManagedObject]) ?? (value as? Set<ManagedObject>).map(Array.init) ?? []
    return try objects.map { try $0.value(forKey: key) as? String ?? "" }
  }
}
