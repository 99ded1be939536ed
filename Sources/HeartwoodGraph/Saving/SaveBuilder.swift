import HeartwoodModel
import HeartwoodStore

/// Gathers the changes of a context, store by store, validates them and puts them into columns.
struct SaveBuilder {
  let context: ManagedObjectContext
  private var saves: [PendingSave] = []
  var validation = SaveValidation()
  var failure: PersistenceError?
  /// By place among the context's new objects.
  private var places: ContiguousArray<NewObjectPlace>
  /// Where the new objects of each entity go that were given to no store, by ordinal.
  private var destinations: [(save: Int, insertion: Int)?]

  /// The changes of each store that has any.
  static func saves(of context: ManagedObjectContext) throws -> [PendingSave] {
    var builder = SaveBuilder(context)
    try builder.gather()
    for index in builder.saves.indices { try builder.build(index) }
    // One whose record an older version of the store lacks is a conflict, and has no values that could deny anything.
    for object in builder.saves.lazy.flatMap(\.deleted) where object.isFault || object.group != nil {
      try builder.validation.checkDeletion(of: object, in: context)
    }
    try builder.validation.finish()
    if let failure = builder.failure { throw failure }
    return builder.saves
  }

  private init(_ context: ManagedObjectContext) {
    self.context = context
    places = ContiguousArray(repeating: NewObjectPlace(save: 0, index: 0), count: context.inserted.slotCount)
    destinations = Array(repeating: nil, count: context.persistentStoreCoordinator.managedObjectModel.entities.count)
  }
}

// MARK: Gathering

extension SaveBuilder {
  private mutating func gather() throws(PersistenceError) {
    do {
      try context.inserted.forEach { try gatherInserted($0, slot: $1) }
      var known: (binding: EntityBinding, save: Int)?
      try context.updated.forEach { saves[try index(for: $0, &known)].updated.append($0) }
      try context.deleted.forEach { saves[try index(for: $0, &known)].deleted.append($0) }
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
    let isFree = context.assignedStores.isEmpty && object.objectID.isTemporaryID
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
    saves.append(PendingSave(store: store, source: context.source(for: store)))
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
      recovery: "Roll the context back, or add the store again, fetch the object anew and change that.",
      context: .init(path: object.binding.store?.path, entity: object.entity.name, objectIDs: [object.objectID])
    )
  }
}

// MARK: Building

extension SaveBuilder {
  private mutating func build(_ index: Int) throws(PersistenceError) {
    for insertion in saves[index].inserted.indices {
      saves[index].inserted[insertion].references = try references(
        of: saves[index].inserted[insertion],
        saves[index].source
      )
    }
    let save = saves[index]
    let permanentIDs = PermanentIDs(
      newObjects: context.inserted,
      lostIDs: context.lostIDs,
      places: places,
      save: save,
      index: index
    )
    saves[index].permanentIDs = permanentIDs
    // Rows mean something to stores only: a parent's may have moved by now.
    saves[index].changes = save.source is StagedStore ? changesByRecord(save) : changesByColumn(save, permanentIDs)
    saves[index].changes.expected = context.expectations(of: save.store)
  }

  /// The references of new objects: those that they have got already, and new ones.
  private func references(
    of insertion: PendingInsertion,
    _ source: any RecordSource
  ) throws(PersistenceError) -> ReferenceColumn {
    let count = insertion.objects.count { $0.objectID.isTemporaryID }
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
  /// The values of all properties; relationships no longer lead to new objects that were deleted before they were saved.
  func valuesToSave(_ object: ManagedObject) -> [PropertyValue] {
    object.binding.traits.indices.map { valueToSave(object, $0) }
  }

  func valueToSave(_ object: ManagedObject, _ ordinal: Int) -> PropertyValue { withoutGone(object.value(at: ordinal)) }

  /// A value without links to new objects that were deleted before they were saved.
  func withoutGone(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .toOne(let id) where isGone(id): .null
    case .toMany(let ids) where ids.contains(where: isGone): .toMany(ids.filter { !isGone($0) })
    case let value: value
    }
  }

  private func isGone(_ id: ManagedObjectID) -> Bool {
    id.isTemporaryID ? inserted[id] == nil : lostIDs.contains(id)
  }
}
