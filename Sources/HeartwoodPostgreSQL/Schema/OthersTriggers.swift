/// Triggers by which a store detects changes made by other means: `psql`, another program, a foreign key.
///
/// A row that another client updates gets its next version, so that a save based on the older one is a conflict, and
/// each of the client's statements changes the mark of the store and lists the records in the log. The store's own connections set a setting, which the
/// triggers check before they call anything.
extension PostgreSQLSchema {
  /// The setting that the store's own connections set.
  static let ownSetting = "heartwood.saving"
  private static let markFunction = "heartwood_mark_change"

  /// The statements that create the triggers.
  var triggerCreation: [String] {
    [markFunctionCreation] + tables.map(rowFunctionCreation) + triggers.map(\.statement)
  }

  /// The triggers: their tables, their names, and the statements that create them.
  var triggers: [Trigger] {
    tables.flatMap { markTriggers($0.name, $0.loggedColumns) } + joins.flatMap { markTriggers($0.name, $0.columns) }
      + tables.map(rowTrigger)
  }

  typealias Trigger = (table: String, name: String, statement: String)

  /// The functions of the triggers, without arguments.
  var triggerFunctions: [String] { [Self.markFunction] + tables.map { rowFunction($0) } }

  private static let condition =
    "WHEN (current_setting('\(ownSetting)', true) IS DISTINCT FROM 'yes')"

  /// The function uses the schema of the table, so that the schema can be renamed. Its arguments are columns with keys
  /// of records that a change of a row affects, each followed by the table of these records.
  private var markFunctionCreation: String {
    """
    CREATE FUNCTION \(qualified(Self.markFunction))() RETURNS trigger LANGUAGE plpgsql AS $heartwood$ \
    DECLARE number bigint; source text; BEGIN \
    EXECUTE format('UPDATE %I.\(Self.markTable) SET saves = saves + 1, stamp = $1, saved_at = now() WHERE slot = 0 \
    RETURNING saves', TG_TABLE_SCHEMA) INTO number USING hashtextextended(gen_random_uuid()::text, 0); \
    IF number % \(ChangeLog.pruningInterval) = 0 THEN \
    EXECUTE format('DELETE FROM %I.\(Self.logTable) WHERE slot = 0 AND save <= $1 - \(ChangeLog.keptSaveCount)', \
    TG_TABLE_SCHEMA) USING number; END IF; \
    IF TG_OP = 'TRUNCATE' THEN \
    EXECUTE format('INSERT INTO %I.\(Self.logTable) VALUES (0, $1, 0, $2, NULL)', TG_TABLE_SCHEMA) \
    USING number, TG_TABLE_NAME::text; RETURN NULL; END IF; \
    FOR i IN 0 .. TG_NARGS / 2 - 1 LOOP \
    source := CASE TG_OP WHEN 'INSERT' THEN format('SELECT DISTINCT %I AS id FROM after_rows', TG_ARGV[2 * i]) \
    WHEN 'DELETE' THEN format('SELECT DISTINCT %I AS id FROM before_rows', TG_ARGV[2 * i]) \
    ELSE format('SELECT %1$I AS id FROM after_rows UNION SELECT %1$I FROM before_rows', TG_ARGV[2 * i]) END; \
    EXECUTE format('INSERT INTO %I.\(Self.logTable) SELECT 0, $1, $2, $3, CASE WHEN count(*) <= \
    \(ChangeLog.greatestKeyCount) THEN coalesce(array_agg(id), ''{}''::uuid[]) END FROM (%s) AS c \
    WHERE id IS NOT NULL', TG_TABLE_SCHEMA, source) USING number, i, TG_ARGV[2 * i + 1]; \
    END LOOP; RETURN NULL; END $heartwood$
    """
  }

  /// The events of triggers, and the rows that each shows to its function.
  private static let markEvents = [
    ("INSERT", " REFERENCING NEW TABLE AS after_rows"),
    ("UPDATE", " REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows"),
    ("DELETE", " REFERENCING OLD TABLE AS before_rows"), ("TRUNCATE", ""),
  ]

  private func markTriggers(_ table: String, _ columns: [(name: String, table: String)]) -> [Trigger] {
    let arguments = columns.flatMap { [$0.name, $0.table] }.map(PostgreSQLName.literal).joined(separator: ", ")
    return Self.markEvents.map { event, rows in
      let name = "heartwood_mark_\(event.lowercased())"
      let statement = """
        CREATE TRIGGER \(name) AFTER \(event) ON \(qualified(table))\(rows) \
        FOR EACH STATEMENT \(Self.condition) EXECUTE FUNCTION \(qualified(Self.markFunction))(\(arguments))
        """
      return (table, name, statement)
    }
  }

  private func rowFunction(_ table: RecordTable) -> String {
    PostgreSQLName.shortened("heartwood_\(table.name)_change")
  }

  private func rowFunctionCreation(_ table: RecordTable) -> String {
    // Another client that changes a date does not know the column with the exact seconds.
    let dates = table.dates.map { date in
      let (column, exact) = (PostgreSQLName.quoted(date.column), PostgreSQLName.quoted(date.exactColumn))
      return """
        IF NEW.\(column) IS DISTINCT FROM OLD.\(column) AND NEW.\(exact) IS NOT DISTINCT FROM OLD.\(exact) \
        THEN NEW.\(exact) := NULL; END IF;
        """
    }
    return """
      CREATE FUNCTION \(qualified(rowFunction(table)))() RETURNS trigger LANGUAGE plpgsql AS $heartwood$ BEGIN \
      NEW.version := greatest(NEW.version, OLD.version + 1); \(dates.joined(separator: " ")) \
      RETURN NEW; END $heartwood$
      """
  }

  private func rowTrigger(_ table: RecordTable) -> Trigger {
    let name = "heartwood_row"
    let statement = """
      CREATE TRIGGER \(name) BEFORE UPDATE ON \(qualified(table.name)) FOR EACH ROW \(Self.condition) \
      EXECUTE FUNCTION \(qualified(rowFunction(table)))()
      """
    return (table.name, name, statement)
  }
}

extension RecordTable {
  /// The columns with keys of records that a change of a row affects: the record, and those that it refers to.
  fileprivate var loggedColumns: [(name: String, table: String)] {
    [("id", name)] + references.map { ($0.column, $0.table) }
  }
}
