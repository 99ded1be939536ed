import ArgumentParser
import BenchmarkSupport
import Foundation
import GRDB

/// Makes lists of to-dos.
struct CreateListsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "create-lists", abstract: "Write lists of to-dos.")

  @Argument var path: String
  @Option var lists = 10_000
  @Option var items = 10

  func run() throws {
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    let queue = try DatabaseQueue(path: path)
    let clock = ContinuousClock()
    let duration = try clock.measure {
      try queue.write { database in
        try database.execute(
          sql: """
            CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE item (id INTEGER PRIMARY KEY, done BOOLEAN, memo TEXT, sortOrder INTEGER, creationDate DOUBLE,
              recordUUID BLOB, list INTEGER REFERENCES list(id));
            CREATE INDEX item_list ON item(list)
            """
        )
        for id in 1...lists { try database.execute(sql: "INSERT INTO list (id) VALUES (?)", arguments: [id]) }
        let insert = try database.makeStatement(
          sql: "INSERT INTO item (done, memo, sortOrder, creationDate, recordUUID, list) VALUES (?, ?, ?, ?, ?, ?)"
        )
        for (place, toDo) in ToDoSequence(count: lists * items).enumerated() {
          let date = toDo.creationDate.timeIntervalSinceReferenceDate
          try insert.execute(
            arguments: [toDo.isDone, toDo.memo, toDo.sortOrder, date, toDo.recordID, place % lists + 1]
          )
        }
      }
    }
    try queue.close()
    try CaseReport(seconds: duration.seconds, rows: lists * items).print()
  }
}

/// Reads all lists with their to-dos by one join.
struct JoinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "join", abstract: "Read lists and to-dos by a join.")

  @Argument var path: String

  private struct OwnedRow: FetchableRecord {
    let list: Int64
    let toDo: ToDo

    init(row: Row) {
      list = row[5]
      toDo = ToDoRow(row: row).toDo
    }
  }

  func run() throws {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -1000000") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let clock = ContinuousClock()
    let start = clock.now
    let rows = try queue.read { database in
      try OwnedRow.fetchAll(
        database,
        sql: """
          SELECT item.done, item.memo, item.sortOrder, item.creationDate, item.recordUUID, list.id
          FROM list JOIN item ON item.list = list.id ORDER BY list.id
          """
      )
    }
    var lists: [Int64: [ToDo]] = [:]
    for row in rows { lists[row.list, default: []].append(row.toDo) }
    let fetched = clock.now
    var sum: Int64 = 0
    var count = 0
    for list in lists.values {
      for toDo in list {
        sum &+= Int64(toDo.sortOrder)
        count += 1
      }
    }
    let end = clock.now
    try CaseReport(
      seconds: (end - start).seconds,
      rows: count,
      checksum: UInt64(bitPattern: sum),
      details: ["fetch": (fetched - start).seconds]
    ).print()
  }
}
