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

// MARK: BinaryHistoryVerifier

/// Makes sure of a page of the history that lies in a mapped file, before it is read.
struct BinaryHistoryVerifier: HistoryPageVerifier {
  let file: BinaryFile
  let section: Int
  let transactionCount: Int

  func verify() throws(PersistenceError) {
    try file.check(section: section, "a page of the history")
    let bytes = file.bytes(ofSection: section)
    guard let fault = HistoryPage.fault(in: bytes, transactionCount: transactionCount) else { return }
    throw file.fault.corrupt(fault.what, at: file.directory.sections[section].offset + fault.offset)
  }
}

// MARK: ColumnRule

/// Which bytes mean something in the column of a property.
enum ColumnRule: Sendable {
  /// Any.
  case anyBytes
  /// UTF-8.
  case text
  /// UTF-8 that is a URI.
  case uri
  case decimal
  /// References to entities for whose ordinals there is a true.
  case references([Bool])
}

extension ColumnRule {
  /// The rules for the properties of `entity`, indexed by ordinal.
  static func rules(for entity: EntityDescription, of model: ManagedObjectModel) -> [ColumnRule] {
    zip(entity.properties, entity.relationshipTargets).map { property, target in
      if let target { return .references(allowedEntities(model.entities[target.entityOrdinal], of: model)) }
      return property.attribute.map { ColumnRule($0.type) } ?? .anyBytes
    }
  }

  private static func allowedEntities(_ destination: EntityDescription, of model: ManagedObjectModel) -> [Bool] {
    var allowed = [Bool](repeating: false, count: model.entities.count)
    for entity in model.concreteEntities(under: destination) { allowed[entity.ordinal] = true }
    return allowed
  }

  private init(_ type: AttributeType) {
    switch type {
    case .string: self = .text
    case .uri: self = .uri
    case .decimal: self = .decimal
    default: self = .anyBytes
    }
  }
}

// MARK: ColumnFault

/// What is wrong with a column or with references, and where in the bytes that hold them.
struct ColumnFault: Sendable {
  let what: String
  /// The offset in the region of the bytes; for a mapped file, in the file.
  let offset: Int

  init(_ what: String, in bytes: ByteSlice, at place: Int = 0) {
    self.what = what
    self.offset = bytes.offset + place
  }
}
