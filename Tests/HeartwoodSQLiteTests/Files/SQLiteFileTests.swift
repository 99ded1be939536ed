import Foundation
import GRDB
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

@Suite("Files of SQLite") struct SQLiteFileTests {
  private let scratch: ScratchFolder
  private let path: String

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.path("Store.sqlite")
  }

  private func create(at path: String? = nil, rows: Int = 0) throws {
    try SQLiteFile.create(atPath: path ?? self.path) { db in
      try db.execute(sql: "CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, ZTEXT VARCHAR)")
      for row in 0..<rows {
        try db.execute(
          sql: "INSERT INTO ZNOTE VALUES (?, ?)",
          arguments: [row, String(repeating: "x", count: 1000)]
        )
      }
    }
  }

  private func error(_ body: () throws -> Void) throws -> PersistenceError {
    try #require(throws: PersistenceError.self, performing: body)
  }

  @Test("Opening makes no file")
  func missing() throws {
    for isReadOnly in [false, true] {
      let error = try error { _ = try SQLiteFile.open(atPath: path, isReadOnly: isReadOnly) }
      #expect(error.code == .fileNotFound)
      #expect(error.context.path == path)
    }
    #expect(try error { try SQLiteFile.inspect(atPath: path) { _ in } }.code == .fileNotFound)
    #expect(try scratch.names().isEmpty)
  }

  @Test("A folder is no file")
  func folder() throws {
    #expect(try error { _ = try SQLiteFile.open(atPath: scratch.url.path) }.code == .fileReadFailed)
  }

  @Test("A file that is no database is said to be none, and stays as it is")
  func noDatabase() throws {
    let bytes = Data("These are notes, and no database at all, however long they get.\n".utf8)
    try bytes.write(to: URL(filePath: path))
    for isReadOnly in [false, true] {
      #expect(try error { _ = try SQLiteFile.open(atPath: path, isReadOnly: isReadOnly) }.code == .fileMalformed)
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    #expect(try scratch.names() == ["Store.sqlite"])
  }

  @Test("Damaged pages are told from a file that is none")
  func damaged() throws {
    try create(rows: 500)
    var bytes = try Data(contentsOf: URL(filePath: path))
    for offset in stride(from: 4096, to: bytes.count, by: 4096) { bytes[offset] = 0x77 }
    try bytes.write(to: URL(filePath: path))
    let error = try error {
      let file = try SQLiteFile.open(atPath: path, isReadOnly: true)
      _ = try file.read { try String.fetchAll($0, sql: "SELECT ZTEXT FROM ZNOTE") }
    }
    #expect(error.code == .fileCorrupt)
    #expect(error.context.path == path)
  }

  @Test("Connections are set up as a store needs them")
  func settings() throws {
    try create()
    let file = try SQLiteFile.open(atPath: path)
    let values = try file.withoutTransaction { db in
      try ["journal_mode", "synchronous", "foreign_keys", "trusted_schema", "auto_vacuum", "page_size"].map {
        try String.fetchOne(db, sql: "PRAGMA \($0)")
      }
    }
    #expect(values == ["wal", "2", "0", "0", "2", "4096"])
    try file.close()
    var options = StoreOptions()
    options[.sqliteJournalMode] = .rollback
    options[.sqliteSynchronization] = .normal
    options[.sqliteCacheSize] = 1 << 20
    let other = try SQLiteFile.open(atPath: path, options: options)
    let changed = try other.withoutTransaction { db in
      try ["journal_mode", "synchronous", "cache_size"].map { try String.fetchOne(db, sql: "PRAGMA \($0)") }
    }
    #expect(changed == ["delete", "1", "-1024"])
    try other.close()
  }

  private func values(_ pragmas: [String], _ file: SQLiteFile) throws -> [String?] {
    try file.withoutTransaction { db in try pragmas.map { try String.fetchOne(db, sql: "PRAGMA \($0)") } }
  }

  @Test("A pragma that the application sets counts")
  func pragmas() throws {
    var options = StoreOptions()
    options[.sqlitePragmas] = [
      "PAGE_SIZE": "8192", "auto_vacuum": "FULL", "synchronous": "OFF", "user_version": "7",
    ]
    try SQLiteFile.create(atPath: path, options: options) { db in
      try db.execute(sql: "CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, ZTEXT VARCHAR)")
    }
    let names = ["page_size", "auto_vacuum", "synchronous", "user_version"]
    for isReadOnly in [false, true] {
      let file = try SQLiteFile.open(atPath: path, options: options, isReadOnly: isReadOnly)
      #expect(try values(names, file) == ["8192", "1", "0", "7"])
      #expect(try file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE") } == 0)
      try file.close()
    }
  }

  @Test func theJournalMayBeNamedAsItIsAnyway() throws {
    var options = StoreOptions()
    options[.sqlitePragmas] = ["JOURNAL_MODE": "wal"]
    try create()
    for isReadOnly in [false, true] {
      let file = try SQLiteFile.open(atPath: path, options: options, isReadOnly: isReadOnly)
      #expect(try file.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
      try file.close()
    }
  }

  @Test("The journal has an option of its own", arguments: ["DELETE", "MEMORY"])
  func theJournalHasAnOptionOfItsOwn(_ mode: String) throws {
    var options = StoreOptions()
    options[.sqlitePragmas] = ["Journal_Mode": mode]
    let failure = try error {
      try SQLiteFile.create(atPath: path, options: options) { try $0.execute(sql: "CREATE TABLE ZNOTE (Z_PK)") }
    }
    #expect(failure.code == .valueUnsupported)
    #expect(failure.message.contains("sqliteJournalMode"))
    #expect(try scratch.names().isEmpty)
    try create()
    for isReadOnly in [false, true] {
      let failure = try error { _ = try SQLiteFile.open(atPath: path, options: options, isReadOnly: isReadOnly) }
      #expect(failure.code == .valueUnsupported)
    }
    let file = try SQLiteFile.open(atPath: path)
    #expect(try values(["journal_mode"], file) == ["wal"])
    try file.close()
  }

  @Test("What is written is there, and what fails in the middle is undone")
  func writing() throws {
    try create()
    let file = try SQLiteFile.open(atPath: path)
    try file.write { try $0.execute(sql: "INSERT INTO ZNOTE VALUES (1, 'a')") }
    let failure = try error {
      try file.write { db in
        try db.execute(sql: "INSERT INTO ZNOTE VALUES (2, 'b')")
        try db.execute(sql: "INSERT INTO ZNOTE VALUES (1, 'c')")
      }
    }
    #expect(failure.code == .constraintConflict)
    #expect(try file.read { try String.fetchAll($0, sql: "SELECT ZTEXT FROM ZNOTE") } == ["a"])
    try file.close()
    #expect(try scratch.names() == ["Store.sqlite"])
  }

  @Test("A reader does not wait for a writer, and reads what was there")
  func readingWhileWriting() throws {
    try create()
    let file = try SQLiteFile.open(atPath: path)
    try file.write { db in
      try db.execute(sql: "INSERT INTO ZNOTE VALUES (1, 'a')")
      #expect(try file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE") } == 0)
    }
    #expect(try file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE") } == 1)
    try file.close()
  }

  @Test("A file that another holds is busy, after the time that was set")
  func busy() throws {
    try create()
    let holder = try SQLiteFile.open(atPath: path)
    var options = StoreOptions()
    options[.sqliteBusyTimeout] = .milliseconds(1)
    let file = try SQLiteFile.open(atPath: path, options: options)
    let error = try error {
      try holder.write { _ in try file.write { try $0.execute(sql: "INSERT INTO ZNOTE VALUES (1, 'a')") } }
    }
    #expect(error.code == .storeBusy)
    try file.write { try $0.execute(sql: "INSERT INTO ZNOTE VALUES (1, 'a')") }
    try file.close()
    try holder.close()
  }

  @Test("A full disk is an error, and the file is what it was")
  func full() throws {
    try create(rows: 3)
    let file = try SQLiteFile.open(atPath: path)
    try file.withoutTransaction { db in
      let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      try db.execute(sql: "PRAGMA max_page_count = \(pages)")
    }
    let error = try error {
      try file.write { try $0.execute(sql: "INSERT INTO ZNOTE VALUES (9, zeroblob(100000))") }
    }
    #expect(error.code == .fileWriteFailed)
    #expect(try file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE") } == 3)
    try file.close()
  }

  @Test("A file that was opened for reading cannot be written")
  func readOnly() throws {
    try create(rows: 1)
    let file = try SQLiteFile.open(atPath: path, isReadOnly: true)
    #expect(file.isReadOnly)
    #expect(try error { try file.write { try $0.execute(sql: "DELETE FROM ZNOTE") } }.code == .storeReadOnly)
    #expect(
      try error { try file.withoutTransaction { try $0.execute(sql: "DELETE FROM ZNOTE") } }.code == .storeReadOnly
    )
    #expect(try file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE") } == 1)
    try file.close()
  }

  @Test("Reading a file leaves nothing beside it, unless others have it open")
  func readingLeavesNoTraces() throws {
    try create(rows: 1)
    let file = try SQLiteFile.open(atPath: path)
    try file.write { try $0.execute(sql: "INSERT INTO ZNOTE VALUES (7, 'b')") }
    try file.close()
    let before = try Data(contentsOf: URL(filePath: path))
    #expect(before[19] == 2, "the file says that its changes go to a log")
    let count = { (file: SQLiteFile) in try file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE") } }
    let reader = try SQLiteFile.open(atPath: path, isReadOnly: true)
    #expect(try count(reader) == 2)
    #expect(try scratch.names().contains("Store.sqlite-shm"))
    let other = try SQLiteFile.open(atPath: path, isReadOnly: true)
    #expect(try count(other) == 2)
    try other.close()
    #expect(try scratch.names().contains("Store.sqlite-shm"), "the first one still reads")
    #expect(try count(reader) == 2)
    try reader.close()
    #expect(try scratch.names() == ["Store.sqlite"])
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test("Looking at a file at rest leaves nothing beside it", .enabled(if: SQLiteLocation.readsURIs, "no URIs"))
  func inspecting() throws {
    try create(rows: 1)
    let file = try SQLiteFile.open(atPath: path)
    try file.write { try $0.execute(sql: "INSERT INTO ZNOTE VALUES (7, 'b')") }
    try file.close()
    let before = try Data(contentsOf: URL(filePath: path))
    #expect(before[19] == 2, "the file says that its changes go to a log")
    var names: [String] = []
    let count = try SQLiteFile.inspect(atPath: path) { db in
      names = try scratch.names()
      return try Int.fetchOne(db, sql: "SELECT count(*) FROM ZNOTE")
    }
    #expect(count == 2)
    #expect(names == ["Store.sqlite"])
    #expect(try scratch.names() == ["Store.sqlite"])
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test("Who writes to a file at rest is noticed", .enabled(if: SQLiteLocation.readsURIs, "no URIs"))
  func resting() throws {
    try create(rows: 1)
    let location = try SQLiteLocation(path, fileSystem: POSIXFileSystem())
    #expect(try RestingFile(location) == nil, "its changes do not go to a log")
    let file = try SQLiteFile.open(atPath: path)
    try file.close()
    let resting = try #require(try RestingFile(location))
    #expect(try RestingFile.reading(resting) { 1 } == 1)
    let writer = try SQLiteFile.open(atPath: path)
    try writer.write { try $0.execute(sql: "INSERT INTO ZNOTE VALUES (7, 'b')") }
    #expect(try error { try RestingFile.reading(resting) {} }.code == .fileChangedOnDisk)
    #expect(try RestingFile(location) == nil, "the log has the change")
    try writer.close()
    #expect(try error { try RestingFile.reading(resting) {} }.code == .fileChangedOnDisk)
    let later = try RestingFile(location)
    #expect(later != nil)
    try RestingFile.reading(later) {}
    try FileManager.default.moveItem(atPath: path, toPath: scratch.path("Other.sqlite"))
    let failure = try error { try RestingFile.reading(later) {} }
    #expect(failure.code == .fileChangedOnDisk)
    #expect(failure.message.contains("moved") && !failure.message.contains("written"))
  }

  @Test("Looking at a file sees what is in the log only")
  func inspectingLog() throws {
    try create()
    let file = try SQLiteFile.open(atPath: path)
    try file.write { try $0.execute(sql: "INSERT INTO ZNOTE VALUES (7, 'b')") }
    #expect(try SQLiteFile.inspect(atPath: path) { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE") } == 1)
    try file.close()
  }

  @Test("A file that is no longer at its path is told from one that is")
  func moving() throws {
    try create()
    let file = try SQLiteFile.open(atPath: path)
    #expect(try !file.read(SQLiteFile.isMoved))
    try FileManager.default.moveItem(atPath: path, toPath: scratch.path("Other.sqlite"))
    #expect(try file.read(SQLiteFile.isMoved))
    #expect(try file.withoutTransaction(SQLiteFile.isMoved))
    try Data("another".utf8).write(to: URL(filePath: path))
    #expect(try file.withoutTransaction(SQLiteFile.isMoved))
    try file.close()
  }

  @Test("A new file takes no name that is taken, and none at all where it does not get whole")
  func creating() throws {
    try Data("old".utf8).write(to: URL(filePath: path))
    #expect(try error { try create() }.code == .fileExists)
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("old".utf8))
    let other = scratch.path("Other.sqlite")
    let failure = try error { try SQLiteFile.create(atPath: other) { try $0.execute(sql: "CREATE NONSENSE") } }
    #expect(failure.code == .fileMalformed)
    #expect(failure.context.path == other)
    #expect(try scratch.names() == ["Store.sqlite"])
  }

  @Test("Any name will do", arguments: ["a b.sqlite", "100%25?mode=memory#x.sqlite", "Ärger.sqlite", "file:x.sqlite"])
  func names(_ name: String) throws {
    let path = scratch.path(name)
    try create(at: path, rows: 2)
    let file = try SQLiteFile.open(atPath: path)
    #expect(try file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE") } == 2)
    try file.close()
    #expect(try scratch.names() == [name])
  }
}
