import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// What is kept of the end of a file for the next save that is added to it.
struct BinaryLogMemory: Sendable {
  /// The newest save.
  var newest: BinarySlot
  /// The text of the metadata in the file.
  let metadata: Data
  /// The numbers of rows in the file, by entity ordinal.
  let numberings: [BinaryRowNumbering]
}

/// The numbers that the rows of a table have in its file: all rows since it was written as a whole, counted from 0 on.
///
/// In memory, rows of records that were deleted before that stay in their places; the file does not have them.
struct BinaryRowNumbering: Sendable {
  private struct Group {
    let rowCount: Int
    let liveness: BitSlice?
    /// The number of the first row that is in the file.
    let firstNumber: Int
  }

  private var groups: [Group] = []
  /// The number of rows in the part of the file that was written as a whole.
  private var writtenCount = 0
  /// The number of rows in memory at that time.
  private var rowCount = 0

  /// Makes the numbers for a table whose groups were read from the file.
  init(rowCounts: [Int]) {
    for rowCount in rowCounts { append(rowCount, nil, liveCount: rowCount) }
  }

  /// Makes the numbers for a table that was written as a whole.
  init(_ table: NodeTable) {
    for group in table.groups { append(group.rowCount, group.liveness, liveCount: group.liveCount) }
  }

  private mutating func append(_ rowCount: Int, _ liveness: BitSlice?, liveCount: Int) {
    groups.append(Group(rowCount: rowCount, liveness: liveness, firstNumber: writtenCount))
    writtenCount += liveCount
    self.rowCount += rowCount
  }

  /// Returns the number of a row.
  ///
  /// - Parameter start: the number of rows in memory before those of the row's group.
  func number(of row: RowID, groupStart start: Int) -> Int {
    if row.group < groups.count, row.row < groups[row.group].rowCount {
      let group = groups[row.group]
      return group.firstNumber + (group.liveness?.setBitCount(row.row) ?? row.row)
    }
    return writtenCount + start + row.row - rowCount
  }
}

extension BinarySlot {
  /// Makes the slot of a file that was written as a whole and ends with `trailer`.
  init(_ trailer: BinaryTrailer) {
    self.init(
      number: 0,
      end: trailer.fileLength,
      baseEnd: trailer.fileLength,
      chain: trailer.directory.checksum
    )
  }
}

// MARK: BinaryAppender

/// Makes of a save the block that is added to the end of the file.
struct BinaryAppender {
  private let memory: BinaryLogMemory
  /// The updates and deletions, by row of the tables before the save, and the insertions.
  private let columns: ColumnChanges
  private let transaction: ByteSlice?
  private let contents: StoreContents
  private let before: StoreContents
  private let path: String

  /// A save that is a greater part of the file than this is written with all of it.
  private static let greatestPart = 8
  /// The greatest number of saves before the file is written as a whole.
  private static let greatestCount: UInt64 = 1 << 14
  /// The greatest length of a block, far below where its numbers end.
  private static let greatestLength = 1 << 26

  /// - Parameters:
  ///   - transaction: what the save adds to the history; nil if none is kept.
  ///   - contents: the records after the save.
  ///   - before: the records before the save.
  init(
    _ memory: BinaryLogMemory,
    _ columns: ColumnChanges,
    _ transaction: ByteSlice?,
    _ contents: StoreContents,
    _ before: StoreContents,
    path: String
  ) {
    self.memory = memory
    self.columns = columns
    self.transaction = transaction
    self.contents = contents
    self.before = before
    self.path = path
  }

  /// Returns what is added to the file, and what is kept of its end then; nil if the file should be written as a whole.
  func appendix() throws(PersistenceError) -> (appendix: FileAppendix, log: BinaryLogMemory)? {
    let newest = memory.newest
    guard newest.number < Self.greatestCount, isSmall,
      try contents.metadata.binaryJSON(path: path) == memory.metadata
    else { return nil }
    let block = try block().encoded(transaction, after: newest)
    guard block.bytes.count <= min(Self.greatestLength, newest.baseEnd / Self.greatestPart),
      block.slot.end - newest.baseEnd <= newest.baseEnd / 2
    else { return nil }
    var after = memory
    after.newest = block.slot
    return (FileAppendix(start: newest.end, bytes: block.bytes, seal: block.slot.patch), after)
  }

  /// Whether few records change, and most of the records in the file are still there.
  private var isSmall: Bool {
    let changed =
      columns.updates.reduce(0) { $0 + $1.groups.reduce(0) { $0 + $1.rows.count } }
      + columns.deletions.reduce(0) { $0 + $1.rows.count } + columns.insertions.reduce(0) { $0 + $1.count }
    let rows = contents.tables.reduce(0) { $0 + $1.groups.reduce(0) { $0 + $1.rowCount } }
    return changed <= max(1, rows / Self.greatestPart) && contents.count >= rows / 4 * 3
  }

  private func block() throws(PersistenceError) -> BinaryBlockBuilder {
    var block = BinaryBlockBuilder(entityCount: contents.model.entities.count)
    for update in columns.updates {
      let numbers = RowNumbers(update.entity, before, memory)
      for group in update.groups { try add(group, of: update.entity, numbers, to: &block) }
    }
    for deletion in columns.deletions { add(deletion, to: &block) }
    for insertion in columns.insertions {
      for group in insertion.groups { try add(group, of: insertion.entity, to: &block) }
    }
    return block
  }

  private func add(
    _ group: UpdatedGroup,
    of entity: EntityDescription,
    _ numbers: RowNumbers,
    to block: inout BinaryBlockBuilder
  ) throws(PersistenceError) {
    let meaning = ColumnMeaning(of: entity, in: contents.model)
    let changed = entity.storedOrdinals.enumerated().compactMap { place, ordinal in
      group.columns[ordinal].map { (place: place, ordinal: ordinal, column: $0) }
    }
    for (_, ordinal, column) in changed {
      if let fault = meaning.fault(in: column.values, ordinal: ordinal) { throw unsupported(fault, entity) }
    }
    let versions = contents.tables[entity.ordinal].groups[group.group].versions
    block.addRun(
      table: entity.ordinal,
      .update,
      rowCount: group.rows.count,
      columnCount: changed.count
    ) { block in
      for row in group.rows { block.append(number: numbers[RowID(group: group.group, row: Int(row))]) }
      for row in group.rows { block.append(version: versions[Int(row)]) }
      for (place, _, column) in changed {
        let count = column.values.rowCount
        block.append(number: place)
        block.append(number: count)
        if count < group.rows.count {
          for index in 0..<count { block.append(number: column.place(index)) }
        }
        block.append(column.values)
      }
    }
  }

  private func add(_ deletion: DeletedRows, to block: inout BinaryBlockBuilder) {
    let numbers = RowNumbers(deletion.entity, before, memory)
    var rest = deletion.rows.map { numbers[$0] }.sorted()[...]
    while !rest.isEmpty {
      let rows = rest.prefix(RowID.rowsPerGroup)
      block.addRun(table: deletion.entity.ordinal, .deletion, rowCount: rows.count, columnCount: 0) { block in
        for row in rows { block.append(number: row) }
      }
      rest = rest.dropFirst(rows.count)
    }
  }

  private func add(
    _ group: RowGroup,
    of entity: EntityDescription,
    to block: inout BinaryBlockBuilder
  ) throws(PersistenceError) {
    if group.rowCount == 0 { return }
    let meaning = ColumnMeaning(of: entity, in: contents.model)
    if let fault = meaning.fault(in: group) { throw unsupported(fault, entity) }
    let ordinals = entity.storedOrdinals
    block.addRun(
      table: entity.ordinal,
      .insertion,
      layout: group.references.layout,
      rowCount: group.rowCount,
      columnCount: ordinals.count
    ) { block in
      block.append(group.references)
      for row in 0..<group.rowCount { block.append(version: group.versions[row]) }
      for ordinal in ordinals { block.append(group.columns[ordinal]) }
    }
  }

  private func unsupported(_ fault: ColumnFault, _ entity: EntityDescription) -> PersistenceError {
    fault.unsupported(by: .binary, path: path, entity: entity.name)
  }
}

/// The numbers of the rows of a table in the file.
private struct RowNumbers {
  private let numbering: BinaryRowNumbering
  private var starts: [Int] = []

  init(_ entity: EntityDescription, _ before: StoreContents, _ memory: BinaryLogMemory) {
    numbering = memory.numberings[entity.ordinal]
    var start = 0
    for group in before.tables[entity.ordinal].groups {
      starts.append(start)
      start += group.rowCount
    }
  }

  subscript(row: RowID) -> Int { numbering.number(of: row, groupStart: starts[row.group]) }
}
