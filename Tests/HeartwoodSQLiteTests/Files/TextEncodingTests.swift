import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// Files whose text is not UTF-8, which Core Data makes none of.
@Suite struct TextEncodingTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench(ManagedObjectModel(entities: [.entity("Note", .attribute("text", .string))]))
  }

  /// A context over notes with texts, in a file in UTF-16.
  private func contextOfUTF16(_ texts: [String]) throws -> ManagedObjectContext {
    let context = try bench.context("Old.sqlite")
    for text in texts { try context.insert(entityName: "Note").setValue(text, forKey: "text") }
    try context.save()
    context.persistentStoreCoordinator.close()
    let old = try DatabaseQueue(path: bench.url("Old.sqlite").path)
    let new = try DatabaseQueue(path: bench.url("New.sqlite").path)
    try new.writeWithoutTransaction { try $0.execute(sql: "PRAGMA encoding = 'UTF-16'") }
    try old.read { db in
      let tables = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
      for table in tables {
        let (name, text): (String, String) = (table[0], table[1])
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM \(name)")
        try new.write { db in
          try db.execute(sql: text)
          for row in rows {
            let places = row.databaseValues.map { _ in "?" }.joined(separator: ", ")
            let arguments = StatementArguments(Array(row.databaseValues))
            try db.execute(sql: "INSERT INTO \(name) VALUES (\(places))", arguments: arguments)
          }
        }
      }
    }
    try old.close()
    try new.close()
    return try bench.context("New.sqlite")
  }

  @Test func conditionsAndOrdersOfTextAreThoseOfMemory() throws {
    let context = try contextOfUTF16(["b\u{1F600}", "é", "Z", "b\u{FFFD}"])
    func texts(_ format: String?) throws -> [String] {
      let predicate = try format.map { try FetchPredicate(format: $0) }
      let sorts = [FetchSortDescriptor("text")]
      let request = FetchRequest<ManagedObject>(entityName: "Note", where: predicate, sortedBy: sorts)
      return try context.fetch(request).compactMap { try $0.value(forKey: "text") as? String }
    }
    #expect(try texts(nil) == ["Z", "b\u{FFFD}", "b\u{1F600}", "é"])
    #expect(try texts("text BEGINSWITH 'b'").count == 2)
    #expect(try texts("text ENDSWITH[c] 'z'") == ["Z"])
    #expect(try texts("text ==[cd] 'E'") == ["é"])
    #expect(try texts("text LIKE '?\u{FFFD}'") == ["b\u{FFFD}"])
    #expect(try texts("lowercase(text) == 'z' OR length(text) > 1").count == 3)
  }

  @Test func itIsNotWritten() throws {
    let context = try contextOfUTF16(["a"])
    try context.insert(entityName: "Note").setValue("b", forKey: "text")
    do {
      try context.save()
      Issue.record("The file was written.")
    } catch {
      let error = error as? PersistenceError
      #expect(error?.code == .storeReadOnly && error?.message.contains("UTF-16") == true)
    }
  }

  @Test func anotherEncodingIsNotAskedFor() throws {
    var options = StoreOptions()
    options[.sqlitePragmas] = ["Encoding": "UTF16"]
    let error = #expect(throws: PersistenceError.self) { try bench.context("New.sqlite", options: options) }
    #expect(error?.code == .valueUnsupported)
  }
}
