import HeartwoodModel
import HeartwoodStore
import Synchronization

/// Reads the records of a file into groups of rows, on all processors.
///
/// The file is divided into parts of equal size. Each is read from its first line on, assuming that this line does not
/// begin inside quotes. Afterwards the parts are joined in order; a part for which the assumption was wrong, because it
/// does not begin at the end of the one before it, is read again.
struct CSVReader {
  static let defaultChunkSize = 1 << 22
  /// Places in it, and in the longest record that may begin in it, fit into 31 bits.
  static let greatestChunkSize = 1 << 29

  let file: StoreInput
  let schema: CSVSchema
  let preamble: CSVPreamble
  let chunkSize: Int

  func groups() throws -> [RowGroup] {
    let chunks = try parsedChunks()
    var groups: [RowGroup] = []
    var position = preamble.dataOffset
    let parser = makeParser()
    for (index, guess) in chunks.enumerated() {
      let range = range(of: index)
      guard position < range.upperBound else { continue }
      let chunk: CSVChunkParser.Chunk
      if let guess, guess.start == position {
        chunk = guess
      } else {
        chunk = try parser.parse(from: position, before: range.upperBound)
      }
      if let fault = chunk.fault { throw try CSVLocator(file: file).error(fault, entity: schema.entity) }
      groups += chunk.groups
      position = chunk.end
    }
    try check(groups)
    return groups
  }

  private func makeParser() -> CSVChunkParser {
    CSVChunkParser(file: file, schema: schema, dialect: preamble.dialect, chunkSize: chunkSize)
  }

  private var chunkCount: Int {
    let size = max(0, file.size - preamble.dataOffset)
    return size / chunkSize + (size.isMultiple(of: chunkSize) ? 0 : 1)
  }

  private func range(of chunk: Int) -> Range<Int> {
    let start = preamble.dataOffset + chunk * chunkSize
    return start..<min(start + chunkSize, file.size)
  }

  /// Parses each part on the assumption above; nil for parts without a line.
  private func parsedChunks() throws -> [CSVChunkParser.Chunk?] {
    let count = chunkCount
    let next = Mutex(0)
    let results = try Parallel.tryMap(min(count, Parallel.powerOfTwoProcessorCount)) { _ in
      let parser = makeParser()
      var parsed: [(index: Int, chunk: CSVChunkParser.Chunk?)] = []
      while true {
        let index = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard index < count else { return parsed }
        let range = range(of: index)
        let chunk =
          index == 0
          ? try parser.parse(from: range.lowerBound, before: range.upperBound) : try parser.parse(guessingIn: range)
        parsed.append((index, chunk))
      }
    }
    return results.joined().sorted { $0.index < $1.index }.map(\.chunk)
  }

  private func check(_ groups: [RowGroup]) throws(PersistenceError) {
    guard groups.count > RowID.maximumGroupCount else { return }
    throw PersistenceError(
      .capabilityMissing,
      "The file has more records than an atomic store keeps.",
      context: .init(path: file.path, storeType: .csv, entity: schema.entity.name)
    )
  }
}

// MARK: Duplicates

extension CSVReader {
  /// Checks that no two records of `table`, which was read from the file, have the same reference.
  func checkReferences(_ table: NodeTable) throws(PersistenceError) {
    guard let duplicate = table.firstDuplicate() else { return }
    let first = try place(of: duplicate.first, in: table)
    let second = try place(of: duplicate.second, in: table)
    let line = try CSVLocator(file: file).place(of: first).line
    let fault = CSVFault(
      offset: second,
      reason: "The record has the same reference as the one in line \(line).",
      recovery: "Give each one of its own.",
      code: .duplicateReference
    )
    throw try CSVLocator(file: file).error(fault, entity: schema.entity)
  }

  /// Returns the place in the file of a record's reference.
  private func place(of row: RowID, in table: NodeTable) throws(PersistenceError) -> Int {
    let index = table.groups[..<row.group].reduce(row.row) { $0 + $1.rowCount }
    var scanner = CSVRecordScanner(file: file, from: preamble.dataOffset)
    guard let range = try scanner.record(index) else { return preamble.dataOffset }
    let bytes = try file.bytes(from: range.lowerBound, count: range.count)
    let splitter = CSVFieldSplitter(
      separator: preamble.dialect.separator,
      dropsSpace: preamble.dialect.hasSpaceAfterSeparator,
      isWhole: true
    )
    guard case .record(let record) = splitter.split(bytes, from: 0), schema.referenceColumn < record.fields.count else {
      return range.lowerBound
    }
    return range.lowerBound + record.fields[schema.referenceColumn].range.lowerBound
  }
}
