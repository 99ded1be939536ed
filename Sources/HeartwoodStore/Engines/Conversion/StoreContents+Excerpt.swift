package import HeartwoodModel

extension StoreContents {
  /// Returns some of the records, with those that they need: the destinations of their to-one relationships, and of
  /// theirs. To-many relationships keep the destinations that are among these, so relationships and their inverses
  /// agree as before. The history is left out. O(records).
  ///
  /// - Parameters:
  ///   - references: the references of the records, by the ordinals of their entities. Those without a record are
  ///     ignored.
  ///   - progress: ends the work with a `CancellationError` if it is cancelled.
  package func excerpt(of references: [Int: [ReferenceID]], progress: FetchProgress? = nil) throws -> StoreContents {
    let contents = try verified()
    var selection = RecordSelection(contents, progress)
    try selection.add(references)
    return try selection.excerpt()
  }
}

// MARK: RecordSelection

/// Records of some contents, marked row by row.
private struct RecordSelection {
  private let contents: StoreContents
  private let progress: FetchProgress?
  /// A mark for each row, by the ordinal of the entity and the group.
  private var marks: [[[Bool]]]
  /// The ordinals of the relationships that stores keep, by the ordinal of the entity.
  private let toOne: [[Int]]
  private let toMany: [[Int]]
  /// The records whose relationships have not been followed yet.
  private var waiting: [(ordinal: Int, row: RowID)] = []

  init(_ contents: StoreContents, _ progress: FetchProgress?) {
    func relationships(of entity: EntityDescription, areToMany: Bool) -> [Int] {
      entity.properties.indices.filter { ordinal in
        entity.relationshipTargets[ordinal] != nil && !entity.traits[ordinal].isTransient
          && entity.traits[ordinal].isToMany == areToMany
      }
    }
    self.contents = contents
    self.progress = progress
    marks = contents.tables.map { $0.groups.map { [Bool](repeating: false, count: $0.rowCount) } }
    toOne = contents.model.entities.map { relationships(of: $0, areToMany: false) }
    toMany = contents.model.entities.map { relationships(of: $0, areToMany: true) }
  }

  /// Marks records, and those that they refer to by to-one relationships.
  mutating func add(_ references: [Int: [ReferenceID]]) throws {
    for (ordinal, references) in references {
      try checkProgress()
      for reference in references { try mark(RecordKey(entityOrdinal: ordinal, reference: reference)) }
    }
    var count = 0
    while let next = waiting.popLast() {
      count += 1
      if count.isMultiple(of: Self.checkInterval) { try checkProgress() }
      let group = contents.tables[next.ordinal].groups[next.row.group]
      for property in toOne[next.ordinal] {
        for key in group.columns[property].recordKeys(next.row.row) { try mark(key) }
      }
    }
  }

  private static let checkInterval = 1 << 14

  private func checkProgress() throws {
    if progress?.isCancelled == true { throw CancellationError() }
  }

  private mutating func mark(_ key: RecordKey) throws(PersistenceError) {
    guard let row = try row(of: key), !isMarked(key.entityOrdinal, row) else { return }
    marks[key.entityOrdinal][row.group][row.row] = true
    if !toOne[key.entityOrdinal].isEmpty { waiting.append((key.entityOrdinal, row)) }
  }

  private func row(of key: RecordKey) throws(PersistenceError) -> RowID? {
    guard contents.tables.indices.contains(key.entityOrdinal) else { return nil }
    return try contents.tables[key.entityOrdinal].row(of: key.reference)
  }

  private func isMarked(_ ordinal: Int, _ row: RowID) -> Bool { marks[ordinal][row.group][row.row] }

  /// Returns the marked records.
  func excerpt() throws -> StoreContents {
    var excerpt = contents
    excerpt.forgetHistory()
    for (ordinal, table) in contents.tables.enumerated() where table.count > 0 {
      try checkProgress()
      let kept = try table.keeping { isMarked(ordinal, $0) }
      let groups = try kept.groups.map { group in
        try toMany[ordinal].reduce(group) { try withoutOthers($0, $1) }
      }
      excerpt.tables[ordinal] = NodeTable(entity: table.entity, groups: groups)
    }
    return excerpt
  }

  /// Returns the group without the destinations of a to-many relationship that are not marked.
  private func withoutOthers(_ group: RowGroup, _ property: Int) throws -> RowGroup {
    var kept: [Int: [RecordKey]] = [:]
    for row in group.liveRuns.joined() {
      let old = group.columns[property].recordKeys(row)
      let new = try old.filter { key in try self.row(of: key).map { isMarked(key.entityOrdinal, $0) } ?? false }
      if new.count < old.count { kept[row] = new }
    }
    return kept.isEmpty ? group : group.withLinks(of: property, isToMany: true) { kept[$0] }
  }
}
