import HeartwoodModel

/// Makes the records of a damaged store consistent: no two records with one reference, no link to a missing record,
/// inverses that agree. It notes all changes, and the records that the model's validation does not accept, which stay
/// as they are.
struct SalvageSettlement {
  private(set) var contents: StoreContents
  private(set) var losses: [SalvageReport.Loss]
  /// The references of the records of each entity, by ordinal.
  var references: [Set<ReferenceID>] = []

  /// The relationships that the file stores at the other end only.
  let derived: Set<RelationshipSide>

  /// - Parameter losses: the losses that were noted before.
  static func settle(
    _ contents: StoreContents,
    _ losses: [SalvageReport.Loss],
    derived: Set<RelationshipSide> = []
  ) throws -> SalvageSettlement {
    var settlement = SalvageSettlement(contents: contents, losses: losses, derived: derived)
    settlement.takeReadableTables()
    try settlement.dropDuplicates()
    settlement.takeReadableHistory()
    settlement.dropDanglingLinks()
    try settlement.settleInverses()
    settlement.noteInvalidRecords()
    return settlement
  }

  private init(contents: StoreContents, losses: [SalvageReport.Loss], derived: Set<RelationshipSide>) {
    self.contents = contents
    self.losses = losses
    self.derived = derived
  }

  mutating func note(_ loss: SalvageReport.Loss) {
    losses.append(loss)
  }

  mutating func replace(_ ordinal: Int, by groups: [RowGroup]) {
    contents.tables[ordinal] = NodeTable(entity: contents.model.entities[ordinal], groups: groups)
  }
}

// MARK: Records

extension SalvageSettlement {
  /// Leaves out tables that a store has added for a later check, and that fail it.
  private mutating func takeReadableTables() {
    for (ordinal, table) in contents.tables.enumerated() {
      do {
        contents.tables[ordinal] = try table.verified()
      } catch {
        note(.init(.records, error, entity: table.entity.name, count: table.count))
        replace(ordinal, by: [])
      }
    }
  }

  private mutating func takeReadableHistory() {
    guard let history = contents.history else { return }
    do {
      try history.verify()
    } catch {
      let count = history.transactionCount
      note(
        .init(.fileParts, count: 0, reason: "The history, \(count) transactions, cannot be read: \(error.message)")
      )
      contents.history = nil
    }
  }

  /// Keeps the first of several records with the same reference.
  private mutating func dropDuplicates() throws(PersistenceError) {
    for (ordinal, table) in contents.tables.enumerated() {
      let repeated = table.repeatedRows
      for row in repeated.sorted(by: { $0.rawValue < $1.rawValue }) { note(.repeated(row, in: table)) }
      contents.tables[ordinal] = try table.keeping { !repeated.contains($0) }
      references.append(Set(table.liveRows.map(table.reference)))
    }
  }

  /// Returns whether there is such a record.
  func exists(_ key: RecordKey) -> Bool {
    references.indices.contains(key.entityOrdinal) && references[key.entityOrdinal].contains(key.reference)
  }
}

// MARK: Links that lead nowhere

extension SalvageSettlement {
  private mutating func dropDanglingLinks() {
    for (ordinal, table) in contents.tables.enumerated() where table.count > 0 {
      var groups = table.groups
      for property in table.entity.properties.indices where isKeptRelationship(property, of: table.entity) {
        for index in groups.indices { groups[index] = withoutDanglingLinks(groups[index], property, table.entity) }
      }
      replace(ordinal, by: groups)
    }
  }

  private func isKeptRelationship(_ property: Int, of entity: EntityDescription) -> Bool {
    entity.relationshipTargets[property] != nil && !entity.traits[property].isTransient
  }

  private mutating func withoutDanglingLinks(
    _ group: RowGroup,
    _ property: Int,
    _ entity: EntityDescription
  ) -> RowGroup {
    guard let target = entity.relationshipTargets[property] else { return group }
    let column = group.columns[property]
    let destination = contents.model.entities[target.entityOrdinal]
    let allowed = Set(contents.model.concreteEntities(under: destination).map(\.ordinal))
    var kept: [Int: [RecordKey]] = [:]
    for row in group.liveRuns.joined() {
      let old = column.recordKeys(row)
      var seen: Set<RecordKey> = []
      let new = old.filter { allowed.contains($0.entityOrdinal) && exists($0) && seen.insert($0).inserted }
      guard new.count < old.count else { continue }
      kept[row] = new
      noteDropped(old, new, of: group.references[row], property, entity)
    }
    guard !kept.isEmpty else { return group }
    return group.withLinks(of: property, isToMany: entity.traits[property].isToMany) { kept[$0] }
  }

  private mutating func noteDropped(
    _ old: [RecordKey],
    _ new: [RecordKey],
    of reference: ReferenceID,
    _ property: Int,
    _ entity: EntityDescription
  ) {
    let left = Set(new)
    let missing = old.first { !left.contains($0) }
    note(
      .init(
        .links,
        entity: entity.name,
        property: entity.properties[property].name,
        references: [reference],
        count: old.count - new.count,
        reason: missing.map { "It refers to \(text($0)), which does not exist." } ?? "It refers to a record twice."
      )
    )
  }

  func text(_ key: RecordKey) -> String {
    let entities = contents.model.entities
    let name = entities.indices.contains(key.entityOrdinal) ? entities[key.entityOrdinal].name : "a record"
    return "\(name) \(key.reference.text)"
  }
}

extension RowGroup {
  /// Returns the group with other links in some rows.
  ///
  /// - Parameter links: returns the links of a row; nil for those that it has.
  func withLinks(of property: Int, isToMany: Bool, _ links: (_ row: Int) -> [RecordKey]?) -> RowGroup {
    let builder = ColumnBuilder(kind: isToMany ? .toMany : .toOne)
    let column = columns[property]
    for row in 0..<rowCount {
      let old = isLive(row) ? column.recordKeys(row) : []
      builder.append(links(row) ?? old, isToMany: isToMany)
    }
    return RowGroup(
      references: references,
      versions: versions,
      columns: columns.enumerated().map { $0.offset == property ? builder.sealed() : $0.element },
      liveness: liveness
    )
  }
}

// MARK: What the model does not accept

extension SalvageSettlement {
  /// The greatest number of records with values that should be unique that are reported for each store.
  private static let mostConflicts = 10_000

  private mutating func noteInvalidRecords() {
    let known = propertiesNoted
    for entity in contents.entities {
      for node in contents.nodes(of: entity) {
        for fault in RecordValidation.faults(in: node.values, of: node.objectID) {
          // A lost value has already been reported as missing.
          if known.contains(.init(entity: entity.name, property: fault.property, reference: node.reference)) {
            continue
          }
          noteInvalid(node.objectID, fault.property, fault.message)
        }
      }
    }
    for conflict in contents.constraintConflicts(limit: Self.mostConflicts) {
      let names = conflict.constraint.joined(separator: ", ")
      let other = conflict.conflictingID
      noteInvalid(
        conflict.objectID,
        nil,
        "\(names) must be unique, and \(other.entity.name) \(other.reference.text) has the same."
      )
    }
  }

  private mutating func noteInvalid(_ id: ManagedObjectID, _ property: String?, _ message: String) {
    note(
      .init(
        .invalidRecords,
        entity: id.entity.name,
        property: property,
        references: [id.reference],
        count: 1,
        reason: "It is kept as it is. \(message)"
      )
    )
  }

  private struct NotedProperty: Hashable {
    let entity: String
    let property: String
    let reference: ReferenceID
  }

  private var propertiesNoted: Set<NotedProperty> {
    var noted: Set<NotedProperty> = []
    for loss in losses {
      guard let entity = loss.entity, let property = loss.property else { continue }
      for reference in loss.references {
        noted.insert(NotedProperty(entity: entity, property: property, reference: reference))
      }
    }
    return noted
  }
}
