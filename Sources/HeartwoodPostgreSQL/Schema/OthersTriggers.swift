/// Triggers by which a store detects changes made by other means: `psql`, another program, a foreign key.
///
/// A row that another client updates gets its next version, so that a save based on the older one is a conflict, and
/// each of the client's statements changes the mark of the store. The store's own connections set a setting, which the
/// triggers check before they call anything.
extension PostgreSQLSchema {
  /// The setting that the store's own connections set.
  static let ownSetting = "heartwood.saving"
  private static let markFunction = "heartwood_mark_change"

  /// The statements that create the triggers.
  var triggerCreation: [String] {
    [markFunctionCreation] + (tables.map(\.name) + joins.map(\.name)).flatMap(markTriggers)
      + tables.flatMap(rowTrigger)
  }

  /// The functions of the triggers, without arguments.
  var triggerFunctions: [String] { [Self.markFunction] + tables.map { rowFunction($0) } }

  private static let condition =
    "WHEN (current_setting('\(ownSetting)', true) IS DISTINCT FROM 'yes')"

  /// The function uses the schema of the table, so that the schema can be renamed.
  private var markFunctionCreation: String {
    """
    CREATE FUNCTION \(qualified(Self.markFunction))() RETURNS trigger LANGUAGE plpgsql AS $heartwood$ BEGIN \
    EXECUTE format('UPDATE %I.\(Self.markTable) SET saves = saves + 1, stamp = $1, saved_at = now() WHERE slot = 0', TG_TABLE_SCHEMA) \
    USING hashtextextended(gen_random_uuid()::text, 0); RETURN NULL; END $heartwood$
    """
  }

  private func markTriggers(_ table: String) -> [String] {
    ["INSERT OR UPDATE OR DELETE", "TRUNCATE"].enumerated().map { index, events in
      """
      CREATE TRIGGER heartwood_mark_\(index) AFTER \(events) ON \(qualified(table)) FOR EACH STATEMENT \
      \(Self.condition) EXECUTE FUNCTION \(qualified(Self.markFunction))()
      """
    }
  }

  private func rowFunction(_ table: RecordTable) -> String {
    PostgreSQLName.shortened("heartwood_\(table.name)_change")
  }

  private func rowTrigger(_ table: RecordTable) -> [String] {
    // Another client that changes a date does not know the column with the exact seconds.
    let dates = table.dates.map { date in
      let (column, exact) = (
        PostgreSQLName.quoted(date.column), PostgreSQLName.quoted(date.exactColumn)
      )
      return """
        IF NEW.\(column) IS DISTINCT FROM OLD.\(column) AND NEW.\(exact) IS NOT DISTINCT FROM OLD.\(exact) \
        THEN NEW.\(exact) := NULL; END IF;
        """
    }
    let name = qualified(rowFunction(table))
    return [
      """
      CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS $heartwood$ BEGIN \
      NEW.version := greatest(NEW.version, OLD.version + 1); \(dates.joined(separator: " ")) \
      RETURN NEW; END $heartwood$
      """,
      """
      CREATE TRIGGER heartwood_row BEFORE UPDATE ON \(qualified(table.name)) FOR EACH ROW \(Self.condition) \
      EXECUTE FUNCTION \(name)()
      """,
    ]
  }
}
