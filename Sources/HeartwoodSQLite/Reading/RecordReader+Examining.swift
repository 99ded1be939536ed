import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

// MARK: All that cannot be read

extension RecordReader {
  /// Reads all records of the entity, value by value, by the same rules as ``groups(_:_:)``, and goes on behind each that cannot be read. The
  /// time is that of reading the table; the records are not kept.
  ///
  /// - Parameter note: is called with what is wrong, row by row, and with the row if it is met from several sides: it is of no entity, or a
  ///   link.
  func examine(_ db: Database, _ note: (UnreadableValue, ValueFault.Row?) -> Void) throws {
    func tell(_ fault: ValueFault, _ key: Int64?, _ ordinal: Int?) {
      let row = fault.row ?? (ordinal == nil ? .init(table: placement.tableName, key: key) : nil)
      note(unreadable(fault, key, ordinal), row?.key == nil ? nil : row)
    }
    try forEachStray(db, nil) { tell($0, nil, $1) }
    let builder = RowGroupBuilder(entity: placement.entity)
    try forEachRow([KeyRun(range: .min ... .max, keys: nil)], db, isThorough: true) { row, key, related in
      if builder.isFull { _ = builder.sealed() }
      try examine(row, key, related, builder) { tell($0, key, $1) }
    }
  }

  private func examine(
    _ row: SQLiteStatement,
    _ key: Int64,
    _ related: [(ordinal: Int, keys: RelatedKeys)],
    _ builder: RowGroupBuilder,
    _ note: (ValueFault, _ ordinal: Int?) -> Void
  ) throws {
    do throws(ValueFault) {
      builder.beginRow(.integer(key), version: try version(row))
    } catch {
      // What else is in a row of no entity cannot be told either.
      return note(error, nil)
    }
    for (ordinal, reader) in attributes {
      try append(ordinal, to: builder, note) { try reader.append(row, to: $0, externalFiles) }
    }
    for (ordinal, reader) in toOnes {
      try append(ordinal, to: builder, note) { try reader.append(row, to: $0) }
    }
    for (ordinal, keys) in related {
      try keys.append(ofOwner: key, to: builder.columns[ordinal]) { note($0, ordinal) }
    }
    for ordinal in unkept { builder.columns[ordinal].appendNull() }
  }

  /// Appends a value, or none where it cannot be read.
  private func append(
    _ ordinal: Int,
    to builder: RowGroupBuilder,
    _ note: (ValueFault, _ ordinal: Int?) -> Void,
    _ body: (ColumnBuilder) throws -> Void
  ) throws {
    let column = builder.columns[ordinal]
    do {
      try body(column)
    } catch let fault as ValueFault {
      note(fault, ordinal)
      column.appendNull()
    }
  }

  private func unreadable(_ fault: ValueFault, _ key: Int64?, _ ordinal: Int?) -> UnreadableValue {
    let row = fault.row
    // A row of this table is a record of this entity; another one is a link.
    let recordKey = row == nil ? key : row?.table == placement.tableName ? row?.key : nil
    return UnreadableValue(
      reference: recordKey.map { .integer($0) },
      costsValueOnly: fault.isOfFile,
      error: error(fault, key ?? 0, ordinal: ordinal)
    )
  }
}
