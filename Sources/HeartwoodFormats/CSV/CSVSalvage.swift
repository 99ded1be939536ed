import HeartwoodModel
public import HeartwoodStore

/// Reads the undamaged records of a damaged file: after one that cannot be read, it continues with the next line.
///
/// Undamaged parts are read in blocks, which become smaller if there is a fault, so that no part is read many times.
struct CSVSalvage {
  private static let smallestBlock = 1 << 12
  private static let largestBlock = 1 << 20
  /// The length up to which a record is read again and again if quotes are broken.
  private static let usualRecordLength = 1 << 20
  /// The number of longer records that are followed to their end.
  private static let mostLongRecords = 64

  private let file: StoreInput
  private let schema: CSVSchema
  private let preamble: CSVPreamble
  private let salvage: StoreSalvage
  private let parser: CSVChunkParser
  private var groups: [RowGroup] = []
  private var lines: CSVLineCounter
  private var longRecordCount = 0

  init(_ file: StoreInput, schema: CSVSchema, preamble: CSVPreamble, into salvage: StoreSalvage) {
    self.file = file
    self.schema = schema
    self.preamble = preamble
    self.salvage = salvage
    lines = CSVLineCounter(file: file)
    parser = CSVChunkParser(
      file: file,
      schema: schema,
      dialect: preamble.dialect,
      chunkSize: Self.smallestBlock
    )
  }

  mutating func table() throws -> NodeTable {
    var (position, block) = (preamble.dataOffset, Self.largestBlock)
    while position < file.size {
      let end = min(position + block, file.size)
      if !salvage.isUnsound(position..<end) {
        let chunk = try parser.parse(from: position, before: end)
        // The last record may extend into a part that must not be trusted.
        if chunk.fault == nil, !salvage.isUnsound(position..<max(chunk.end, position)) {
          groups += chunk.groups
          position = max(chunk.end, position + 1)
          block = min(block * 2, Self.largestBlock)
          continue
        }
      }
      if block > Self.smallestBlock {
        block = max(Self.smallestBlock, block / 4)
      } else {
        position = try takeRecords(from: position, before: end)
      }
    }
    try noteUnendedLine()
    return try NodeTable(entity: schema.entity, joining: groups)
  }

  /// Reads the records that begin in a block one by one, and returns the place at which the next one begins.
  private mutating func takeRecords(from start: Int, before end: Int) throws -> Int {
    var position = start
    while position < end {
      let maximum = longRecordCount < Self.mostLongRecords ? Int.max : Self.usualRecordLength
      let chunk = try parser.parseRecord(from: position, maximumSize: maximum)
      if let chunk, chunk.fault == nil, chunk.end > position, !salvage.isUnsound(position..<chunk.end) {
        groups += chunk.groups
        position = chunk.end
      } else {
        position = try leaveOutRecord(at: position, chunk)
      }
    }
    return position
  }

  /// Notes a record that cannot be read, and returns the place of the next line that may be one.
  private mutating func leaveOutRecord(at start: Int, _ chunk: CSVChunkParser.Chunk?) throws -> Int {
    let end = try self.end(ofRecordAt: start)
    let line = try lines.line(of: start)
    let isUnsound = salvage.isUnsound(start..<end)
    let reason =
      isUnsound
      ? "The bytes of the record were changed or are missing." : chunk?.fault?.reason ?? "The record has no end."
    salvage.note(
      .init(
        .records,
        entity: schema.entity.name,
        property: isUnsound ? nil : chunk?.fault?.property,
        count: isUnsound ? nil : 1,
        line: line,
        byteRange: start..<end,
        reason: reason
      )
    )
    return end
  }

  /// Returns the end of a record if its quotes can be followed, or else of its first line. In a part that must not be
  /// trusted, that is the first line after it.
  private mutating func end(ofRecordAt start: Int) throws -> Int {
    if let unsound = salvage.unsoundRanges.first(where: { $0.upperBound > start }),
      try unsound.lowerBound < self.lineEnd(from: start)
    {
      return try lineEnd(from: unsound.upperBound)
    }
    let bytes = try file.bytes(from: start, count: Self.usualRecordLength)
    let splitter = CSVFieldSplitter(
      separator: preamble.dialect.separator,
      dropsSpace: preamble.dialect.hasSpaceAfterSeparator,
      isWhole: start + bytes.count >= file.size
    )
    if case .record(let record) = splitter.split(bytes, from: 0), record.end > 0 { return start + record.end }
    longRecordCount += bytes.contains(CSVFormat.quote) ? 1 : 0
    return try lineEnd(from: start)
  }

  /// Returns the end of the line with the byte at `start`, line feed included.
  private func lineEnd(from start: Int) throws -> Int {
    var position = start
    while position < file.size {
      let bytes = try file.bytes(from: position, count: Self.smallestBlock)
      if let place = bytes.firstIndex(of: CSVFormat.lineFeed) { return position + place + 1 }
      position += max(bytes.count, 1)
    }
    return file.size
  }

  /// Reports that the file may have been truncated, if its last line has no end; and its last field too, if the record
  /// was used.
  private mutating func noteUnendedLine() throws {
    guard let last = try file.bytes(from: file.size - 1, count: 1).first, last != CSVFormat.lineFeed else { return }
    let start = try lastLineStart()
    let line = try lines.line(of: start)
    let isTaken = file.size > preamble.dataOffset && salvage.losses.last?.byteRange?.upperBound != file.size
    if isTaken, let group = groups.last {
      salvage.note(
        .init(
          .values,
          entity: schema.entity.name,
          property: schema.columns.last?.property,
          references: [group.references[group.rowCount - 1]],
          count: 0,
          line: line,
          byteRange: start..<file.size,
          reason: "The last line has no end. It was taken as it is, and may have been cut short in its last field."
        )
      )
    }
    salvage.note(
      .init(
        .records,
        entity: schema.entity.name,
        count: nil,
        line: line,
        reason: "The last line has no end, so the file may have been cut short here: what followed is not known."
      )
    )
  }

  private func lastLineStart() throws -> Int {
    let start = max(min(preamble.dataOffset, file.size), file.size - Self.usualRecordLength)
    let bytes = try file.bytes(from: start, count: file.size - start)
    return bytes.lastIndex(of: CSVFormat.lineFeed).map { start + $0 + 1 } ?? start
  }
}

/// Counts lines up to ascending places.
private struct CSVLineCounter {
  private static let blockSize = 1 << 16

  let file: StoreInput
  private var position = 0
  private var line = 1

  init(file: StoreInput) {
    self.file = file
  }

  /// Returns the line with the byte at `offset`, counted from 1.
  mutating func line(of offset: Int) throws(PersistenceError) -> Int {
    if offset < position { (position, line) = (0, 1) }
    while position < offset {
      let bytes = try file.bytes(from: position, count: min(Self.blockSize, offset - position))
      guard !bytes.isEmpty else { break }
      line += bytes.count { $0 == CSVFormat.lineFeed }
      position += bytes.count
    }
    return line
  }
}

extension CSVStore: SalvagingStore {
  /// Reads line by line: a record that cannot be read is left out, and the next line is tried. The format has no
  /// checksums, so a changed letter of a text is not noticed.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    let preamble = try preamble(file, salvage)
    salvage.loader.metadata.identifier = preamble.identifier
    salvage.loader.attachment = preamble
    var reader = CSVSalvage(file, schema: schema, preamble: preamble, into: salvage)
    salvage.loader.setTable(try reader.table())
  }

  private func preamble(_ file: StoreInput, _ salvage: StoreSalvage) throws -> CSVPreamble {
    do {
      return try CSVPreamble.read(file, schema: schema)
    } catch let error as PersistenceError where error.code == .fileMalformed {
      let bytes = try file.bytes(from: 0, count: CSVIdentifierLine.maximumLength)
      if CSVIdentifierLine.begins(bytes) { throw error }
      let line = CSVIdentifierLine(inPlaceOfLineIn: bytes)
      var loss = SalvageReport.Loss(.fileParts, error, count: 0, byteRange: 0..<line.end)
      loss.line = 1
      loss.reason += " The store counts as a new one."
      salvage.note(loss)
      return try CSVPreamble.read(file, schema: schema, behind: line)
    }
  }
}
