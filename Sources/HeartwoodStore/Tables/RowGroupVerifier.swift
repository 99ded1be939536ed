package import HeartwoodModel
import Synchronization

/// Checks groups of rows that lie in a file, before the first of their records is read, on all processors.
package final class RowGroupVerifier: TableVerifier {
  /// Checks that the bytes of the group with an index are the ones that were written.
  package typealias Check = @Sendable (_ group: Int) throws(PersistenceError) -> Void

  private let groups: [RowGroup]
  private let entityName: String
  private let path: String?
  private let storeType: StoreType
  private let meaning: ColumnMeaning
  private let check: Check?
  private let isVerified = Mutex(false)

  package init(
    _ groups: [RowGroup],
    of entity: EntityDescription,
    in model: ManagedObjectModel,
    path: String?,
    storeType: StoreType,
    check: Check?
  ) {
    self.groups = groups
    self.entityName = entity.name
    self.path = path
    self.storeType = storeType
    self.meaning = ColumnMeaning(of: entity, in: model)
    self.check = check
  }

  package func verify() throws(PersistenceError) {
    try isVerified.withLock { isVerified throws(PersistenceError) in
      if isVerified { return }
      let faults = Parallel.map(groups.count) { fault(inGroup: $0) }
      if let first = faults.lazy.compactMap(\.self).first { throw first }
      isVerified = true
    }
  }

  private func fault(inGroup index: Int) -> PersistenceError? {
    do throws(PersistenceError) {
      try check?(index)
    } catch {
      var error = error.locating(path: path)
      error.context.storeType = error.context.storeType ?? storeType
      error.context.entity = error.context.entity ?? entityName
      return error
    }
    return meaning.fault(in: groups[index])?.corrupt(in: path, storeType: storeType, entity: entityName)
  }
}
