package import HeartwoodModel
import Synchronization

/// Checks groups of rows that lie in a file, before the first of their records is read, on all processors.
package final class RowGroupVerifier: TableVerifier {
  /// Checks that the bytes of the group with an index are the ones that were written.
  package typealias Check = @Sendable (_ group: Int) throws(PersistenceError) -> Void
  /// Returns the groups, which have been checked, with the changes that come after them in the file.
  package typealias Revision = @Sendable (_ groups: [RowGroup]) throws(PersistenceError) -> [RowGroup]

  private let groups: [RowGroup]
  private let entityName: String
  private let path: String?
  private let storeType: StoreType
  private let meaning: ColumnMeaning
  private let check: Check?
  private let revision: Revision?
  private let result = Mutex<Result?>(nil)

  private struct Result {
    let revised: [RowGroup]?
  }

  package init(
    _ groups: [RowGroup],
    of entity: EntityDescription,
    in model: ManagedObjectModel,
    path: String?,
    storeType: StoreType,
    check: Check?,
    revision: Revision? = nil
  ) {
    self.groups = groups
    self.entityName = entity.name
    self.path = path
    self.storeType = storeType
    self.meaning = ColumnMeaning(of: entity, in: model)
    self.check = check
    self.revision = revision
  }

  package func verify() throws(PersistenceError) -> [RowGroup]? {
    try result.withLock { result throws(PersistenceError) in
      if let result { return result.revised }
      let faults = Parallel.map(groups.count) { fault(inGroup: $0) }
      if let first = faults.lazy.compactMap(\.self).first { throw first }
      let revised = try revision?(groups)
      result = Result(revised: revised)
      return revised
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
