import Foundation
import GRDB

/// A history of a form that no known version of Core Data writes: it lacks columns, and the table of the changes.
enum CoreDataHistory {
  static func add(transactionCount: Int, to url: URL) throws {
    let queue = try DatabaseQueue(path: url.path)
    try queue.write { db in
      try db.execute(sql: "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, ZTIMESTAMP FLOAT)")
      for number in 1...transactionCount {
        try db.execute(sql: "INSERT INTO ATRANSACTION VALUES (?, 0.5)", arguments: [number])
      }
    }
    try queue.close()
  }
}
