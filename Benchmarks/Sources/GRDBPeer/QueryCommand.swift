import ArgumentParser
import BenchmarkSupport
import GRDB

/// Asks the database something, again and again, by statements that SQLite keeps compiled.
struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Ask a database something, again and again."
  )

  enum Query: String, ExpressibleByArgument {
    case filter, count, sort
    /// The filter, on a table of Core Data's schema.
    case coreDataFilter = "core-data-filter"

    var sql: String {
      switch self {
      // The cheap term first: SQLite tests them from left to right.
      case .filter: "SELECT id FROM todo WHERE done AND instr(memo, 'tea') ORDER BY sortOrder LIMIT 100"
      case .coreDataFilter:
        "SELECT Z_PK FROM ZITEM WHERE ZDONE = 1 AND instr(ZMEMO, 'tea') ORDER BY ZSORTORDER LIMIT 100"
      case .count: "SELECT COUNT(*) FROM todo WHERE done = 1"
      case .sort: "SELECT id FROM todo ORDER BY sortOrder"
      }
    }
  }

  @Argument var query: Query
  @Argument var path: String

  func run() throws {
    var configuration = Configuration()
    configuration.readonly = true
    // All pages stay in memory.
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -1000000; PRAGMA temp_store = MEMORY")
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let result = try queue.read { database in
      try Repetition.median {
        let statement = try database.cachedStatement(sql: query.sql)
        if query == .count { return try Int.fetchOne(statement) ?? 0 }
        return try Int64.fetchAll(statement).count
      }
    }
    try CaseReport(seconds: result.seconds, rows: result.rows).print()
  }
}
