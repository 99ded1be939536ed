import HeartwoodModel
import HeartwoodStore

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

  /// The update of a record that the context no longer reads. It is a conflict, which the store tells, so its values do not matter: they
  /// may name new objects.
  private static func hopelessUpdate(_ object: ManagedObject) -> RecordUpdate {
    RecordUpdate(objectID: object.objectID, baseVersion: object.baseVersion, values: [])
  }

  /// The objects whose rows are in the tables that the context reads, and the others.
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

  /// Appends the values of a new object; tells whether one may be at fault.
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
      // What is left of a relationship without the links that were lost may be too little.
      return isSuspect || columns.lostLinkCount != lostLinkCount
    }
  }

  private mutating func updatedRows(_ objects: [ManagedObject], _ columns: inout ObjectColumns) -> [UpdatedRows] {
    var result: [UpdatedRows] = []
    var rest = objects[...]
    while let binding = rest.first?.binding {
      let end = rest.firstIndex { $0.binding !== binding } ?? rest.endIndex
      let groups = updatedGroups(rest[..<end], binding, &columns)
      if !groups.isEmpty { result.append(UpdatedRows(entity: binding.entity, groups: groups)) }
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
      // An object whose record is gone is a conflict, which the store tells.
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

  /// Appends the changes of an object; tells whether it may be at fault.
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
          references: references.sealed()
        )
      )
      rest = rest[end...]
    }
    return result
  }
}
