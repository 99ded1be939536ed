import HeartwoodStore

/// What a file holds and where: its sections in the order in which they lie, and the tables that are made of them.
struct BinaryDirectory: Sendable {
  /// The metadata, the model, the parts of each table's groups, and then the pages of the history.
  var sections: [BinarySection]
  /// A table for each entity of the model, in the model's order: references name entities by their place here.
  var tables: [Table]
  /// Nil where the store keeps none.
  var history: History?
}

extension BinaryDirectory {
  /// The records of one entity.
  struct Table: Sendable {
    var entityName: String
    var columns: [Column]
    var groups: [Group]
  }

  /// A property whose values the table keeps.
  struct Column: Sendable {
    var name: String
    var type: BinaryPropertyType
  }

  /// A group of 1 to 65,536 rows.
  struct Group: Sendable {
    var rowCount: Int
    var referenceLayout: ReferenceColumn.Layout
    var hasVersions: Bool
    /// One for each column of the table.
    var columns: [GroupColumn]
    /// The place of the group's first section in ``BinaryDirectory/sections``.
    var firstSection = 0
  }

  /// The saves of the store, in pages.
  struct History: Sendable {
    /// The number of the last transaction that is no longer kept.
    var purgedNumber: Int64
    /// How many transactions each page has.
    var transactionCounts: [Int]
    /// The place of the first page in ``BinaryDirectory/sections``.
    var firstSection = 0
  }

  /// The values of one property in a group.
  struct GroupColumn: Sendable {
    var hasValidity = false
    /// Whether each reference says to which entity it leads.
    var hasEntityIndices = false
    var referenceLayout = ReferenceColumn.Layout.integer
    /// The place of the entity to which all references lead, where they do not say it themselves.
    var entityIndex = 0
    var referenceCount = 0
  }
}

extension BinaryDirectory.Table {
  var rowCount: Int { groups.reduce(0) { $0 + $1.rowCount } }
}

extension BinaryDirectory.Group {
  /// The places of the sections of each part of the group.
  struct Sections {
    let references: Range<Int>
    let versions: Range<Int>
    /// By column of the table.
    let columns: [Range<Int>]
  }

  /// Which sections of the file are which part of the group.
  func sections(_ columns: [BinaryDirectory.Column]) -> Sections {
    var next = firstSection
    func take(_ count: Int) -> Range<Int> {
      defer { next += count }
      return next..<(next + count)
    }
    return Sections(
      references: take(Self.lengths(referenceLayout, count: rowCount).count),
      versions: take(hasVersions ? 1 : 0),
      columns: zip(self.columns, columns).map { take(sectionLengths($0, $1.type.columnKind).count) }
    )
  }

  /// How long each of the group's sections must be, in the order in which they lie; nil where it may have any length.
  func sectionLengths(_ columns: [BinaryDirectory.Column]) -> [Int?] {
    var lengths = Self.lengths(referenceLayout, count: rowCount)
    if hasVersions { lengths.append(rowCount * 8) }
    for (entry, column) in zip(self.columns, columns) { lengths += sectionLengths(entry, column.type.columnKind) }
    return lengths
  }

  private func sectionLengths(_ entry: BinaryDirectory.GroupColumn, _ kind: ColumnKind) -> [Int?] {
    var lengths: [Int?] = []
    if entry.hasValidity { lengths.append(BitSlice.byteCount(rowCount)) }
    if kind == .bytes || kind == .toMany { lengths.append((rowCount + 1) * 4) }
    switch kind {
    case .bits: lengths.append(BitSlice.byteCount(rowCount))
    case .bytes: lengths.append(nil)
    case .toOne, .toMany:
      if entry.hasEntityIndices { lengths.append(entry.referenceCount * 4) }
      lengths += Self.lengths(entry.referenceLayout, count: entry.referenceCount)
    default: lengths.append(rowCount * (kind.width ?? 0))
    }
    return lengths
  }

  private static func lengths(_ layout: ReferenceColumn.Layout, count: Int) -> [Int?] {
    switch layout {
    case .integer: [count * 8]
    case .uuid: [count * 16]
    case .string, .mixed: [(count + 1) * 4, nil]
    }
  }
}
