import HeartwoodModel
import HeartwoodStore

/// What the records of a child's save are called now: their store may have been converted since to one that calls them otherwise.
struct ArrivalNames {
  /// The store that the child has saved to, or what that was converted to.
  let store: PersistentStore
  /// What the ids of the save are made with, indexed by entity ordinal.
  let scopes: [ObjectIDScope]
  private let renamed: RenamedRecords?

  init(_ staged: StagedStore, _ unsavedNames: UnsavedNames) {
    store = staged.store.newest
    scopes = staged.scopes
    renamed = staged.store.newestSuccessor.flatMap { RenamedRecords(staged.store, $0, unsavedNames) }
  }
}

extension ArrivalNames {
  /// Whether the records have other names now.
  var areOld: Bool { renamed != nil }

  func id(_ reference: ReferenceID, of entity: EntityDescription) -> ManagedObjectID {
    newID(ManagedObjectID(scope: scopes[entity.ordinal], reference: reference))
  }

  func value(_ value: PropertyValue) -> PropertyValue { areOld ? value.map(newID) : value }

  private func newID(_ id: ManagedObjectID) -> ManagedObjectID { renamed?.newID(id) ?? id }
}
