import HeartwoodModel
import HeartwoodStore
import Synchronization

/// Makes sure of a table that lies in a mapped file, before its first record is read.
final class BinaryTableVerifier: TableVerifier {
  private let file: BinaryFile
  private let table: BinaryDirectory.Table
  private let groups: [RowGroup]
  private let entityName: String
  private let meaning: ColumnMeaning
  private let order: BinaryColumnOrder
  private let isVerified = Mutex(false)

  init(
    _ file: BinaryFile,
    table: BinaryDirectory.Table,
    groups: [RowGroup],
    entity: EntityDescription,
    model: ManagedObjectModel,
    order: BinaryColumnOrder
  ) {
    self.file = file
    self.table = table
    self.groups = groups
    self.entityName = entity.name
    self.meaning = ColumnMeaning(of: entity, in: model)
    self.order = order
  }

  func verify() throws(PersistenceError) {
    try isVerified.withLock { isVerified throws(PersistenceError) in
      if isVerified { return }
      let faults = Parallel.map(groups.count) { fault(inGroup: $0) }
      if let first = faults.lazy.compactMap(\.self).first { throw first }
      isVerified = true
    }
  }

  private func fault(inGroup index: Int) -> PersistenceError? {
    do throws(PersistenceError) {
      try checkSections(table.groups[index])
      try checkValues(groups[index])
      return nil
    } catch {
      return error
    }
  }

  private func checkSections(_ entry: BinaryDirectory.Group) throws(PersistenceError) {
    for index in 0..<entry.sectionLengths(table.columns).count {
      try file.check(section: entry.firstSection + index, "a part of the records", entity: entityName)
    }
  }

  private func checkValues(_ group: RowGroup) throws(PersistenceError) {
    if let fault = ColumnMeaning.fault(in: group.references)
      ?? ColumnMeaning.fault(in: group.versions, rowCount: group.rowCount)
    {
      throw file.fault.corrupt(fault.what, at: fault.offset, entity: entityName)
    }
    for (place, ordinal) in order.ordinals.enumerated() {
      guard let fault = meaning.fault(in: group.columns[ordinal], ordinal: ordinal) else { continue }
      throw file.fault.corrupt(
        fault.what,
        at: fault.offset,
        entity: entityName,
        property: table.columns[place].name
      )
    }
  }
}
