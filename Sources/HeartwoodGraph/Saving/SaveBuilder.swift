import HeartwoodModel
import HeartwoodStore

/// Collects the changes of a context, store by store, validates them and writes them to columns.
struct SaveBuilder {
  let context: ManagedObjectContext
  private var saves: [PendingSave] = []
  var validation = SaveValidation()
  var failure: PersistenceError?
  /// By place among the context's new objects.
  private var places: ContiguousArray<NewObjectPlace>
  /// The destination of the new objects of each entity that were not assigned to a store, by ordinal.
  private var destinations: [(save: Int, insertion: Int)?]

  /// Returns the changes of each store that has any.
  static func saves(of context: ManagedObjectContext) throws -> [PendingSave] {
    var builder = SaveBuilder(context)
    try builder.gather()
    for index in builder.saves.indices { try builder.build(index) }
    // An object whose record is missing from an older version of the store is a conflict, and has no values that could
    // deny anything.
    for object in builder.saves.lazy.flatMap(\.deleted) where object.isFault || object.group != nil {
      try builder.validation.checkDeletion(of: object, in: context)
    }
    try builder.validation.finish()
    if let failure = builder.failure { throw failure }
    return builder.saves
  }

  private init(_ context: ManagedObjectContext) {
    self.context = context
    places = ContiguousArray(repeating: NewObjectPlace(save: 0, index: 0), count: context.pending.inserted.slotCount)
    destinations = Array(repeating: nil, count: context.persistentStoreCoordinator.managedObjectModel.entities.count)
  }
}

// MARK: Gathering

extension SaveBuilder {
  private mutating func gather() throws(PersistenceError) {
    do {
      try context.pending.inserted.forEach { try gatherInserted($0, slot: $1) }
      var known: (binding: EntityBinding, save: Int)?
      try context.pending.updated.forEach { saves[try index(for: $0, &known)].updated.append($0) }
      try context.pending.deleted.forEach { saves[try index(for: $0, &known)].deleted.append($0) }
    } catch {
      throw .of(error, .fileReadFailed, "The changes cannot be gathered.")
    }
  }

  private mutating func gatherInserted(_ object: ManagedObject, slot: Int) throws(PersistenceError) {
    let (save, insertion) = try destination(of: object)
    places[slot] = NewObjectPlace(
      save: UInt32(truncatingIfNeeded: save),
      index: UInt32(truncatingIfNeeded: saves[save].inserted[insertion].objects.count)
    )
    saves[save].inserted[insertion].objects.append(object)
  }

  private mutating func destination(
    of object: ManagedObject
  ) throws(PersistenceError) -> (save: Int, insertion: Int) {
    let entity = object.binding.entity
    let isFree = !context.pending.hasAssignedStores && object.objectID.isTemporaryID
    if isFree, let known = destinations[entity.ordinal] { return known }
    let save = index(of: try context.storeForNewObject(object))
    let insertions = saves[save].inserted
    let destination = (save, insertions.firstIndex { $0.entity === entity } ?? insertions.count)
    if destination.1 == insertions.count { saves[save].inserted.append(PendingInsertion(entity: entity)) }
    if isFree { destinations[entity.ordinal] = destination }
    return destination
  }

  private mutating func index(of store: PersistentStore) -> Int {
    if let index = saves.firstIndex(where: { $0.store === store }) { return index }
    saves.append(PendingSave(store: store, source: context.sources.source(for: store)))
    return saves.count - 1
  }

  private mutating func index(
    for object: ManagedObject,
    _ known: inout (binding: EntityBinding, save: Int)?
  ) throws(PersistenceError) -> Int {
    if let known, known.binding === object.binding { return known.save }
    let index = index(of: try openStore(of: object))
    known = (object.binding, index)
    return index
  }

  private func openStore(of object: ManagedObject) throws(PersistenceError) -> PersistentStore {
    if let store = object.binding.store, context.persistentStoreCoordinator.isOpen(store) { return store }
    throw PersistenceError(
      .storeNotOpen,
      "The store of a changed object was removed from the coordinator.",
      recovery: "Roll the context back, or add the store again, fetch the object again and change that.",
      context: .init(path: object.binding.store?.placeName, entity: object.entity.name, objectIDs: [object.objectID])
    )
  }
}

// MARK: Building

extension SaveBuilder {
  private mutating func build(_ index: Int) throws(PersistenceError) {
    for insertion in saves[index].inserted.indices {
      saves[index].inserted[insertion].references = try references(
        of: saves[index].inserted[insertion],
        in: saves[index].store,
        saves[index].source
      )
    }
    let save = saves[index]
    let permanentIDs = PermanentIDs(
      newObjects: context.pending.inserted,
      lostIDs: context.pending.lostIDs,
      places: places,
      save: save,
      index: index
    )
    saves[index].permanentIDs = permanentIDs
    // Rows are valid only for stores: a parent's may have moved by now.
    saves[index].changes = save.source is StagedStore ? changesByRecord(save) : changesByColumn(save, permanentIDs)
    saves[index].changes.preconditions = context.preconditions(of: save.store)
  }

  /// Returns the references of new objects: those that they have already, and new ones.
  private func references(
    of insertion: PendingInsertion,
    in store: PersistentStore,
    _ source: any RecordSource
  ) throws(PersistenceError) -> ReferenceColumn {
    let count = insertion.objects.count { $0.objectID.isTemporaryID }
    if count > 0, let observer = context.namingObserver?(store) {
      observer(insertion.objects.filter { $0.objectID.isTemporaryID })
    }
    let new = try source.newReferences(count: count, for: insertion.entity)
    if count == insertion.objects.count { return new }
    let builder = ReferenceColumnBuilder()
    var next = 0
    for object in insertion.objects {
      let isNew = object.objectID.isTemporaryID
      builder.append(isNew ? new[next] : object.objectID.reference, entityOrdinal: insertion.entity.ordinal)
      next += isNew ? 1 : 0
    }
    return builder.sealed()
  }
}

extension ManagedObjectContext {
  /// Returns the values of all properties, without references to new objects that were deleted before they were saved.
  func valuesToSave(_ object: ManagedObject) -> [PropertyValue] {
    object.binding.traits.indices.map { valueToSave(object, $0) }
  }

  func valueToSave(_ object: ManagedObject, _ ordinal: Int) -> PropertyValue { withoutGone(object.value(at: ordinal)) }

  /// Returns a value without references to new objects that were deleted before they were saved.
  func withoutGone(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .toOne(let id) where pending.isGone(id): .null
    case .toMany(let ids) where ids.contains(where: pending.isGone): .toMany(ids.filter { !pending.isGone($0) })
    case let value: value
    }
  }
}

// MARK: Columns

/// The changes of a store by column.
extension SaveBuilder {
  mutating func changesByColumn(_ save: PendingSave, _ permanentIDs: PermanentIDs) -> ChangeSet {
    var columns = ObjectColumns(permanentIDs)
    // An older version of the records, to which a context has gone back, may not have the row of an object.
    let (updated, rowlessUpdated) = Self.split(save.updated)
    let (deleted, rowlessDeleted) = Self.split(save.deleted)
    let changes = ColumnChanges(
      insertions: save.inserted.compactMap { insertedRows($0, &columns) },
      updates: updatedRows(updated, &columns),
      deletions: deletedRows(deleted),
      scopes: save.source.scopes
    )
    failure = failure ?? columns.failure
    let rest = RecordChanges(
      updated: rowlessUpdated.filter(\.hasPersistentChangedValues).map(Self.hopelessUpdate),
      deleted: rowlessDeleted.map { RecordDeletion(objectID: $0.objectID, baseVersion: $0.baseVersion) }
    )
    return ChangeSet(byColumn: changes, byRecord: rest)
  }

  /// Returns the update of a record that the context no longer reads. It is a conflict, which the store reports, so its
  /// values do not matter: they may contain new objects.
  private static func hopelessUpdate(_ object: ManagedObject) -> RecordUpdate {
    RecordUpdate(objectID: object.objectID, baseVersion: object.baseVersion, values: [])
  }

  /// Returns the objects whose rows are in the tables that the context reads, and the others.
  private static func split(_ objects: [ManagedObject]) -> (known: [ManagedObject], rowless: [ManagedObject]) {
    let rowless = objects.filter { !$0.binding.hasRow($0.rowID) }
    return rowless.isEmpty ? (objects, []) : (objects.filter { $0.binding.hasRow($0.rowID) }, rowless)
  }

  private mutating func insertedRows(_ pending: PendingInsertion, _ columns: inout ObjectColumns) -> InsertedRows? {
    guard let references = pending.references else { return nil }
    let entity = pending.entity
    let screen = ValueScreen(entity)
    var rows = RowGroupListBuilder(entity: entity)
    for (index, object) in pending.objects.enumerated() {
      let builder = rows.next()
      builder.references.append(index..<(index + 1), of: references, entityOrdinal: entity.ordinal)
      let isSuspect = append(object, to: builder, &columns)
      if isSuspect || screen.hasRules { validation.check(context.valuesToSave(object), of: object) }
      validation.checkByOwnRules(object)
    }
    return InsertedRows(entity: entity, groups: rows.finish(), hasGivenReferences: true)
  }

  /// Appends the values of a new object; returns whether one may be invalid.
  private func append(_ object: ManagedObject, to builder: RowGroupBuilder, _ columns: inout ObjectColumns) -> Bool {
    guard case .changed(let changes) = object.content else { return false }
    let lostLinkCount = columns.lostLinkCount
    return object.withBinding { binding in
      var isSuspect = false
      for (ordinal, column) in builder.columns.enumerated() {
        let trait = binding.traits[ordinal]
        let value = changes.value(at: ordinal) ?? trait.emptyValue
        let isDoubtful = column.kind != .absent && ValueScreen.isSuspect(value, trait)
        if isDoubtful { isSuspect = true }
        if column.kind == .absent || isDoubtful && !value.canBeKept(as: trait) {
          column.appendNull()
        } else {
          columns.append(value, at: ordinal, of: binding.entity, to: column)
        }
      }
      // A relationship without the lost links may have too few destinations.
      return isSuspect || columns.lostLinkCount != lostLinkCount
    }
  }

  private mutating func updatedRows(_ objects: [ManagedObject], _ columns: inout ObjectColumns) -> [UpdatedRows] {
    var result: [UpdatedRows] = []
    var rest = objects[...]
    while let binding = rest.first?.binding {
      let end = rest.firstIndex { $0.binding !== binding } ?? rest.endIndex
      let groups = updatedGroups(rest[..<end], binding, &columns)
      if !groups.isEmpty {
        result.append(UpdatedRows(entity: binding.entity, groups: groups, epoch: binding.table.epoch))
      }
      rest = rest[end...]
    }
    return result
  }

  private mutating func updatedGroups(
    _ objects: ArraySlice<ManagedObject>,
    _ binding: EntityBinding,
    _ columns: inout ObjectColumns
  ) -> [UpdatedGroup] {
    var result: [UpdatedGroup] = []
    var screen = ValueScreen(binding.entity)
    var builder = UpdatedGroupBuilder(entity: binding.entity)
    for (index, object) in zip(objects.indices, objects) {
      let isSuspect = append(object, to: &builder, &screen, &columns)
      // An object whose record is gone is a conflict, which the store reports.
      if object.group != nil {
        if isSuspect { validation.check(context.valuesToSave(object), of: object) }
        validation.checkByOwnRules(object)
      }
      let group = object.rowID.group
      let isLast = index + 1 == objects.endIndex || objects[index + 1].rowID.group != group
      if isLast, !builder.isEmpty {
        result.append(builder.sealed(group: group, base: binding.table.groups[group]))
      }
    }
    return result
  }

  /// Appends the changes of an object; returns whether it may be invalid.
  private func append(
    _ object: ManagedObject,
    to builder: inout UpdatedGroupBuilder,
    _ screen: inout ValueScreen,
    _ columns: inout ObjectColumns
  ) -> Bool {
    guard case .changed(let changes) = object.content else { return false }
    var isSuspect = screen.hasRules || changes.group.map { screen.isSuspect($0) } ?? true
    let lostLinkCount = columns.lostLinkCount
    var hasBegun = false
    let binding = object.binding
    changes.forEachUnsettled { ordinal, value in
      let trait = binding.traits[ordinal]
      if trait.isTransient { return }
      if !hasBegun { builder.beginRow(object.rowID.row, baseVersion: object.baseVersion) }
      hasBegun = true
      let column = builder.column(ordinal)
      if ValueScreen.isSuspect(value, trait) {
        isSuspect = true
        if !value.canBeKept(as: trait) { return column.appendNull() }
      }
      columns.append(value, at: ordinal, of: binding.entity, to: column)
    }
    return isSuspect || columns.lostLinkCount != lostLinkCount
  }

  private func deletedRows(_ objects: [ManagedObject]) -> [DeletedRows] {
    var result: [DeletedRows] = []
    var rest = objects[...]
    while let binding = rest.first?.binding {
      let end = rest.firstIndex { $0.binding !== binding } ?? rest.endIndex
      let references = ReferenceColumnBuilder()
      for object in rest[..<end] {
        references.append(binding.table.reference(object.rowID), entityOrdinal: binding.entity.ordinal)
      }
      result.append(
        DeletedRows(
          entity: binding.entity,
          rows: rest[..<end].map(\.rowID),
          baseVersions: rest[..<end].map(\.baseVersion),
          references: references.sealed(),
          epoch: binding.table.epoch
        )
      )
      rest = rest[end...]
    }
    return result
  }
}

// MARK: Records

/// The changes of a store record by record.
extension SaveBuilder {
  mutating func changesByRecord(_ save: PendingSave) -> ChangeSet {
    var changes = ChangeSet()
    changes.inserted = save.inserted.flatMap(\.objects).map { object in
      let values = context.valuesToSave(object)
      validation.check(values, of: object)
      validation.checkByOwnRules(object)
      return ObjectSnapshot(objectID: object.objectID, version: 0, values: values)
    }
    changes.updated = save.updated.compactMap { recordUpdate($0) }
    changes.deleted = save.deleted.map { RecordDeletion(objectID: $0.objectID, baseVersion: $0.baseVersion) }
    return changes
  }

  /// Returns the changes that have to be written; nil if only transient values have changed.
  private mutating func recordUpdate(_ object: ManagedObject) -> RecordUpdate? {
    let values = context.valuesToSave(object)
    // An object whose record is gone is a conflict, which the source reports.
    if object.group != nil {
      validation.check(values, of: object)
      validation.checkByOwnRules(object)
    }
    guard case .changed(let changes) = object.content else { return nil }
    let ordinals = changes.unsettledOrdinals.filter { !object.binding.traits[$0].isTransient }
    guard !ordinals.isEmpty else { return nil }
    return RecordUpdate(
      objectID: object.objectID,
      baseVersion: object.baseVersion,
      values: ordinals.map { (ordinal: $0, value: values[$0]) }
    )
  }
}
