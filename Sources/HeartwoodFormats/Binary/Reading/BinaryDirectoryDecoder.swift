import HeartwoodStore

/// Reads a directory whose checksum is right. It may still be forged, so every number is checked against the others
/// before it is used.
struct BinaryDirectoryDecoder {
  private let section: BinarySection
  private let hasHistory: Bool
  /// The offset of the first section.
  private let firstOffset: Int
  /// Whether the directory ends at the end of the section that it is read from.
  private let isLengthKnown: Bool
  private let fault: BinaryFault
  private var cursor: BinaryCursor
  /// The place of the next section that no group has used yet.
  private var nextSection = BinaryFormat.commonSectionCount
  private var sections: [BinarySection] = []
  private var tableCount = 0

  /// - Parameters:
  ///   - file: the whole file, which contains `section`, the directory.
  ///   - firstOffset: the offset of the first section.
  ///   - isLengthKnown: whether the directory takes the whole section; otherwise it takes what it needs.
  init(
    _ file: UnsafeRawBufferPointer,
    section: BinarySection,
    hasHistory: Bool,
    firstOffset: Int,
    isLengthKnown: Bool = true,
    fault: BinaryFault
  ) {
    self.section = section
    self.hasHistory = hasHistory
    self.firstOffset = firstOffset
    self.isLengthKnown = isLengthKnown
    self.fault = fault
    let bytes = UnsafeRawBufferPointer(rebasing: file[section.offset..<(section.offset + section.length)])
    self.cursor = BinaryCursor(bytes, start: section.offset, fault: fault)
  }

  /// The number of bytes that have been read.
  var consumedCount: Int { cursor.offset - section.offset }

  mutating func decode() throws(PersistenceError) -> BinaryDirectory {
    let sectionCount = Int(try cursor.number(UInt32.self))
    tableCount = Int(try cursor.number(UInt32.self))
    guard sectionCount >= BinaryFormat.commonSectionCount,
      sectionCount <= cursor.remainingCount / BinarySection.encodedLength
    else { throw fault.corrupt("there cannot be \(sectionCount) sections", at: section.offset) }
    try decodeSections(sectionCount)
    var tables: [BinaryDirectory.Table] = []
    for _ in 0..<tableCount { tables.append(try table()) }
    let history = hasHistory ? try history() : nil
    guard nextSection == sections.count else {
      throw fault.corrupt("sections belong to no table", at: sections[nextSection].offset)
    }
    guard cursor.remainingCount == 0 || !isLengthKnown else {
      throw fault.corrupt("the directory goes on too long", at: cursor.offset)
    }
    try checkUnique(tables.map(\.entityName), "two tables have the same entity")
    return BinaryDirectory(sections: sections, tables: tables, history: history)
  }

  /// Sections lie one after the other from the front to the directory, so that no byte is left out.
  private mutating func decodeSections(_ count: Int) throws(PersistenceError) {
    sections.reserveCapacity(count)
    var end = firstOffset
    for _ in 0..<count {
      let place = cursor.offset
      let next = try BinarySection(&cursor)
      guard next.offset == end, next.isInside(firstOffset..<section.offset) else {
        throw fault.corrupt("a section does not begin where the one before it ends", at: place)
      }
      sections.append(next)
      end = next.end
    }
    guard end == section.offset else { throw fault.corrupt("bytes belong to no section", at: end) }
  }

  private mutating func history() throws(PersistenceError) -> BinaryDirectory.History {
    let place = cursor.offset
    let purged = try cursor.number(Int64.self)
    let pageCount = Int(try cursor.number(UInt32.self))
    guard purged >= 0, pageCount <= sections.count - nextSection else {
      throw fault.corrupt("the history is described incorrectly", at: place)
    }
    var history = BinaryDirectory.History(purgedNumber: purged, transactionCounts: [], firstSection: nextSection)
    var last = purged
    for _ in 0..<pageCount {
      let place = cursor.offset
      let count = Int(try cursor.number(UInt32.self))
      let (sum, overflow) = last.addingReportingOverflow(Int64(count))
      let limit = sections[nextSection].length / HistoryPage.minimumTransactionLength
      guard !overflow, (1...max(1, limit)).contains(count) else {
        throw fault.corrupt("a page of the history cannot have \(count) transactions", at: place)
      }
      history.transactionCounts.append(count)
      nextSection += 1
      last = sum
    }
    return history
  }

  private mutating func table() throws(PersistenceError) -> BinaryDirectory.Table {
    let name = try cursor.name()
    let place = cursor.offset
    let rowCount = try cursor.size()
    let columnCount = Int(try cursor.number(UInt32.self))
    let groupCount = Int(try cursor.number(UInt32.self))
    var columns: [BinaryDirectory.Column] = []
    for _ in 0..<columnCount { columns.append(try column(entity: name)) }
    try checkUnique(columns.map(\.name), "two columns have the same name")
    guard groupCount <= RowID.maximumGroupCount else {
      throw fault.corrupt("there are too many groups of rows", at: place, entity: name)
    }
    var groups: [BinaryDirectory.Group] = []
    for _ in 0..<groupCount { groups.append(try group(columns, entity: name)) }
    let table = BinaryDirectory.Table(entityName: name, columns: columns, groups: groups)
    guard table.rowCount == rowCount else {
      throw fault.corrupt("the groups have not \(rowCount) rows in all", at: place, entity: name)
    }
    return table
  }

  private mutating func column(entity: String) throws(PersistenceError) -> BinaryDirectory.Column {
    let place = cursor.offset
    guard let type = BinaryPropertyType(rawValue: try cursor.number(UInt8.self)) else {
      throw fault.corrupt("a column is of an unknown type", at: place, entity: entity)
    }
    return BinaryDirectory.Column(name: try cursor.name(), type: type)
  }

  private mutating func group(
    _ columns: [BinaryDirectory.Column],
    entity: String
  ) throws(PersistenceError) -> BinaryDirectory.Group {
    let place = cursor.offset
    let rowCount = Int(try cursor.number(UInt32.self))
    let flags = try cursor.number(UInt8.self)
    let layout = ReferenceColumn.Layout(rawValue: try cursor.number(UInt8.self))
    let reserved = try cursor.number(UInt16.self)
    guard (1...RowID.rowsPerGroup).contains(rowCount), let layout, reserved == 0,
      flags & ~BinaryDirectory.GroupFlags.hasVersions == 0
    else { throw fault.corrupt("a group of rows is described incorrectly", at: place, entity: entity) }
    var group = BinaryDirectory.Group(
      rowCount: rowCount,
      referenceLayout: layout,
      hasVersions: flags & BinaryDirectory.GroupFlags.hasVersions != 0,
      columns: []
    )
    for column in columns {
      group.columns.append(
        try BinaryDirectory.GroupColumn(
          &cursor,
          column,
          rowCount: rowCount,
          tableCount: tableCount,
          entity: entity,
          fault
        )
      )
    }
    try claimSections(of: &group, columns, entity: entity)
    return group
  }

  private mutating func claimSections(
    of group: inout BinaryDirectory.Group,
    _ columns: [BinaryDirectory.Column],
    entity: String
  ) throws(PersistenceError) {
    group.firstSection = nextSection
    for length in group.sectionLengths(columns) {
      guard nextSection < sections.count else {
        throw fault.corrupt("there are fewer sections than groups need", at: cursor.offset, entity: entity)
      }
      let section = sections[nextSection]
      guard length == nil || length == section.length else {
        throw fault.corrupt("a section is not as long as its rows need", at: section.offset, entity: entity)
      }
      nextSection += 1
    }
  }

  private func checkUnique(_ names: [String], _ what: String) throws(PersistenceError) {
    guard Set(names).count == names.count else { throw fault.corrupt(what, at: section.offset) }
  }
}

extension BinaryDirectory.GroupColumn {
  /// Reads how the values of a column lie.
  init(
    _ cursor: inout BinaryCursor,
    _ column: BinaryDirectory.Column,
    rowCount: Int,
    tableCount: Int,
    entity: String,
    _ fault: BinaryFault
  ) throws(PersistenceError) {
    let place = cursor.offset
    let flags = try cursor.number(UInt8.self)
    let layout = ReferenceColumn.Layout(rawValue: try cursor.number(UInt8.self))
    let reserved = try cursor.number(UInt16.self)
    self.init(
      hasValidity: flags & BinaryDirectory.ColumnFlags.hasValidity != 0,
      hasEntityIndices: flags & BinaryDirectory.ColumnFlags.hasEntityIndices != 0,
      referenceLayout: layout ?? .integer,
      entityIndex: Int(try cursor.number(UInt32.self)),
      referenceCount: Int(try cursor.number(UInt32.self))
    )
    let known = BinaryDirectory.ColumnFlags.hasValidity | BinaryDirectory.ColumnFlags.hasEntityIndices
    guard layout != nil, reserved == 0, flags & ~known == 0, isPossible(column.type, rowCount, tableCount) else {
      throw fault.corrupt("a column is described incorrectly", at: place, entity: entity, property: column.name)
    }
  }

  private func isPossible(_ type: BinaryPropertyType, _ rowCount: Int, _ tableCount: Int) -> Bool {
    switch type {
    case .toOne: referenceCount == rowCount && entityIndex < tableCount
    case .toMany: !hasValidity && entityIndex < tableCount
    default: referenceCount == 0 && entityIndex == 0 && !hasEntityIndices && referenceLayout == .integer
    }
  }
}

// MARK: BinaryCursor

/// Reads numbers and names from bytes that may be invalid, and never past their end.
struct BinaryCursor {
  private let bytes: UnsafeRawBufferPointer
  private let start: Int
  private let fault: BinaryFault
  /// What the bytes are, for errors.
  private let what: String
  private var position = 0

  /// - Parameters:
  ///   - start: the offset in the file of the first of `bytes`.
  ///   - what: what the bytes are, for errors.
  init(_ bytes: UnsafeRawBufferPointer, start: Int, fault: BinaryFault, what: String = "the directory") {
    self.bytes = bytes
    self.start = start
    self.fault = fault
    self.what = what
  }

  /// The offset of the next byte in the file.
  var offset: Int { start + position }
  var remainingCount: Int { bytes.count - position }

  mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type
  ) throws(PersistenceError) -> Number {
    let place = try skip(MemoryLayout<Number>.size)
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
  }

  /// Reads a number of 8 bytes that is a length, a count or an offset.
  mutating func size() throws(PersistenceError) -> Int {
    let place = offset
    guard let size = Int(exactly: try number(UInt64.self)) else {
      throw fault.corrupt("a number is greater than any file is long", at: place)
    }
    return size
  }

  /// Reads a length of 4 bytes and as many bytes of UTF-8, at least one.
  mutating func name() throws(PersistenceError) -> String {
    let place = offset
    let length = Int(try number(UInt32.self))
    let first = try skip(length)
    let text = UnsafeRawBufferPointer(rebasing: bytes[first..<(first + length)])
    guard length > 0, let name = String(validating: text, as: UTF8.self) else {
      throw fault.corrupt("a name is not text", at: place)
    }
    return name
  }

  /// Moves on by `count` bytes.
  mutating func pass(_ count: Int) throws(PersistenceError) {
    _ = try skip(count)
  }

  private mutating func skip(_ count: Int) throws(PersistenceError) -> Int {
    guard count <= remainingCount else { throw fault.corrupt("\(what) ends too early", at: offset) }
    defer { position += count }
    return position
  }
}
