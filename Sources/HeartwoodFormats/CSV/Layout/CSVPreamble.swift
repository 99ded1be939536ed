import HeartwoodFoundation
import HeartwoodStore

/// The part of a file before the records: the byte order mark, the line with the identifier, and the header row.
struct CSVPreamble: Sendable {
  let identifier: UUID
  let dialect: CSVDialect
  /// The number of bytes of the byte order mark.
  let markLength: Int
  /// The offset of the records. In a file without any, it may be after the end of the file, if the line before them has
  /// no end.
  let dataOffset: Int
}

extension CSVPreamble {
  /// Reads as much of the file as is needed to detect its dialect.
  static func read(_ file: StoreInput, schema: CSVSchema) throws -> CSVPreamble {
    try read(file, schema: schema, behind: try CSVIdentifierLine.read(file))
  }

  /// Does the same for a first line that is known.
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

// MARK: CSVIdentifierLine

/// The first line: a number sign and the identifier of the store.
struct CSVIdentifierLine {
  /// The bytes with which spreadsheets pad a short line.
  private static let padding = CSVFormat.detectableSeparators + [CSVFormat.space]
  static let maximumLength = 1 << 12

  let identifier: UUID
  let markLength: Int
  /// Whether separators follow the identifier.
  let isPadded: Bool
  /// The offset of the next line.
  let end: Int
  /// Nil if the file ends with the line.
  let lineEnd: CSVStore.Dialect.LineEnd?

  /// Returns the line without its end; it has the same length for every identifier.
  static func text(of identifier: UUID) -> String { "#" + identifier.uuidString }

  static func read(_ file: StoreInput) throws -> CSVIdentifierLine {
    let bytes = try file.bytes(from: 0, count: maximumLength)
    do throws(CSVFault) {
      return try CSVIdentifierLine(bytes)
    } catch {
      throw try CSVLocator(file: file).error(error, entity: nil)
    }
  }

  /// Returns whether a file that begins with `bytes` is a file of this format.
  static func begins(_ bytes: [UInt8]) -> Bool {
    // try?: whether it can be read is the question.
    (try? CSVIdentifierLine(bytes)) != nil
  }

  /// Replaces a first line that is damaged: the line ends as any line does, and the store is a new one.
  init(inPlaceOfLineIn bytes: [UInt8]) {
    markLength = bytes.starts(with: CSVFormat.byteOrderMark) ? CSVFormat.byteOrderMark.count : 0
    identifier = UUID()
    isPadded = false
    let lineFeed = bytes.firstIndex(of: CSVFormat.lineFeed)
    let hasReturn = lineFeed.map { $0 > 0 && bytes[$0 - 1] == CSVFormat.carriageReturn } ?? false
    lineEnd = lineFeed.map { _ in hasReturn ? .carriageReturnLineFeed : .lineFeed }
    end = lineFeed.map { $0 + 1 } ?? bytes.count
  }

  private init(_ bytes: [UInt8]) throws(CSVFault) {
    markLength = bytes.starts(with: CSVFormat.byteOrderMark) ? CSVFormat.byteOrderMark.count : 0
    guard markLength < bytes.count, bytes[markLength] == CSVFormat.identifierMark else {
      throw CSVFault(offset: 0, reason: "The first line must be # and the UUID of the store; it is missing.")
    }
    let text = bytes[(markLength + 1)...].prefix(UUIDText.length)
    let uuid = text.withUnsafeBytes { text in
      text.count == UUIDText.length ? text.baseAddress.flatMap { UUIDText.uuid($0) } : nil
    }
    guard let uuid else {
      throw CSVFault(
        offset: markLength + 1,
        reason: "The text after # in the first line must be a UUID, and is not one."
      )
    }
    identifier = UUID(uuid: uuid)
    let rest = bytes[text.endIndex...].drop { Self.padding.contains($0) }
    isPadded = bytes[text.endIndex..<rest.startIndex].contains { $0 != CSVFormat.space }
    let isCarriageReturn = rest.first == CSVFormat.carriageReturn
    let lineFeed = isCarriageReturn ? rest.dropFirst() : rest
    if lineFeed.first == CSVFormat.lineFeed {
      lineEnd = isCarriageReturn ? .carriageReturnLineFeed : .lineFeed
      end = lineFeed.startIndex + 1
    } else if rest.isEmpty, bytes.count < Self.maximumLength {
      lineEnd = nil
      end = bytes.count
    } else {
      throw CSVFault(
        offset: rest.startIndex,
        reason: "Something follows the UUID in the first line.",
        recovery: "Put it on a line of its own."
      )
    }
  }
}
