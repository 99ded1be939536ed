import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What stands before the records: the byte order mark, the line with the identifier, and the header row.
struct CSVPreamble: Sendable {
  let identifier: UUID
  let dialect: CSVDialect
  /// How many bytes the byte order mark takes.
  let markLength: Int
  /// Where the records begin. In a file without any, that may be behind its end, where the line before them is not ended.
  let dataOffset: Int
}

extension CSVPreamble {
  /// Reads as much of the file as it takes to know its dialect.
  static func read(_ file: StoreInput, schema: CSVSchema) throws -> CSVPreamble {
    try read(file, schema: schema, behind: try CSVIdentifierLine.read(file))
  }

  /// The same for a first line that is known.
  static func read(_ file: StoreInput, schema: CSVSchema, behind line: CSVIdentifierLine) throws -> CSVPreamble {
    let found = try CSVDialectFinder(file: file, schema: schema, line: line).find()
    let dialect = CSVDialect(schema.layout.dialect, found: found.dialect)
    var dataOffset = found.recordsOffset
    if dialect.hasHeader {
      guard let header = found.header else {
        throw try CSVLocator(file: file).error(
          CSVFault(
            offset: found.recordsOffset,
            reason: "The layout has a header row, and this line does not name its columns.",
            recovery: "Change the layout or the file."
          ),
          entity: schema.entity
        )
      }
      dataOffset = header
    }
    if dataOffset == file.size, found.dialect.endsLastLine == false { dataOffset += dialect.lineEndBytes.count }
    return CSVPreamble(
      identifier: line.identifier,
      dialect: dialect,
      markLength: line.markLength,
      dataOffset: dataOffset
    )
  }
}
