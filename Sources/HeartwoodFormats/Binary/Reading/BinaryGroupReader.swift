import HeartwoodModel
import HeartwoodStore

/// Makes columns from their parts, which come in the order of the format: from the sections of a group, or from a save
/// that was added to the file. The parts may not fit each other; that is checked before values are read.
protocol BinaryPartReader {
  var entityMap: BinaryEntityMap { get }

  /// Returns the next part.
  mutating func part() throws(PersistenceError) -> ByteSlice

  /// Returns the next part, which consists of places of tables. Its bytes are checked if they are mapped to other ones.
  mutating func indices(entity: String, property: String) throws(PersistenceError) -> ByteSlice
}

extension BinaryPartReader {
  mutating func indices(entity: String, property: String) throws(PersistenceError) -> ByteSlice { try part() }

  /// Returns the references of records of an entity.
  mutating func names(
    _ layout: ReferenceColumn.Layout,
    count: Int,
    of entity: EntityDescription
  ) throws(PersistenceError) -> ReferenceColumn {
    try names(layout, count: count, entities: .same(UInt32(truncatingIfNeeded: entity.ordinal)))
  }

  private mutating func names(
    _ layout: ReferenceColumn.Layout,
    count: Int,
    entities: ReferenceColumn.Entities
  ) throws(PersistenceError) -> ReferenceColumn {
    let offsets = layout == .string || layout == .mixed ? try part() : nil
    return ReferenceColumn(layout: layout, count: count, values: try part(), offsets: offsets, entities: entities)
  }

  mutating func column(
    _ entry: BinaryDirectory.GroupColumn,
    _ column: BinaryDirectory.Column,
    rowCount: Int,
    entity: String
  ) throws(PersistenceError) -> RecordColumn {
    let kind = column.type.columnKind
    let validity = entry.hasValidity ? BitSlice(try part()) : nil
    let offsets = kind == .bytes || kind == .toMany ? try part() : nil
    guard kind == .toOne || kind == .toMany else {
      return RecordColumn(kind: kind, rowCount: rowCount, validity: validity, offsets: offsets, values: try part())
    }
    let entities = try entities(entry, entity: entity, property: column.name)
    return RecordColumn(
      kind: kind,
      rowCount: rowCount,
      validity: validity,
      offsets: offsets,
      references: try names(entry.referenceLayout, count: entry.referenceCount, entities: entities)
    )
  }

  private mutating func entities(
    _ entry: BinaryDirectory.GroupColumn,
    entity: String,
    property: String
  ) throws(PersistenceError) -> ReferenceColumn.Entities {
    guard entry.hasEntityIndices else { return .same(entityMap.ordinals[entry.entityIndex]) }
    let indices = try indices(entity: entity, property: property)
    return .each(entityMap.isIdentity ? indices : entityMap.ordinals(ofIndices: indices))
  }
}

// MARK: BinaryGroupReader

/// Makes one group of rows from its sections, whose number and lengths have been checked with the directory.
struct BinaryGroupReader: BinaryPartReader {
  private let file: BinaryFile
  private let entry: BinaryDirectory.Group
  let entityMap: BinaryEntityMap
  private var nextSection: Int

  init(_ file: BinaryFile, _ entry: BinaryDirectory.Group, entityMap: BinaryEntityMap) {
    self.file = file
    self.entry = entry
    self.entityMap = entityMap
    self.nextSection = entry.firstSection
  }

  /// Returns a single column of the group, whose first section is at a place.
  static func column(
    _ place: Int,
    from firstSection: Int,
    of table: BinaryDirectory.Table,
    _ entry: BinaryDirectory.Group,
    in file: BinaryFile,
    entityMap: BinaryEntityMap
  ) throws(PersistenceError) -> RecordColumn {
    var reader = BinaryGroupReader(file, entry, entityMap: entityMap)
    reader.nextSection = firstSection
    return try reader.column(
      entry.columns[place],
      table.columns[place],
      rowCount: entry.rowCount,
      entity: table.entityName
    )
  }

  /// Returns the references of the group's records.
  static func references(
    _ entry: BinaryDirectory.Group,
    of entity: EntityDescription,
    in file: BinaryFile,
    entityMap: BinaryEntityMap
  ) throws(PersistenceError) -> ReferenceColumn {
    var reader = BinaryGroupReader(file, entry, entityMap: entityMap)
    return try reader.names(entry.referenceLayout, count: entry.rowCount, of: entity)
  }

  mutating func group(
    of table: BinaryDirectory.Table,
    entity: EntityDescription,
    order: BinaryColumnOrder
  ) throws(PersistenceError) -> RowGroup {
    let references = try names(entry.referenceLayout, count: entry.rowCount, of: entity)
    let versions: VersionColumn = entry.hasVersions ? .each(take()) : .same(1)
    var columns: [RecordColumn] = []
    for (column, described) in zip(entry.columns, table.columns) {
      columns.append(try self.column(column, described, rowCount: entry.rowCount, entity: entity.name))
    }
    return RowGroup(
      references: references,
      versions: versions,
      columns: order.places.map { $0.map { columns[$0] } ?? .absent(rowCount: entry.rowCount) }
    )
  }

  mutating func indices(entity: String, property: String) throws(PersistenceError) -> ByteSlice {
    if !entityMap.isIdentity {
      try file.check(section: nextSection, "the references' entities", entity: entity, property: property)
    }
    return take()
  }

  mutating func part() throws(PersistenceError) -> ByteSlice { take() }

  private mutating func take() -> ByteSlice {
    defer { nextSection += 1 }
    return file.bytes(ofSection: nextSection)
  }
}
