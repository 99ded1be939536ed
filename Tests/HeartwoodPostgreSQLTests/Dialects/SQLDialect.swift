import Foundation

/// An engine that speaks PostgreSQL's protocol and cannot be run by the tests, and what it does not accept.
///
/// What is listed was looked up in the documentation and the issues of the engine in 2026. Beside what is refused,
/// there is a list of the statements, functions and clauses that are known to be accepted: one that is new has to be
/// looked up, and added to it.
enum SQLDialect: String, CaseIterable {
  case cockroachDB, yugabyteDB, citus

  /// Something that an engine does not accept, or accepts without doing it.
  struct Refusal: Sendable {
    let name: String
    let dialects: Set<SQLDialect>
    /// Returns whether a statement has it.
    let isIn: @Sendable (SQLStatement) -> Bool

    init(_ name: String, _ dialects: Set<SQLDialect>, _ isIn: @escaping @Sendable (SQLStatement) -> Bool) {
      (self.name, self.dialects, self.isIn) = (name, dialects, isIn)
    }
  }

  private static let all = Set(allCases)

  static let refusals: [Refusal] = [
    // cockroachdb/cockroach#31632, yugabyte/yugabyte-db#1709
    Refusal("constraints that are checked at the commit", all) { $0.contains("DEFERRABLE") || $0.contains("DEFERRED") },
    // cockroachdb/cockroach#41522, yugabyte/yugabyte-db#1872
    Refusal("notifications", all) { $0.containsAny(["LISTEN", "NOTIFY", "UNLISTEN", "PG_NOTIFY"]) },
    // CockroachDB has none for statements; Citus refuses them for distributed tables.
    Refusal("triggers", all) { $0.begins("CREATE", "TRIGGER") || $0.begins("CREATE", "FUNCTION") },
    // cockroachdb/cockroach#35170, yugabyte/yugabyte-db#15638
    Refusal("numbers of transactions", [.cockroachDB, .yugabyteDB]) { statement in
      statement.contains("XID8") || statement.contains("XMIN")
        || statement.words.contains { word in
          ["PG_CURRENT_XACT", "PG_XACT", "TXID_", "PG_CURRENT_SNAPSHOT", "PG_VISIBLE_IN"].contains {
            word.hasPrefix($0)
          }
        }
    },
    // cockroachdb/cockroach#13546 and #168355, yugabyte/yugabyte-db#3642
    Refusal("advisory locks", [.cockroachDB, .yugabyteDB]) { statement in
      statement.words.contains { $0.contains("_ADVISORY_") }
    },
    // yugabyte/yugabyte-db#5384
    Refusal("locks of tables", all) { $0.begins("LOCK") },
    // cockroachdb/cockroach#97180
    Refusal("rows that are copied out in binary form", [.cockroachDB]) { $0.begins("COPY") && $0.contains("STDOUT") },
    // cockroachdb/cockroach#96828
    Refusal("columns with the collation C", [.cockroachDB]) { statement in
      (statement.begins("CREATE", "TABLE") || statement.begins("ALTER", "TABLE")) && statement.contains("COLLATE")
    },
    // `integer` has 64 bits in CockroachDB unless a setting says otherwise.
    Refusal("columns of the type integer", [.cockroachDB]) { statement in
      statement.begins("CREATE", "TABLE") && statement.definesTableOfRecords && statement.contains("INTEGER")
    },
    // An index has NULL where it is smaller than all values, as in the order of CockroachDB.
    Refusal("another place of NULL in an index", [.cockroachDB]) { statement in
      guard statement.isIndex else { return false }
      return statement.contains("ASC", "NULLS", "LAST") || statement.contains("DESC", "NULLS", "FIRST")
    },
    Refusal("places of rows", all) { $0.contains("CTID") },
    // yugabyte/yugabyte-db#5956, #3944, #1337
    Refusal("inheritance of tables, exclusion constraints and GiST", all) {
      $0.containsAny(["INHERITS", "EXCLUDE", "GIST"])
    },
    Refusal("temporary and unlogged tables", all) { $0.containsAny(["TEMPORARY", "TEMP", "UNLOGGED"]) },
    Refusal("MERGE, TABLESAMPLE and cursors with HOLD", all) { statement in
      statement.begins("MERGE") || statement.contains("TABLESAMPLE") || statement.contains("WITH", "HOLD")
    },
    // SQL Support and Workarounds in the documentation of Citus
    Refusal("functions that are volatile in an update", [.citus]) { statement in
      statement.contains("UPDATE") && !statement.begins("CREATE")
        && statement.containsAny(["RANDOM", "GEN_RANDOM_UUID", "CLOCK_TIMESTAMP", "NEXTVAL"])
    },
  ]

  /// Returns what the engine does not accept of a statement, or what nobody has looked up.
  func findings(_ text: String) -> [String] {
    guard let statements = SQLStatement.statements(text) else { return ["The statement cannot be read."] }
    return statements.flatMap { statement in
      let refused = Self.refusals.filter { $0.dialects.contains(self) && $0.isIn(statement) }.map(\.name)
      return refused + Self.unknown(statement)
    }
  }

  private static func unknown(_ statement: SQLStatement) -> [String] {
    var unknown: [String] = []
    if !beginnings.contains(where: statement.begins) {
      unknown.append("the statement \(statement.words.prefix(2).joined(separator: " "))")
    }
    for function in statement.functions where !functions.contains(function) {
      unknown.append("the function \(function.lowercased())")
    }
    return unknown.map { "\($0), which has not been looked up" }
  }

  /// The beginnings of statements that all three accept.
  private static let beginnings: [[String]] = [
    ["BEGIN"], ["COMMIT"], ["ROLLBACK"], ["SELECT"], ["WITH"], ["INSERT", "INTO"], ["UPDATE"], ["DELETE", "FROM"],
    ["COPY"], ["CREATE", "SCHEMA"], ["CREATE", "TABLE"], ["CREATE", "INDEX"], ["CREATE", "UNIQUE", "INDEX"],
    ["CREATE", "TRIGGER"], ["CREATE", "FUNCTION"], ["ALTER", "TABLE"], ["ALTER", "SCHEMA"], ["ALTER", "FUNCTION"],
    ["DROP", "TABLE"], ["DROP", "SCHEMA"], ["DROP", "FUNCTION"], ["SET"], ["SHOW"], ["EXPLAIN"], ["DEALLOCATE"],
  ]

  /// The functions that all three have.
  private static let functions: Set<String> = [
    "ARRAY_AGG", "AVG", "BOOL_OR", "CARDINALITY", "COALESCE", "COUNT", "EXTRACT", "FORMAT_TYPE", "GEN_RANDOM_UUID",
    "GREATEST",
    "LEFT", "MAX", "MIN", "NOW", "PG_GET_SERIAL_SEQUENCE", "RIGHT", "ROW_NUMBER", "SETVAL", "STRPOS", "SUM", "UNNEST",
  ]
}

/// One statement, as its parts.
struct SQLStatement {
  let tokens: [SQLToken]
  let words: [String]

  private init(_ tokens: [SQLToken]) {
    self.tokens = tokens
    words = tokens.map { token in
      if case .word(let word) = token { word } else { "" }
    }
  }

  /// Returns the statements in a text, which semicolons separate.
  static func statements(_ text: String) -> [SQLStatement]? {
    SQLToken.tokens(text)?.split(separator: .symbol(";")).map { SQLStatement(Array($0)) }
  }

  func begins(_ beginning: [String]) -> Bool { words.starts(with: beginning) }
  func begins(_ beginning: String...) -> Bool { begins(beginning) }

  /// Whether the words are somewhere in the statement, one after the other.
  func contains(_ sought: String...) -> Bool {
    words.indices.contains { words[$0...].starts(with: sought) }
  }

  func containsAny(_ sought: [String]) -> Bool { words.contains(where: sought.contains) }

  var isIndex: Bool { begins("CREATE", "INDEX") || begins("CREATE", "UNIQUE", "INDEX") }

  /// Whether it makes a table of records, rather than one of the store's own, whose numbers may be larger.
  var definesTableOfRecords: Bool {
    !tokens.contains { token in
      if case .quotedName(let name) = token { name.hasPrefix("heartwood_") } else { false }
    }
  }

  /// Words that stand before parentheses and are no functions.
  private static let keywords: Set<String> = [
    "ALL", "AND", "ANY", "ARRAY", "AS", "BY", "CONFLICT", "COPY", "EXISTS", "FILTER", "FROM", "IN", "KEY", "NOT", "ON",
    "OR", "OVER", "SELECT", "SET", "STDIN", "STDOUT", "THEN", "UNIQUE", "VALUES", "WHEN", "WHERE", "WITH", "ELSE",
    "INTO", "USING", "HAVING", "JOIN", "CASE", "EXPLAIN", "UNION", "LIMIT",
  ]

  /// The names before parentheses, but for those of columns after `AS`, and the bodies of functions.
  var functions: [String] {
    guard !begins("CREATE", "FUNCTION"), !begins("CREATE", "TRIGGER") else { return [] }
    return tokens.indices.dropLast().compactMap { index in
      guard tokens[index + 1] == .symbol("("), case .word(let word) = tokens[index], !Self.keywords.contains(word)
      else { return nil }
      return index > 0 && tokens[index - 1] == .word("AS") ? nil : word
    }
  }
}
