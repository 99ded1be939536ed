import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// Batch requests, which are statements where that does just the same.
@Suite(.needsServer) struct BatchTests {
  private let bench: StoreBench

  init() throws {
    bench = try StoreBench()
  }

  /// Two lists of three items, of which one is the favourite of its list, with two tags.
  private func fill() throws {
    let context = try bench.context()
    let tags = try ["x", "y"].map { try bench.insert("Tag", ["name": $0], in: context) }
    for name in ["A", "B"] {
      let list = try bench.insert("List", ["name": name], in: context)
      for number in 0..<3 {
        let item = try bench.insert("Item", ["title": "\(name)\(number)", "count": number, "list": list], in: context)
        try item.setValue(Set(tags.prefix(number)), forKey: "tags")
        if number == 0 { try list.setValue(item, forKey: "favourite") }
      }
    }
    try context.save()
  }

  private func rows(_ query: String) throws -> [String] {
    var rows: [String] = []
    try bench.otherClient().execute(query).forEachRow { row in
      rows.append(
        (0..<row.count).map { index in row[index].map { String(decoding: $0, as: UTF8.self) } ?? "-" }.joined(
          separator: " "
        )
      )
    }
    return rows
  }

  @Test func recordsAreChangedByOneStatement() throws {
    try fill()
    let log = StatementLog()
    let context = try bench.context(log.options)
    log.clear()
    let due = Date(timeIntervalSinceReferenceDate: 0.123_456_789)
    let request = BatchUpdateRequest(
      entityName: "Item",
      where: try FetchPredicate(format: "count > 0 AND list.name == 'A'"),
      propertiesToUpdate: [
        "count": FetchExpression.constant(.integer(9)), "due": FetchExpression.constant(.date(due)),
        "title": FetchExpression.constant(.null),
      ]
    )
    #expect(try context.persistentStoreCoordinator.execute(request).count == 2)
    #expect(log.beginning(with: "UPDATE \"").count == 1)
    #expect(log.beginning(with: "COPY").isEmpty && log.beginning(with: "SELECT r.id").isEmpty)
    #expect(
      try rows("SELECT title, count, version FROM item ORDER BY count, title")
        == ["A0 0 1", "B0 0 1", "B1 1 1", "B2 2 1", "- 9 2", "- 9 2"]
    )
    let found = try bench.context().fetch(entityName: "Item").compactMap { try $0.value(forKey: "due") as? Date }
    #expect(found == [due, due])
  }

  @Test func whatIsKnownIsAsItWasChanged() throws {
    try fill()
    let context = try bench.context()
    let known = try bench.titles(context, where: "title == 'A1'")
    #expect(known == ["A1"])
    let request = BatchUpdateRequest(
      entityName: "Item",
      propertiesToUpdate: ["title": FetchExpression.constant(.string("T"))]
    )
    #expect(try context.persistentStoreCoordinator.execute(request).count == 6)
    #expect(try bench.titles(context, where: "title == 'T'").count == 6)
  }

  @Test func whatSQLCannotSayGoesThroughMemory() throws {
    try fill()
    let log = StatementLog()
    let context = try bench.context(log.options)
    let request = BatchUpdateRequest(
      entityName: "Item",
      where: try FetchPredicate(format: "title LIKE[c] 'a*'"),
      propertiesToUpdate: ["count": FetchExpression.constant(.integer(9))]
    )
    log.clear()
    #expect(try context.persistentStoreCoordinator.execute(request).count == 3)
    #expect(try rows("SELECT title FROM item WHERE count = 9 ORDER BY title") == ["A0", "A1", "A2"])
    let unique = BatchUpdateRequest(
      entityName: "Item",
      propertiesToUpdate: ["code": FetchExpression.constant(.string("c"))]
    )
    #expect(bench.error { _ = try context.persistentStoreCoordinator.execute(unique) }?.code == .constraintConflict)
  }

  @Test func recordsAreDeletedAndWhatLedToThemIsUnlinked() throws {
    try fill()
    let log = StatementLog()
    let context = try bench.context(log.options)
    log.clear()
    let request = BatchDeleteRequest(entityName: "List", where: try FetchPredicate(format: "name == 'A'"))
    #expect(try context.persistentStoreCoordinator.execute(request).count == 1)
    #expect(log.beginning(with: "DELETE").count == 1)
    #expect(log.beginning(with: "COPY").isEmpty && log.beginning(with: "SELECT r.id").isEmpty)
    #expect(
      try rows("SELECT title, list_id IS NULL, favourite_of_id IS NULL, version > 1 FROM item ORDER BY title")
        == ["A0 t t t", "A1 t t t", "A2 t t t", "B0 f f f", "B1 f t f", "B2 f t f"]
    )
  }

  @Test func pairsGoWithTheirRecords() throws {
    try fill()
    let context = try bench.context()
    let request = BatchDeleteRequest(entityName: "Tag", where: try FetchPredicate(format: "name == 'x'"))
    #expect(try context.persistentStoreCoordinator.execute(request).count == 1)
    #expect(
      try rows(
        "SELECT title, version, (SELECT count(*) FROM item_tags j WHERE j.item_id = i.id) FROM item i ORDER BY title"
      )
        == ["A0 1 0", "A1 2 0", "A2 2 1", "B0 1 0", "B1 2 0", "B2 2 1"]
    )
  }

  @Test func deletionsInSQLAreThoseInMemory() throws {
    try fill()
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: bench.model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let memory = ManagedObjectContext(coordinator)
    let copies = try copy(to: memory)
    for (entity, format) in [("Item", "title ENDSWITH '1' OR count == 0"), ("List", "name == 'B'")] {
      let request = BatchDeleteRequest(entityName: entity, where: try FetchPredicate(format: format))
      let context = try bench.context()
      let done = try context.persistentStoreCoordinator.execute(request)
      #expect(try coordinator.execute(request).count == done.count)
    }
    #expect(try summary(try bench.context()) == summary(ManagedObjectContext(coordinator)))
    #expect(copies > 0)
  }

  /// The same records in another context, whose number is returned.
  private func copy(to memory: ManagedObjectContext) throws -> Int {
    let context = try bench.context()
    var copies: [ManagedObjectID: ManagedObject] = [:]
    let all = try ["List", "Item", "Tag"].flatMap { try context.fetch(entityName: $0) }
    for object in all { copies[object.objectID] = try memory.insert(entityName: object.entity.name) }
    for object in all {
      let copy = copies[object.objectID]
      for attribute in object.entity.attributes {
        try copy?.setValue(object.value(forKey: attribute.name), forKey: attribute.name)
      }
      if object.entity.name == "Item" {
        for name in ["list", "favouriteOf"] {
          try copy?.setValue(
            (object.value(forKey: name) as? ManagedObject).flatMap { copies[$0.objectID] },
            forKey: name
          )
        }
        let tags = try (object.value(forKey: "tags") as? Set<ManagedObject>) ?? []
        try copy?.setValue(Set(tags.compactMap { copies[$0.objectID] }), forKey: "tags")
      }
    }
    try memory.save()
    return copies.count
  }

  /// What there is, in words.
  private func summary(_ context: ManagedObjectContext) throws -> [String] {
    func name(_ object: ManagedObject?, _ key: String) throws -> String {
      try object.map { try $0.value(forKey: key) as? String ?? "" } ?? "-"
    }
    let lists = try context.fetch(entityName: "List").map { list in
      "\(try name(list, "name")) \(try name(list.value(forKey: "favourite") as? ManagedObject, "title"))"
    }
    let items = try context.fetch(entityName: "Item").map { item in
      let tags = try (item.value(forKey: "tags") as? Set<ManagedObject> ?? []).map { try name($0, "name") }
      return "\(try name(item, "title")) \(try name(item.value(forKey: "list") as? ManagedObject, "name")) "
        + "\(try name(item.value(forKey: "favouriteOf") as? ManagedObject, "name")) \(tags.sorted())"
    }
    return (lists + items).sorted()
  }
}
