import HeartwoodModel
import HeartwoodStore

/// Puts the values of objects into columns.
struct ObjectColumns {
  let permanentIDs: PermanentIDs
  /// The first failure; the columns are of no use then.
  private(set) var failure: PersistenceError?
  /// How many links were left out so far since they lead to new objects that are gone.
  private(set) var lostLinkCount = 0

  init(_ permanentIDs: PermanentIDs) {
    self.permanentIDs = permanentIDs
  }

  /// Appends the value of a property of `entity`.
  @inline(__always)
  mutating func append(_ value: PropertyValue, at ordinal: Int, of entity: EntityDescription, to column: ColumnBuilder)
  {
    switch value {
    case .toOne(let id): append(id, at: ordinal, of: entity, to: column)
    case .toMany(let ids): append(ids, at: ordinal, of: entity, to: column)
    default: column.append(value)
    }
  }

  private mutating func append(
    _ id: ManagedObjectID,
    at ordinal: Int,
    of entity: EntityDescription,
    to column: ColumnBuilder
  ) {
    if let reference = reference(id, ordinal, entity) {
      column.append(toOne: reference, entityOrdinal: id.entity.ordinal)
    } else {
      column.appendNull()
    }
  }

  private mutating func append(
    _ ids: [ManagedObjectID],
    at ordinal: Int,
    of entity: EntityDescription,
    to column: ColumnBuilder
  ) {
    var objects: [(reference: ReferenceID, entityOrdinal: Int)] = []
    objects.reserveCapacity(ids.count)
    for id in ids {
      if let reference = reference(id, ordinal, entity) { objects.append((reference, id.entity.ordinal)) }
    }
    column.append(toMany: objects)
  }

  private mutating func reference(_ id: ManagedObjectID, _ ordinal: Int, _ entity: EntityDescription) -> ReferenceID? {
    do throws(PersistenceError) {
      let reference = try permanentIDs.reference(id) {
        .init(entity: entity.name, property: entity.properties[ordinal].name, objectIDs: [id])
      }
      if reference == nil { lostLinkCount += 1 }
      return reference
    } catch {
      failure = failure ?? error
      return nil
    }
  }
}
