import HeartwoodModel
import HeartwoodStore

// MARK: Examining

extension PostgreSQLStore {
  /// Returns what reading all records does not find: tables, columns, keys and triggers that are missing or not those
  /// of the model; rows that reading leaves out; orders that are not unique; and faults in the store's own tables.
  ///
  /// It reads the tables of pairs and the positions, and the keys of the records. Each finding says what to do.
  func damage(limit: Int) throws -> [String] {
    try withConnection { connection in
      let structure = StructureCheck(schema, try Catalog(schema: schema.name, connection), connection.dialect)
      var findings = structure.findings
      if PostgreSQLSchema.ownColumns.keys.allSatisfy(structure.soundTables.contains) {
        var logs = LogCheck(schema, connection)
        try logs.run()
        findings += logs.findings
      }
      var rows = RowCheck(schema, structure.soundTables, limit: limit - findings.count, connection)
      try rows.run()
      return Array((findings + rows.findings).prefix(limit))
    }
  }

  /// Returns all values and rows that cannot be read.
  func unreadableValues(limit: Int) throws -> UnreadableValues {
    var found = UnreadableValues(limit: limit)
    for entity in schema.model.entities where schema.keeps(entity) && !entity.isAbstract {
      try withConnection { connection in
        try naming(entity) { try reader(of: entity).examine(connection) { found.note($0) } }
      }
    }
    return found
  }
}
