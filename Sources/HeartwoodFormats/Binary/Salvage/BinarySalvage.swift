public import HeartwoodModel
public import HeartwoodStore

/// Reads the undamaged records of a damaged file: group by group and column by column, each of which has checksums of
/// its own.
///
/// If a column is damaged, its values in the group are lost; if the references of the records are damaged, the records
/// of the group are.
struct BinarySalvage {
  private let remains: BinaryRemains
  private let salvage: StoreSalvage
  private let entityMap: BinaryEntityMap
  private var file: BinaryFile { remains.file }

  init(_ remains: BinaryRemains, into salvage: StoreSalvage) {
    self.remains = remains
    self.salvage = salvage
    entityMap = BinaryEntityMap(remains.file.directory, model: salvage.loader.model)
  }

  /// - Throws: ``PersistenceError/Code/modelIncompatible`` if the directory is sound and the model is not that of the file.
  func run() throws(PersistenceError) {
    let changed = file.log?.changedTables ?? []
    for (place, table) in file.directory.tables.enumerated() where !table.groups.isEmpty || changed.contains(place) {
      guard let entity = try entity(of: table) else { continue }
      let order =
        remains.isDirectorySound
        ? try BinaryColumnOrder(table, entity: entity, fault: file.fault)
        : BinaryColumnOrder(matching: table, entity: entity)
      let reader = BinaryGroupSalvage(remains, salvage, table, entity, order, entityMap)
      let groups = revised(try table.groups.map(reader.group), of: table, at: place, entity, order)
      salvage.loader.setTable(NodeTable(entity: entity, groups: groups.compactMap(\.self)))
    }
  }

  /// Returns the groups with what the saves at the end of the file changed in them.
  private func revised(
    _ groups: [RowGroup?],
    of table: BinaryDirectory.Table,
    at place: Int,
    _ entity: EntityDescription,
    _ order: BinaryColumnOrder
  ) -> [RowGroup?] {
    guard let runs = file.log?.runs(ofTable: place), !runs.isEmpty else { return groups }
    do throws(PersistenceError) {
      let model = salvage.loader.model
      return try BinaryTableLog(runs, file, table, entity, order, entityMap, model: model).revised(groups)
    } catch {
      salvage.note(.init(.fileParts, error, entity: entity.name, count: 0))
      return groups
    }
  }

  private func entity(of table: BinaryDirectory.Table) throws(PersistenceError) -> EntityDescription? {
    if let entity = salvage.loader.entities.first(where: { $0.name == table.entityName && !$0.isAbstract }) {
      return entity
    }
    let reason =
      "The file holds records of the entity \(table.entityName), which the model lacks, or has as an abstract one."
    guard !remains.isDirectorySound else {
      throw file.fault.incompatible(
        "\(reason) Give the model that the file was written with.",
        entity: table.entityName
      )
    }
    salvage.note(.init(.records, entity: table.entityName, count: table.rowCount, reason: reason))
    return nil
  }
}

/// Reads the undamaged parts of groups of one table.
private struct BinaryGroupSalvage {
  private let remains: BinaryRemains
  private let salvage: StoreSalvage
  private let table: BinaryDirectory.Table
  private let entity: EntityDescription
  private let order: BinaryColumnOrder
  private let entityMap: BinaryEntityMap
  private let meaning: ColumnMeaning

  init(
    _ remains: BinaryRemains,
    _ salvage: StoreSalvage,
    _ table: BinaryDirectory.Table,
    _ entity: EntityDescription,
    _ order: BinaryColumnOrder,
    _ entityMap: BinaryEntityMap
  ) {
    self.remains = remains
    self.salvage = salvage
    self.table = table
    self.entity = entity
    self.order = order
    self.entityMap = entityMap
    meaning = ColumnMeaning(of: entity, in: salvage.loader.model)
  }

  /// Returns the group, in which damaged columns are replaced by columns without values; nil if the references of its
  /// records are unknown.
  func group(_ entry: BinaryDirectory.Group) throws(PersistenceError) -> RowGroup? {
    let sections = entry.sections(table.columns)
    guard let references = try references(entry, sections.references) else {
      let range = bytes(sections.references.lowerBound..<(sections.columns.last ?? sections.references).upperBound)
      salvage.note(
        .init(
          .records,
          entity: entity.name,
          count: entry.rowCount,
          byteRange: range,
          reason: "The part of the file with the references of these records is damaged."
        )
      )
      return nil
    }
    let names = (0..<references.count).map { references[$0] }
    let columns = entity.properties.indices.map { ordinal in
      order.places[ordinal].map { column($0, ordinal, entry, sections.columns[$0], names) } ?? absent(ordinal, names)
    }
    return RowGroup(references: references, versions: versions(entry, sections.versions), columns: columns)
  }

  private func references(
    _ entry: BinaryDirectory.Group,
    _ sections: Range<Int>
  ) throws(PersistenceError) -> ReferenceColumn? {
    guard isSound(sections) else { return nil }
    let references = try BinaryGroupReader.references(entry, of: entity, in: remains.file, entityMap: entityMap)
    guard ColumnMeaning.fault(in: references) == nil, !isDoubtful(references) else { return nil }
    return references
  }

  private func versions(_ entry: BinaryDirectory.Group, _ sections: Range<Int>) -> VersionColumn {
    guard let section = sections.first else { return .same(1) }
    let versions = VersionColumn.each(remains.file.bytes(ofSection: section))
    if isSound(sections), ColumnMeaning.fault(in: versions, rowCount: entry.rowCount) == nil { return versions }
    salvage.note(
      .init(
        .fileParts,
        entity: entity.name,
        count: 0,
        byteRange: bytes(sections),
        reason: "The versions of \(entry.rowCount) records cannot be read: the records count as new."
      )
    )
    return .same(1)
  }

  private func column(
    _ place: Int,
    _ ordinal: Int,
    _ entry: BinaryDirectory.Group,
    _ sections: Range<Int>,
    _ names: [ReferenceID]
  ) -> RecordColumn {
    if isSound(sections),
      let column = try? BinaryGroupReader.column(
        place,
        from: sections.lowerBound,
        of: table,
        entry,
        in: remains.file,
        entityMap: entityMap
      ), meaning.fault(in: column, ordinal: ordinal) == nil, !isDoubtful(column, ordinal)
    {
      return column
    }
    return lost(ordinal, names, bytes(sections), "The part of the file that holds these values is damaged.")
  }

  private func absent(_ ordinal: Int, _ names: [ReferenceID]) -> RecordColumn {
    if entity.properties[ordinal].isTransient { return .absent(rowCount: names.count) }
    return lost(ordinal, names, nil, "The damaged directory does not say where these values are.")
  }

  /// Returns a column without values.
  private func lost(_ ordinal: Int, _ names: [ReferenceID], _ range: Range<Int>?, _ reason: String) -> RecordColumn {
    let property = entity.properties[ordinal]
    salvage.note(
      .init(
        .values,
        entity: entity.name,
        property: property.name,
        references: names,
        count: names.count,
        byteRange: range,
        reason: reason
      )
    )
    let builder = ColumnBuilder(kind: BinaryPropertyType(property).columnKind)
    for _ in names { builder.appendNull() }
    return builder.sealed()
  }

  private func isSound(_ sections: Range<Int>) -> Bool { sections.allSatisfy(remains.isSound(section:)) }

  private func bytes(_ sections: Range<Int>) -> Range<Int> {
    let all = remains.file.directory.sections
    guard let first = sections.first, let last = sections.last else { return 0..<0 }
    return all[first].offset..<all[last].range.upperBound
  }
}

// MARK: What only a sound directory tells

extension BinaryGroupSalvage {
  /// Returns whether the names could differ from those in the damaged directory: texts, or texts after a byte with
  /// their kind.
  private func isDoubtful(_ references: ReferenceColumn) -> Bool {
    guard !remains.isDirectorySound, references.layout == .string || references.layout == .mixed else { return false }
    return (0..<references.count).allSatisfy { index in
      references.bytes(index).first.map { ReferenceColumn.Layout(rawValue: $0) != nil } ?? false
    }
  }

  /// Returns whether links could refer to records of other entities than the damaged directory contains.
  private func isDoubtful(_ column: RecordColumn, _ ordinal: Int) -> Bool {
    guard !remains.isDirectorySound, let references = column.references else { return false }
    if references.count > 0, isDoubtful(references) { return true }
    guard case .same = references.entities, let target = entity.relationshipTargets[ordinal] else { return false }
    let model = salvage.loader.model
    return references.count > 0 && model.concreteEntities(under: model.entities[target.entityOrdinal]).count > 1
  }
}

// MARK: The store

extension BinaryStore: SalvagingStore {
  /// Reads the parts whose checksums are right: each column of each group of records has its own.
  ///
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` if the directory at the end of the file is missing, without which
  ///   the places of the values are unknown.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    var remains = try BinaryRemains(file)
    salvage.loader.metadata = remains.metadata()
    _ = remains.model()
    salvage.loader.history = remains.history()
    remains.notePadding()
    for loss in remains.losses { salvage.note(loss) }
    try BinarySalvage(remains, into: salvage).run()
  }

  /// Returns the model in the file, if its checksum is right.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    guard var remains = try? BinaryRemains(file) else { return nil }
    return remains.model()
  }
}
