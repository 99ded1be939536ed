import Heartwood
import HeartwoodRecordText
import HeartwoodFoundation
import HeartwoodStore

/// Formats rows of values, like records.
struct FetchRowsReport {
  private let rows: FetchRows
  private let format: FetchCommand.Format

  init(_ rows: FetchRows, format: FetchCommand.Format) {
    self.rows = rows
    self.format = format
  }

  func write() throws {
    switch format {
    case .json: try writeLines { row in JSONValue.object(zip(rows.names, row.values).map { ($0, JSONValue($1)) }).line }
    case .csv:
      try StandardOutput.writeSafely(Self.fields(rows.names))
      try writeLines { Self.fields($0.values.map(\.recordText)) }
    case .table: try writeTable()
    }
  }

  private static let rowsAtOnce = 4096

  private func writeLines(_ line: (FetchRow) -> String) throws {
    var start = 0
    while start < rows.count {
      let end = min(start + Self.rowsAtOnce, rows.count)
      try StandardOutput.writeSafely(rows[start..<end].map(line).joined())
      start = end
    }
  }

  private func writeTable() throws {
    var columns = TextColumns(
      rows.names.indices.map { .init(title: rows.names[$0], isRightAligned: isNumeric($0)) }
    )
    for row in rows { columns.widen(to: [row.values.map { $0.recordText ?? "" }]) }
    if let width = Terminal.standardOutput.width { columns.fit(into: width) }
    let output = GrowableBytes()
    columns.appendHeader(to: output)
    for row in rows { columns.append(row.values.map { $0.recordText ?? "" }, to: output) }
    try StandardOutput.write(output.sealed())
  }

  private func isNumeric(_ column: Int) -> Bool {
    rows.contains { row in
      switch row[column] {
      case .integer, .double, .float, .decimal: true
      default: false
      }
    }
  }
}

// MARK: Values

extension FetchRowsReport {
  private static func fields(_ cells: [String?]) -> String {
    let output = GrowableBytes()
    for (index, cell) in cells.enumerated() {
      if index > 0 { output.append(text: ",") }
      if let cell { output.append(field: cell) }
    }
    output.append(text: "\n")
    return String(decoding: output.unsafeMutableBytes, as: UTF8.self)
  }
}

// MARK: RecordOutput

/// Writes records to standard output.
struct RecordOutput {
  /// The entities of the model.
  let entities: [EntityDescription]

  /// Writes one JSON object per line and record.
  func writeJSON(_ tables: [NodeTable]) throws {
    for table in tables {
      try RecordJSON(entity: table.entity, among: entities).write(table, to: StandardOutput.write)
    }
  }

  /// Writes one JSON object per line and record, page by page.
  func writeJSON(_ pages: RecordPages) throws {
    for number in 0..<pages.pageCount { try writeJSON(try pages.tables(ofPage: number)) }
  }

  /// Writes comma-separated values with a header, page by page.
  ///
  /// - Throws: `ToolError` if the records are of several entities.
  func writeFields(_ pages: RecordPages) throws {
    guard let entity = pages.entities.first, pages.entities.count == 1 else {
      throw ToolError(
        "The records are of several entities, which the format csv cannot represent. Choose columns with --select, or another format."
      )
    }
    let fields = try beginFields(of: entity)
    for number in 0..<pages.pageCount {
      for table in try pages.tables(ofPage: number) { try fields.write(table, to: StandardOutput.writeSafely) }
    }
  }

  /// Writes comma-separated values with a header.
  func writeFields(_ table: NodeTable) throws {
    try beginFields(of: table.entity).write(table, to: StandardOutput.writeSafely)
  }

  private func beginFields(of entity: EntityDescription) throws -> RecordFields {
    let fields = RecordFields(entity: entity, among: entities)
    try StandardOutput.writeSafely(fields.header)
    return fields
  }

  /// Writes a table for each entity, with titles if there are several.
  func writeTables(_ tables: [NodeTable]) throws {
    var isFirst = true
    for table in tables {
      if tables.count > 1 {
        let title = "\(table.entity.name): \(Quantity.text(table.count, "record"))"
        try StandardOutput.write("\(isFirst ? "" : "\n")\(title)\n")
        isFirst = false
      }
      let text = RecordTable(table, among: entities, width: Terminal.standardOutput.width)
      try StandardOutput.write(text.header)
      try text.write(table, to: StandardOutput.write)
    }
  }
}

// MARK: HistoryTable

/// Writes transactions as a table, with one line for each.
///
/// A history may be long, so it is written in parts. Each part widens the columns for itself and for those after it.
struct HistoryTable {
  private static let numbers: Set = ["NUMBER", "INSERTED", "UPDATED", "DELETED"]
  private static let titles = ["NUMBER", "DATE", "AUTHOR", "CONTEXT", "INSERTED", "UPDATED", "DELETED"]
  /// The number of lines in a part.
  private static let partLength = 1_000

  private var columns = TextColumns(titles.map { .init(title: $0, isRightAligned: numbers.contains($0)) })
  private var lines: [[String]] = []
  private var hasHeader = false
  private let write: (String) throws -> Void

  /// - Parameter write: writes a part of the table.
  init(_ write: @escaping (String) throws -> Void) {
    self.write = write
  }

  mutating func append(_ transaction: PersistentHistoryTransaction) throws {
    lines.append(Self.cells(transaction))
    if lines.count == Self.partLength { try flush() }
  }

  /// Writes the lines that are left, and the header if there are none at all.
  mutating func finish() throws {
    if !lines.isEmpty || !hasHeader { try flush() }
  }

  private mutating func flush() throws {
    let output = GrowableBytes()
    columns.widen(to: lines)
    if !hasHeader { columns.appendHeader(to: output) }
    for line in lines { columns.append(line, to: output) }
    hasHeader = true
    lines = []
    try write(String(decoding: output.unsafeMutableBytes, as: UTF8.self))
  }

  private static func cells(_ transaction: PersistentHistoryTransaction) -> [String] {
    [
      "\(transaction.transactionNumber)", RecordDate.text(of: transaction.timestamp),
      transaction.author ?? "", transaction.contextName ?? "",
    ] + PersistentHistoryChange.ChangeType.allCases.map { "\(transaction.changeCount(of: $0))" }
  }
}
