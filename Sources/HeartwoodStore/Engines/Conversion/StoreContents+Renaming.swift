package import HeartwoodModel

extension StoreContents {
  /// Returns whether all records have references of `kinds`, and no two records of one entity tree have the same
  /// reference.
  package func areNamed(as kinds: [StoreCapabilities.ReferenceKind]) throws(PersistenceError) -> Bool {
    let isNamed = tables.allSatisfy { table in
      table.groups.allSatisfy { $0.references.kindOutside(kinds) == nil }
    }
    guard isNamed else { return false }
    let trees = Dictionary(grouping: tables.filter { $0.count > 0 }) { $0.entity.rootEntity.name }
    for tables in trees.values where try !Self.haveDistinctReferences(tables) { return false }
    return true
  }

  private static func haveDistinctReferences(_ tables: [NodeTable]) throws(PersistenceError) -> Bool {
    for (index, table) in tables.enumerated() {
      for other in tables[..<index] {
        for row in table.liveRows where try other.row(of: table.reference(row)) != nil { return false }
      }
    }
    return true
  }

  /// Returns the same records in the same rows, under other references.
  ///
  /// - Parameters:
  ///   - keepsMissing: whether a relationship that refers to a missing record stays as it is. Otherwise that is an
  ///     error: one of the new references could be taken for that record's.
  ///   - newReferences: returns references for as many records of an entity as it is asked for, no two of them the
  ///     same.
  /// - Throws: ``PersistenceError/Code/danglingReference`` if a relationship refers to a missing record.
  package func renamed(
    keepsMissing: Bool = false,
    _ newReferences: (Int, EntityDescription) throws -> [ReferenceID]
  ) throws -> StoreContents {
    let names = try tables.map { table in
      let count = table.groups.reduce(0) { $0 + $1.rowCount }
      return count == 0 ? [] : try newReferences(count, table.entity)
    }
    // The position at which the references of each group's rows begin.
    let starts = tables.map { table in
      table.groups.reduce(into: [0]) { starts, group in starts.append((starts.last ?? 0) + group.rowCount) }
    }
    func name(_ reference: ReferenceID, _ ordinal: Int) throws(PersistenceError) -> ReferenceID? {
      guard let row = try tables[ordinal].row(of: reference) else { return keepsMissing ? reference : nil }
      return names[ordinal][starts[ordinal][row.group] + row.row]
    }
    var renamed = self
    for (ordinal, table) in tables.enumerated() {
      let groups = try table.groups.enumerated().map { place, group in
        let start = starts[ordinal][place]
        return try group.renamed(names[ordinal][start..<(start + group.rowCount)], in: scopes[ordinal], name)
      }
      renamed.tables[ordinal] = NodeTable(entity: table.entity, groups: groups)
    }
    return renamed
  }
}

extension RowGroup {
  /// Returns the same records under other references. `name` returns the new reference for an old one and the entity's
  /// ordinal, also for relationships.
  fileprivate func renamed(
    _ references: ArraySlice<ReferenceID>,
    in scope: ObjectIDScope,
    _ name: (ReferenceID, Int) throws(PersistenceError) -> ReferenceID?
  ) throws(PersistenceError) -> RowGroup {
    let builder = ReferenceColumnBuilder()
    for reference in references { builder.append(reference, entityOrdinal: scope.entity.ordinal) }
    var columns = columns
    for (ordinal, column) in columns.enumerated() {
      guard let links = column.references else { continue }
      columns[ordinal] = column.with(references: try renamedLinks(links, of: ordinal, in: scope, name))
    }
    return RowGroup(references: builder.sealed(), versions: versions, columns: columns, liveness: liveness)
  }

  /// Returns the links of a relationship under the other references.
  private func renamedLinks(
    _ links: ReferenceColumn,
    of ordinal: Int,
    in scope: ObjectIDScope,
    _ name: (ReferenceID, Int) throws(PersistenceError) -> ReferenceID?
  ) throws(PersistenceError) -> ReferenceColumn {
    let column = columns[ordinal]
    let isToOne = column.kind == .toOne
    let renamed = ReferenceColumnBuilder()
    for row in 0..<rowCount {
      // The stored bytes of a null to-one relationship are no reference, and the links of a deleted record are not
      // read.
      let leads = isLive(row) && (!isToOne || column.validity?[row] ?? true)
      for index in isToOne ? row..<(row + 1) : column.range(row) {
        guard leads else {
          renamed.appendPlaceholder()
          continue
        }
        let destination = links.entityOrdinal(index)
        guard let new = try name(links[index], destination) else {
          throw danglingReference(row, by: ordinal, in: scope)
        }
        renamed.append(new, entityOrdinal: destination)
      }
    }
    return renamed.sealed()
  }

  private func danglingReference(_ row: Int, by ordinal: Int, in scope: ObjectIDScope) -> PersistenceError {
    PersistenceError(
      .danglingReference,
      "A relationship refers to a record that does not exist.",
      recovery: "Remove it before the records get other references.",
      context: .init(
        entity: scope.entity.name,
        property: scope.entity.properties[ordinal].name,
        objectIDs: [ManagedObjectID(scope: scope, reference: references[row])]
      )
    )
  }
}

extension ReferenceColumn {
  /// Returns a kind of the references that is not in `kinds`, or nil.
  func kindOutside(_ kinds: [StoreCapabilities.ReferenceKind]) -> StoreCapabilities.ReferenceKind? {
    // Only a mixed layout has references of different kinds.
    let count = layout == .mixed ? count : min(1, count)
    return (0..<count).lazy.map { kind($0) }.first { !kinds.contains($0) }
  }
}

// MARK: Naming

extension StoreContents {
  /// Removes the history.
  package mutating func forgetHistory() { history = nil }

  /// Returns the same records under the references that their origins had, if those are free; the others get new ones
  /// of the same kind.
  ///
  /// - Parameters:
  ///   - origins: the references of the records that these were made from, by the present ids of these.
  ///   - old: the store that they come from.
  package func calling(_ origins: [ManagedObjectID: ReferenceID], asIn old: StoreContents) throws -> StoreContents {
    try calling(origins, asIn: old, keepsMissing: false)
  }

  private func calling(
    _ origins: [ManagedObjectID: ReferenceID],
    asIn old: StoreContents,
    keepsMissing: Bool
  ) throws -> StoreContents {
    var naming = RecordNaming(origins: origins, old: old, new: self)
    return try renamed(keepsMissing: keepsMissing) { _, entity in try naming.names(ofRecordsOf: entity) }
  }

  /// Makes sure that no new record gets a number by which a relationship refers to a missing record.
  package mutating func reserveNumbersOfLinks() {
    let greatest = tables.lazy.flatMap(\.groups).flatMap(\.columns).compactMap { $0.references?.greatestNumber }.max()
    guard let greatest, greatest < .max else { return }
    nextReferenceNumber = max(numberAfterGreatestReference, greatest + 1)
  }

  /// Returns the same records, in which the ones that were not in `old` have references of the kind that it uses.
  /// References to missing records stay.
  package func namingNewRecords(asIn old: StoreContents) throws -> StoreContents {
    var origins: [ManagedObjectID: ReferenceID] = [:]
    for (ordinal, table) in tables.enumerated() {
      for row in table.liveRows where try old.tables[ordinal].row(of: table.reference(row)) != nil {
        origins[objectID(table.reference(row), of: table.entity)] = table.reference(row)
      }
    }
    return try calling(origins, asIn: old, keepsMissing: true)
  }
}

/// Gives records the references of the records that they were made from.
private struct RecordNaming {
  private let origins: [ManagedObjectID: ReferenceID]
  private let new: StoreContents
  /// Whether records without an origin get numbers as references, as the old ones had.
  private let usesNumbers: Bool
  private var nextNumber: Int64
  /// The references that are taken, by the name of the root entity: a number identifies one record in a whole entity
  /// tree.
  private var taken: [String: Set<ReferenceID>] = [:]

  init(origins: [ManagedObjectID: ReferenceID], old: StoreContents, new: StoreContents) {
    self.origins = origins
    self.new = new
    let references = old.tables.lazy.flatMap(\.groups).map(\.references).first { $0.count > 0 }
    usesNumbers = references.map { $0.kind(0) == .integer } ?? false
    nextNumber = old.numberAfterGreatestReference
  }

  mutating func names(ofRecordsOf entity: EntityDescription) throws -> [ReferenceID] {
    let root = entity.rootEntity.name
    var names: [ReferenceID] = []
    for group in new.table(of: entity).groups {
      for row in 0..<group.rowCount {
        let reference = group.references[row]
        let origin = origins[new.objectID(reference, of: entity)]
        if let origin, taken[root, default: []].insert(origin).inserted {
          names.append(origin)
        } else {
          names.append(try another(insteadOf: reference))
        }
      }
    }
    return names
  }

  private mutating func another(insteadOf reference: ReferenceID) throws(PersistenceError) -> ReferenceID {
    guard usesNumbers else { return reference }
    guard nextNumber < .max else {
      throw PersistenceError(
        .capabilityMissing,
        "The references of the records are numbers, and the greatest number is in use."
      )
    }
    nextNumber += 1
    return .integer(nextNumber - 1)
  }
}
