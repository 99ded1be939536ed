import HeartwoodModel
import HeartwoodStore

/// Makes one group of rows from its sections, whose number and lengths have been checked with the directory.
struct BinaryGroupReader {
  private let file: BinaryFile
  private let entry: BinaryDirectory.Group
  private let entityMap: BinaryEntityMap
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
    return try reader.column(entry.columns[place], table.columns[place], entity: table.entityName)
  }

  /// Returns the references of the group's records.
  static func references(
    _ entry: BinaryDirectory.Group,
    of entity: EntityDescription,
    in file: BinaryFile,
    entityMap: BinaryEntityMap
  ) -> ReferenceColumn {
    var reader = BinaryGroupReader(file, entry, entityMap: entityMap)
    return reader.names(
      entry.referenceLayout,
      count: entry.rowCount,
      entities: .same(UInt32(truncatingIfNeeded: entity.ordinal))
    )
  }

  mutating func group(
    of table: BinaryDirectory.Table,
    entity: EntityDescription,
    order: BinaryColumnOrder
  ) throws(PersistenceError) -> RowGroup {
    let references = names(
      entry.referenceLayout,
      count: entry.rowCount,
      entities: .same(UInt32(truncatingIfNeeded: entity.ordinal))
    )
    let versions: VersionColumn = entry.hasVersions ? .each(take()) : .same(1)
    var columns: [RecordColumn] = []
    for (entry, column) in zip(entry.columns, table.columns) {
      columns.append(try self.column(entry, column, entity: entity.name))
    }
    return RowGroup(
      references: references,
      versions: versions,
      columns: order.places.map { $0.map { columns[$0] } ?? .absent(rowCount: entry.rowCount) }
    )
  }

  private mutating func column(
    _ entry: BinaryDirectory.GroupColumn,
    _ column: BinaryDirectory.Column,
    entity: String
  ) throws(PersistenceError) -> RecordColumn {
    let kind = column.type.columnKind
    let validity = entry.hasValidity ? BitSlice(take()) : nil
    let offsets = kind == .bytes || kind == .toMany ? take() : nil
    guard kind == .toOne || kind == .toMany else {
      return RecordColumn(
        kind: kind,
        rowCount: self.entry.rowCount,
        validity: validity,
        offsets: offsets,
        values: take()
      )
    }
    let entities = try entities(entry, entity: entity, property: column.name)
    return RecordColumn(
      kind: kind,
      rowCount: self.entry.rowCount,
      validity: validity,
      offsets: offsets,
      references: names(entry.referenceLayout, count: entry.referenceCount, entities: entities)
    )
  }

  private mutating func names(
    _ layout: ReferenceColumn.Layout,
    count: Int,
    entities: ReferenceColumn.Entities
  ) -> ReferenceColumn {
    let offsets = layout == .string || layout == .mixed ? take() : nil
    return ReferenceColumn(layout: layout, count: count, values: take(), offsets: offsets, entities: entities)
  }

  private mutating func entities(
    _ entry: BinaryDirectory.GroupColumn,
    entity: String,
    property: String
  ) throws(PersistenceError) -> ReferenceColumn.Entities {
    guard entry.hasEntityIndices else { return .same(entityMap.ordinals[entry.entityIndex]) }
    let section = nextSection
    let indices = take()
    if entityMap.isIdentity { return .each(indices) }
    try file.check(section: section, "the references' entities", entity: entity, property: property)
    return .each(entityMap.ordinals(ofIndices: indices))
  }

  private mutating func take() -> ByteSlice {
    defer { nextSection += 1 }
    return file.bytes(ofSection: nextSection)
  }
}
