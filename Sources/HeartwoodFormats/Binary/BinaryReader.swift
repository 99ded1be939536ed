import HeartwoodModel
import HeartwoodStore

/// Makes the tables of a store from a file, in place: the columns are the file's own bytes.
struct BinaryReader {
  private let file: BinaryFile
  private let model: ManagedObjectModel
  private let keptEntities: Set<Int>
  private let entityMap: BinaryEntityMap

  init(_ file: BinaryFile, model: ManagedObjectModel, entities: [EntityDescription]) {
    self.file = file
    self.model = model
    self.keptEntities = Set(entities.map(\.ordinal))
    self.entityMap = BinaryEntityMap(file.directory, model: model)
  }

  /// Returns the tables that have records, and what is kept of them for the next save.
  func read() throws(PersistenceError) -> (tables: [NodeTable], memory: BinarySaveMemory) {
    var tables: [NodeTable] = []
    var memory = BinarySaveMemory()
    let changed = try changedTables()
    memory.log = log
    for (place, table) in file.directory.tables.enumerated() where !table.groups.isEmpty || changed.contains(place) {
      let entity = try entity(of: table)
      let order = try BinaryColumnOrder(table, entity: entity, fault: file.fault)
      let groups = try groups(of: table, entity: entity, order: order)
      if entityMap.isIdentity, order.isIdentity {
        for (group, entry) in zip(groups, table.groups) { memory.note(group, entry, in: file, columns: table.columns) }
      }
      let log = try changed.contains(place) ? tableLog(table, at: place, entity, order) : nil
      var revision: RowGroupVerifier.Revision?
      if let log {
        revision = { groups throws(PersistenceError) in try log.revised(groups).compactMap(\.self) }
      }
      let verifier = RowGroupVerifier(
        groups,
        of: entity,
        in: model,
        path: file.fault.path,
        storeType: .binary,
        check: { [file] index throws(PersistenceError) in try file.check(table.groups[index], of: table) },
        revision: revision
      )
      tables.append(NodeTable(entity: entity, groups: groups, count: log?.count, verifier: verifier))
    }
    return (tables, memory)
  }

  /// Returns the places of the tables that saves at the end of the file change.
  private func changedTables() throws(PersistenceError) -> Set<Int> {
    guard let log = file.log else { return [] }
    let changed = log.changedTables
    guard changed.allSatisfy(file.directory.tables.indices.contains) else {
      throw file.fault.corrupt("a save changes a table that does not exist", at: log.baseEnd)
    }
    return changed
  }

  private func tableLog(
    _ table: BinaryDirectory.Table,
    at place: Int,
    _ entity: EntityDescription,
    _ order: BinaryColumnOrder
  ) throws(PersistenceError) -> BinaryTableLog? {
    guard let runs = file.log?.runs(ofTable: place) else { return nil }
    return try BinaryTableLog(runs, file, table, entity, order, entityMap, model: model)
  }

  /// What is kept of the end of the file for the next save; nil if nothing can be added to the file, because its tables
  /// are not the ones that a store writes with the model: entities or properties are in another order.
  private var log: BinaryLogMemory? {
    let tables = file.directory.tables
    guard let log = file.log, let metadata = file.metadataArea?.json, entityMap.isIdentity,
      tables.count == model.entities.count,
      zip(tables, model.entities).allSatisfy({ $0.columns == BinaryDirectory.Column.all(of: $1) })
    else { return nil }
    return BinaryLogMemory(
      newest: log.newest,
      metadata: metadata,
      numberings: tables.map { BinaryRowNumbering(rowCounts: $0.groups.map(\.rowCount)) }
    )
  }

  private func entity(of table: BinaryDirectory.Table) throws(PersistenceError) -> EntityDescription {
    guard let entity = model.entity(named: table.entityName), keptEntities.contains(entity.ordinal) else {
      throw file.fault.incompatible(
        "The file holds records of the entity \(table.entityName), which is not in the model or not in the configuration "
          + "that the store is opened with.",
        entity: table.entityName
      )
    }
    guard !entity.isAbstract else {
      throw file.fault.incompatible(
        "The file holds records of the entity \(table.entityName), which is abstract in the model.",
        entity: table.entityName
      )
    }
    return entity
  }

  private func groups(
    of table: BinaryDirectory.Table,
    entity: EntityDescription,
    order: BinaryColumnOrder
  ) throws(PersistenceError) -> [RowGroup] {
    var groups: [RowGroup] = []
    groups.reserveCapacity(table.groups.count)
    for entry in table.groups {
      var reader = BinaryGroupReader(file, entry, entityMap: entityMap)
      groups.append(try reader.group(of: table, entity: entity, order: order))
    }
    return groups
  }
}

/// Maps the columns of a file's table to the properties of the model.
struct BinaryColumnOrder: Sendable {
  /// The place of the column of each property, by ordinal; nil for those that no store keeps.
  let places: [Int?]
  /// The ordinal of the property of each column, by place.
  let ordinals: [Int]

  /// - Throws: ``PersistenceError/Code/modelIncompatible`` if columns and properties differ.
  init(
    _ table: BinaryDirectory.Table,
    entity: EntityDescription,
    fault: BinaryFault
  ) throws(PersistenceError) {
    var places = [Int?](repeating: nil, count: entity.properties.count)
    var ordinals: [Int] = []
    for (place, column) in table.columns.enumerated() {
      guard let ordinal = entity.ordinal(ofProperty: column.name), !entity.properties[ordinal].isTransient,
        BinaryPropertyType(entity.properties[ordinal]) == column.type
      else {
        throw fault.incompatible(
          "The file keeps values that the model does not have: it has no such property, or one of another type.",
          entity: entity.name,
          property: column.name
        )
      }
      places[ordinal] = place
      ordinals.append(ordinal)
    }
    self.places = places
    self.ordinals = ordinals
    for (property, place) in zip(entity.properties, places) where place == nil && !property.isTransient {
      throw fault.incompatible(
        "The file has no values of this property.",
        entity: entity.name,
        property: property.name
      )
    }
  }

  /// Maps those columns that are properties of the model with the type in the file, and ignores all others.
  init(matching table: BinaryDirectory.Table, entity: EntityDescription) {
    var places = [Int?](repeating: nil, count: entity.properties.count)
    var ordinals: [Int] = []
    for (place, column) in table.columns.enumerated() {
      guard let ordinal = entity.ordinal(ofProperty: column.name), !entity.properties[ordinal].isTransient,
        places[ordinal] == nil, BinaryPropertyType(entity.properties[ordinal]) == column.type
      else { continue }
      places[ordinal] = place
      ordinals.append(ordinal)
    }
    self.places = places
    self.ordinals = ordinals
  }

  /// Whether the columns are in the order of the properties.
  var isIdentity: Bool { zip(ordinals, ordinals.dropFirst()).allSatisfy { $0 < $1 } }
}
