import Foundation
import GRDB
import Heartwood
import Synchronization
import Testing

@testable import HeartwoodSQLite

@Suite("SQLite files in which triggers keep derived attributes for Core Data")
struct DerivedTriggerTests {
  private let bench: SQLiteBench

  private static func model(_ derivation: String = "notes.@count") throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Folder",
        .attribute("name", .string),
        .attribute(
          AttributeDescription(
            name: "size",
            type: .integer64,
            isOptional: true,
            derivationExpression: try FetchExpression(format: derivation)
          )
        ),
        .toMany("notes", "Note", inverse: "folder")
      ),
      .entity("Note", .attribute("weight", .integer64), .toOne("folder", "Folder", inverse: "notes")),
    ])
  }

  init() throws { bench = try SQLiteBench(try Self.model()) }

  private func insertNotes(_ count: Int, in folder: ManagedObject?, _ context: ManagedObjectContext) throws {
    for weight in 0..<count {
      let note = try context.insert(entityName: "Note")
      try note.setValue(Int64(weight), forKey: "weight")
      try note.setValue(folder, forKey: "folder")
    }
  }

  private func insertFolder(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    let folder = try context.insert(entityName: "Folder")
    try folder.setValue(name, forKey: "name")
    return folder
  }

  private var sizes: [String: Int] {
    get throws {
      let rows = try bench.query { try Row.fetchAll($0, sql: "SELECT ZNAME, ZSIZE FROM ZFOLDER") }
      return Dictionary(uniqueKeysWithValues: rows.map { ($0["ZNAME"], $0["ZSIZE"]) })
    }
  }

  private var triggerNames: Set<String> {
    get throws {
      try bench.query { try String.fetchSet($0, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'") }
    }
  }

  /// Lets SQL change the file as Core Data does, which has the functions that triggers call.
  private func asCoreData(_ statements: String...) throws -> Int {
    let queue = try DatabaseQueue(path: bench.url().path)
    let callCount = Mutex(0)
    try queue.write { db in
      for name in ["Updated", "InsertUpdated"].map({ "NSCoreDataDATrigger\($0)AffectedObjectValue" }) {
        db.add(
          function: DatabaseFunction(name, argumentCount: 5) { _ in
            callCount.withLock { $0 += 1 }
            return nil
          }
        )
      }
      for statement in statements { try db.execute(sql: statement) }
    }
    try queue.close()
    return callCount.withLock { $0 }
  }

  @Test("A new file has the triggers, and what is saved is counted once")
  func countsOnce() throws {
    let context = try bench.context()
    let (first, second) = (try insertFolder("first", context), try insertFolder("second", context))
    try insertNotes(3, in: first, context)
    try insertNotes(1, in: nil, context)
    try context.save()
    #expect(try triggerNames.count == 5)
    #expect(try sizes == ["first": 3, "second": 0])

    let notes = try context.fetch(FetchRequest<ManagedObject>(entityName: "Note"))
    for note in notes { try note.setValue(second, forKey: "folder") }
    context.delete(notes[0])
    try context.save()
    #expect(try sizes == ["first": 0, "second": 3])
    #expect(try second.value(forKey: "size") as? Int == 3)
    #expect(try triggerNames.count == 5)
  }

  @Test("The triggers do in Core Data what contexts do here")
  func coreDataCounts() throws {
    let context = try bench.context()
    let folder = try insertFolder("first", context)
    try insertNotes(2, in: folder, context)
    try context.save()
    let calls = try asCoreData(
      "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZWEIGHT, ZFOLDER) SELECT 50, Z_ENT, 1, 5, ZFOLDER FROM ZNOTE LIMIT 1",
      "INSERT INTO ZFOLDER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 50, Z_ENT, 1, 'second' FROM ZFOLDER LIMIT 1",
      "UPDATE ZNOTE SET ZFOLDER = 50 WHERE Z_PK = 50",
      "DELETE FROM ZNOTE WHERE Z_PK = 1"
    )
    #expect(calls == 5)
    #expect(try sizes == ["first": 1, "second": 1])
    let fresh = try bench.context()
    let folders = try fresh.fetch(FetchRequest<ManagedObject>(entityName: "Folder"))
    for folder in folders {
      try insertNotes(1, in: folder, fresh)
    }
    try fresh.save()
    #expect(try sizes == ["first": 2, "second": 2])
  }

  @Test("Triggers of another form are left alone, and the context's values are kept")
  func otherForms() throws {
    let context = try bench.context()
    let folder = try insertFolder("first", context)
    try context.save()
    _ = try asCoreData(
      """
      CREATE TRIGGER Z_DA_ZNOTE_Folder_size_OTHER AFTER INSERT ON ZNOTE FOR EACH ROW BEGIN
      UPDATE ZFOLDER SET ZSIZE = NSOtherFunction(ZSIZE) WHERE Z_PK = NEW.ZFOLDER;
      SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZFOLDER', Z_ENT, Z_PK, 'size', ZSIZE) FROM ZFOLDER; END
      """
    )
    let fresh = try bench.context()
    try insertNotes(2, in: try fresh.existingObject(with: folder.objectID), fresh)
    try fresh.save()
    #expect(try sizes == ["first": 2])
  }

  @Test("A trigger for what the model does not derive is a reason not to write")
  func unknownAttribute() throws {
    let context = try bench.context()
    _ = try insertFolder("first", context)
    try context.save()
    _ = try asCoreData(
      """
      CREATE TRIGGER Z_DA_ZNOTE_Folder_name_X AFTER INSERT ON ZNOTE FOR EACH ROW BEGIN
      SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZFOLDER', Z_ENT, Z_PK, 'name', ZNAME) FROM ZFOLDER; END
      """
    )
    let fresh = try bench.context()
    _ = try insertFolder("second", fresh)
    let error = bench.error { try fresh.save() }
    #expect(error?.code == .storeReadOnly)
    #expect(error?.problem.contains("Z_DA_ZNOTE_Folder_name_X") == true, "\(String(describing: error))")
  }

  @Test("A trigger of the application's beside them is a reason not to write")
  func triggersOfOthers() throws {
    let context = try bench.context()
    _ = try insertFolder("first", context)
    try context.save()
    _ = try asCoreData("CREATE TRIGGER own AFTER INSERT ON ZNOTE BEGIN UPDATE ZFOLDER SET ZNAME = 'x'; END")
    let fresh = try bench.context()
    _ = try insertFolder("second", fresh)
    let error = bench.error { try fresh.save() }
    #expect(error?.problem.contains("(own)") == true, "\(String(describing: error))")
  }
}
