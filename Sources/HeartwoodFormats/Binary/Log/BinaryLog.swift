import HeartwoodModel
import HeartwoodStore

/// The saves that were added to the end of a file since it was written as a whole.
struct BinaryLog: Sendable {
  /// The slot of the part that was written as a whole.
  private let base: BinarySlot
  private(set) var blocks: [BinaryBlock] = []

  /// The slot that names the newest save.
  var newest: BinarySlot { blocks.last?.slot ?? base }

  /// The end of the part that was written as a whole.
  var baseEnd: Int { base.end }

  /// Reads the saves of a file, up to the newest one that is whole. Bytes after it are what an interrupted save left.
  ///
  /// - Parameters:
  ///   - directoryChecksum: the checksum of the directory of the part that was written as a whole.
  ///   - file: the mapped file.
  ///   - input: the same file.
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if a save that is named at the front of the file is not whole.
  init(
    _ slot: BinarySlot,
    directoryChecksum: UInt64,
    in file: ByteSlice,
    _ input: StoreInput,
    _ fault: BinaryFault
  ) throws(PersistenceError) {
    let known = file.slice(from: 0, count: slot.end) ?? .empty
    self.init(baseEnd: slot.baseEnd, directoryChecksum: directoryChecksum, in: known)
    guard newest == slot else {
      throw fault.corrupt("save \(newest.number + 1) of those that were added is damaged", at: newest.end)
    }
    // What the slot does not name yet is copied: another process may cut it off again.
    while let block = try Self.block(after: newest, in: input) { blocks.append(block) }
  }

  /// Reads the saves up to the newest one that is whole, whatever the front of the file says.
  init(baseEnd: Int, directoryChecksum: UInt64, in file: ByteSlice) {
    base = BinarySlot(number: 0, end: baseEnd, baseEnd: baseEnd, chain: directoryChecksum)
    while let rest = file.slice(from: newest.end, count: file.count - newest.end),
      let block = BinaryBlock(rest, after: newest)
    {
      blocks.append(block)
    }
  }

  /// Returns a copy of the block that follows a save; nil if there is no whole one.
  private static func block(
    after save: BinarySlot,
    in input: StoreInput
  ) throws(PersistenceError) -> BinaryBlock? {
    let head = try input.bytes(from: save.end, count: BinaryBlock.headLength)
    guard let length = BinaryBlock.length(ofHead: head), length <= input.size - save.end else { return nil }
    let bytes = ByteSlice(try input.bytes(from: save.end, count: length))
    return BinaryBlock(bytes, after: save)
  }

  /// Returns the runs that concern the table at a place, in the order of the saves.
  func runs(ofTable place: Int) -> [BinaryBlock.Run] {
    blocks.flatMap { $0.runs.lazy.filter { $0.table == place } }
  }

  /// The places of all tables that a save changes.
  var changedTables: Set<Int> {
    blocks.reduce(into: []) { tables, block in
      for run in block.runs { tables.insert(run.table) }
    }
  }

  /// Returns the transactions of the saves as a page of the history, whose content has not been checked; nil if there
  /// are none.
  func historyPage(_ file: BinaryFile) -> HistoryPage? {
    let transactions = blocks.compactMap(\.transaction)
    if transactions.isEmpty { return nil }
    let bytes = GrowableBytes(capacity: transactions.reduce(0) { $0 + $1.count })
    for transaction in transactions { bytes.append(transaction.unsafeBytes) }
    let content = bytes.sealed()
    let verifier = BinaryLogHistoryVerifier(
      content: content,
      transactionCount: transactions.count,
      offset: baseEnd,
      fault: file.fault
    )
    return HistoryPage(content, transactionCount: transactions.count, verifier: verifier)
  }
}

/// Checks the transactions of saves that were added to a file.
private struct BinaryLogHistoryVerifier: HistoryPageVerifier {
  let content: ByteSlice
  let transactionCount: Int
  let offset: Int
  let fault: BinaryFault

  func verify() throws(PersistenceError) {
    guard let found = HistoryPage.fault(in: content, transactionCount: transactionCount) else { return }
    throw fault.corrupt(found.what, at: offset)
  }
}

// MARK: BinaryTableLog

/// Brings the groups of one table up to date with the saves that follow them in the file.
struct BinaryTableLog: Sendable {
  private let file: BinaryFile
  private let table: BinaryDirectory.Table
  private let entity: EntityDescription
  private let order: BinaryColumnOrder
  private let entityMap: BinaryEntityMap
  private let meaning: ColumnMeaning
  private let runs: [BinaryBlock.Run]

  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if a run cannot be one of this table.
  init(
    _ runs: [BinaryBlock.Run],
    _ file: BinaryFile,
    _ table: BinaryDirectory.Table,
    _ entity: EntityDescription,
    _ order: BinaryColumnOrder,
    _ entityMap: BinaryEntityMap,
    model: ManagedObjectModel
  ) throws(PersistenceError) {
    self.file = file
    self.table = table
    self.entity = entity
    self.order = order
    self.entityMap = entityMap
    self.runs = runs
    meaning = ColumnMeaning(of: entity, in: model)
    for run in runs {
      let columnCount =
        switch run.kind {
        case .insertion: table.columns.count...table.columns.count
        case .update: 0...table.columns.count
        case .deletion: 0...0
        }
      guard columnCount.contains(run.columnCount), run.rowCount <= RowID.rowsPerGroup else {
        throw corrupt("a save is described incorrectly", run)
      }
    }
  }

  /// The number of records after the saves.
  var count: Int {
    runs.reduce(table.rowCount) { count, run in
      switch run.kind {
      case .insertion: count + run.rowCount
      case .update: count
      case .deletion: count - run.rowCount
      }
    }
  }

  /// Returns the groups after the saves, new records in groups of their own. The groups have been checked; what the
  /// saves have for them is checked here. O(changed rows), and O(rows) for each column that changes.
  ///
  /// - Parameter base: the groups of the table in the part that was written as a whole; nil for one that is damaged.
  func revised(_ base: [RowGroup?]) throws(PersistenceError) -> [RowGroup?] {
    var rows = RowPlaces(table.groups.map(\.rowCount))
    let inserted = TableBuilder(entity: entity)
    var revisions: [Int: GroupRevision] = [:]
    for run in runs where run.kind == .insertion { try inserted.append(liveRowsOf: try insertion(run)) }
    let groups = base + inserted.finish().groups.map(Optional.some)
    for group in groups[base.count...] { rows.append(group?.rowCount ?? 0) }
    var known = table.rowCount
    for run in runs {
      switch run.kind {
      case .insertion: known += run.rowCount
      case .update: try update(run, of: rows, known: known, &revisions)
      case .deletion: try delete(run, of: rows, known: known, &revisions)
      }
    }
    let changes = revisions
    return Parallel.map(groups.count) { place in
      groups[place].map { group in changes[place].map { $0.applied(to: group) } ?? group }
    }
  }

  private func insertion(_ run: BinaryBlock.Run) throws(PersistenceError) -> RowGroup {
    var cursor = BinaryRunCursor(run, file, entityMap)
    let references = try cursor.names(run.referenceLayout, count: run.rowCount, of: entity)
    let versions = VersionColumn.each(try cursor.bytes(run.rowCount * 8))
    var columns: [RecordColumn] = []
    for column in table.columns { columns.append(try cursor.column(column, rowCount: run.rowCount, of: entity)) }
    try cursor.expectEnd(entity.name)
    let group = RowGroup(
      references: references,
      versions: versions,
      columns: order.places.map { $0.map { columns[$0] } ?? .absent(rowCount: run.rowCount) }
    )
    if let fault = meaning.fault(in: group) { throw corrupt(fault) }
    return group
  }

  private func update(
    _ run: BinaryBlock.Run,
    of rows: RowPlaces,
    known: Int,
    _ revisions: inout [Int: GroupRevision]
  ) throws(PersistenceError) {
    var cursor = BinaryRunCursor(run, file, entityMap)
    let places = try self.rows(&cursor, run, rows, known)
    for row in places {
      let version = try cursor.number(UInt64.self)
      guard (1...UInt64(Int64.max)).contains(version) else { throw corrupt("a version is not possible", run) }
      revisions[row.group, default: GroupRevision()].setVersion(version, row: row.row)
    }
    for _ in 0..<run.columnCount { try updateColumn(&cursor, run, places, &revisions) }
    try cursor.expectEnd(entity.name)
  }

  private func updateColumn(
    _ cursor: inout BinaryRunCursor,
    _ run: BinaryBlock.Run,
    _ rows: [RowID],
    _ revisions: inout [Int: GroupRevision]
  ) throws(PersistenceError) {
    let place = Int(try cursor.number(UInt32.self))
    let count = Int(try cursor.number(UInt32.self))
    guard order.ordinals.indices.contains(place), (1...rows.count).contains(count) else {
      throw corrupt("a save is described incorrectly", run)
    }
    var changed = Array(rows.indices)
    if count < rows.count {
      changed = []
      for _ in 0..<count { changed.append(Int(try cursor.number(UInt32.self))) }
      guard changed.allSatisfy(rows.indices.contains), zip(changed, changed.dropFirst()).allSatisfy(<) else {
        throw corrupt("the rows of a save are not in order", run)
      }
    }
    let ordinal = order.ordinals[place]
    let column = try cursor.column(table.columns[place], rowCount: count, of: entity)
    if let fault = meaning.fault(in: column, ordinal: ordinal) { throw corrupt(fault) }
    var sources: [Int: Int] = [:]
    for (index, row) in changed.lazy.map({ rows[$0] }).enumerated() {
      let source = sources[row.group] ?? revisions[row.group, default: GroupRevision()].addSource(column)
      sources[row.group] = source
      revisions[row.group, default: GroupRevision()]
        .setValue(ordinal: ordinal, row: row.row, source: source, index: index)
    }
  }

  private func delete(
    _ run: BinaryBlock.Run,
    of rows: RowPlaces,
    known: Int,
    _ revisions: inout [Int: GroupRevision]
  ) throws(PersistenceError) {
    var cursor = BinaryRunCursor(run, file, entityMap)
    for row in try self.rows(&cursor, run, rows, known) {
      guard revisions[row.group, default: GroupRevision()].delete(row: row.row) else {
        throw corrupt("a record is deleted twice", run)
      }
    }
    try cursor.expectEnd(entity.name)
  }

  /// Reads the numbers of rows, which ascend.
  private func rows(
    _ cursor: inout BinaryRunCursor,
    _ run: BinaryBlock.Run,
    _ rows: RowPlaces,
    _ known: Int
  ) throws(PersistenceError) -> [RowID] {
    var places: [RowID] = []
    places.reserveCapacity(run.rowCount)
    var last = -1
    for _ in 0..<run.rowCount {
      let number = Int(try cursor.number(UInt32.self))
      guard number > last, number < known else { throw corrupt("the rows of a save are not in order", run) }
      places.append(rows[number])
      last = number
    }
    return places
  }

  private func corrupt(_ what: String, _ run: BinaryBlock.Run) -> PersistenceError {
    file.fault.corrupt(what, at: run.offset, entity: entity.name)
  }

  private func corrupt(_ fault: ColumnFault) -> PersistenceError {
    fault.corrupt(in: file.fault.path, storeType: .binary, entity: entity.name)
  }
}

/// Finds the rows of a table by their numbers: all rows of its groups, counted from 0 on.
private struct RowPlaces {
  private var starts: [Int] = []
  private var end = 0

  init(_ rowCounts: [Int]) {
    for count in rowCounts { append(count) }
  }

  mutating func append(_ rowCount: Int) {
    starts.append(end)
    end += rowCount
  }

  /// The row with a number that is less than the number of rows.
  subscript(number: Int) -> RowID {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= number { low = middle } else { high = middle }
    }
    return RowID(group: low, row: number - starts[low])
  }
}

// MARK: BinaryRunCursor

/// Reads the content of a run, and never past its end.
struct BinaryRunCursor: BinaryPartReader {
  let entityMap: BinaryEntityMap
  private let fault: BinaryFault
  private let tableCount: Int
  /// The bytes that the cursor reads, which exist as long as this.
  private let content: ByteSlice
  private let start: Int
  private var cursor: BinaryCursor

  init(_ run: BinaryBlock.Run, _ file: BinaryFile, _ entityMap: BinaryEntityMap) {
    self.entityMap = entityMap
    fault = file.fault
    tableCount = file.directory.tables.count
    content = run.content
    start = run.offset
    cursor = BinaryCursor(content.unsafeBytes, start: start, fault: fault, what: "a save")
  }

  mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type
  ) throws(PersistenceError) -> Number {
    try cursor.number(type)
  }

  /// Returns the next `count` bytes.
  mutating func bytes(_ count: Int) throws(PersistenceError) -> ByteSlice {
    let offset = cursor.offset - start
    try cursor.pass(count)
    return content.slice(from: offset, count: count) ?? .empty
  }

  /// Returns the next part, which has its length before it.
  mutating func part() throws(PersistenceError) -> ByteSlice {
    let count = Int(try cursor.number(UInt32.self))
    return try bytes(count)
  }

  /// Returns the values of a column and how they lie. The parts may not fit each other.
  mutating func column(
    _ column: BinaryDirectory.Column,
    rowCount: Int,
    of entity: EntityDescription
  ) throws(PersistenceError) -> RecordColumn {
    let entry = try BinaryDirectory.GroupColumn(
      &cursor,
      column,
      rowCount: rowCount,
      tableCount: tableCount,
      entity: entity.name,
      fault
    )
    return try self.column(entry, column, rowCount: rowCount, entity: entity.name)
  }

  func expectEnd(_ entity: String) throws(PersistenceError) {
    guard cursor.remainingCount == 0 else {
      throw fault.corrupt("a save goes on too long", at: cursor.offset, entity: entity)
    }
  }
}
