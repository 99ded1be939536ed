import HeartwoodModel

/// Makes of the records of one model those of another, table to table: no object is made, and columns that stay the same are shared.
package struct TableMigration: Sendable {
  private let plan: TablePlan
  private let resolutions: MigrationResolutions
  private let progress: MigrationProgress

  package init(_ plan: TablePlan, resolutions: MigrationResolutions, progress: MigrationProgress) {
    self.plan = plan
    self.resolutions = resolutions
    self.progress = progress
  }

  /// What a migration makes.
  package struct Result: Sendable {
    package let tables: [NodeTable]
    /// With what stands in the way, where something does: then the tables are not to be used.
    package let report: MigrationReport
  }

  /// Makes the new records. O(records) at most; what is not touched costs nothing.
  ///
  /// - Throws: ``PersistenceError/Code/migrationCancelled``.
  package func run(_ contents: StoreContents) throws -> Result {
    var report = MigrationReport()
    let (tables, narrowed) = try migratedTables(contents, &report)
    let settled = InverseSettlement.settle(tables, plan, narrowed: narrowed)
    report.findings += settled.restored.map { .init(.restoredLinks, $0.entity, $0.property, count: $0.count) }
    let unique = DuplicateRemoval.run(settled.tables, plan, resolutions.duplicates)
    report.findings += unique.found.map {
      .init(.duplicates, $0.entity, $0.property, count: $0.count, isObstacle: resolutions.duplicates == .refuse)
    }
    report.findings += missing(in: unique.tables, before: contents)
    report.entities = MigrationReport.entities(plan.mapping, from: plan.source, to: plan.destination) {
      contents.tables[$0.ordinal].count
    } destinationCount: {
      unique.tables[$0.ordinal].count
    }
    return Result(tables: unique.tables, report: report)
  }
}

// MARK: Columns

extension TableMigration {
  /// The new tables, and the relationships that lost links because they lead to one object now.
  private func migratedTables(
    _ contents: StoreContents,
    _ report: inout MigrationReport
  ) throws -> ([NodeTable], Set<RelationshipKey>) {
    let entities = plan.entities.compactMap(\.self)
    progress.expect(entities.reduce(0) { $0 + contents.tables[$1.source.ordinal].groups.count })
    var tables = plan.destination.entities.map { NodeTable(entity: $0) }
    var narrowed: Set<RelationshipKey> = []
    for entity in entities {
      let migration = GroupMigration(entity, plan)
      let groups = contents.tables[entity.source.ordinal].groups
      let migrated = try Parallel.tryMap(groups.count) { place in
        try progress.check()
        defer { progress.advance() }
        return migration.migrated(groups[place])
      }
      tables[entity.destination.ordinal] = NodeTable(entity: entity.destination, groups: migrated.map(\.group))
      var tallies = [ColumnTally](repeating: ColumnTally(), count: entity.columns.count)
      for part in migrated { for (ordinal, tally) in part.tallies.enumerated() { tallies[ordinal] += tally } }
      for (ordinal, tally) in tallies.enumerated() {
        report.findings += findings(tally, entity.destination, ordinal)
        guard tally.severalObjects > 0 else { continue }
        let owner = entity.destination.declaring(ordinal)
        narrowed.insert(RelationshipKey(entityOrdinal: owner.ordinal, ordinal: ordinal))
      }
    }
    return (tables, narrowed)
  }

  private func findings(
    _ tally: ColumnTally,
    _ entity: EntityDescription,
    _ ordinal: Int
  ) -> [MigrationReport.Finding] {
    let counts: [(MigrationReport.Finding.Kind, Int, Bool)] = [
      (.converted, tally.converted, false), (.filled, tally.filled, false),
      (.unfit, tally.unfit, resolutions.unfitValues == .refuse),
      (.severalObjects, tally.severalObjects, resolutions.severalObjects == .refuse),
      (.removedLinks, tally.removedLinks, false),
    ]
    return counts.filter { $0.1 > 0 }.map { kind, count, isObstacle in
      .init(kind, entity.name, entity.properties[ordinal].name, count: count, isObstacle: isObstacle)
    }
  }
}

// MARK: Required values

extension TableMigration {
  /// Required properties that have no value where the old record had one, or needed none.
  private func missing(in tables: [NodeTable], before contents: StoreContents) -> [MigrationReport.Finding] {
    plan.entities.compactMap(\.self).flatMap { entity in
      entity.columns.enumerated().compactMap { ordinal, column -> MigrationReport.Finding? in
        let trait = entity.destination.traits[ordinal]
        guard !trait.isOptional, !trait.isTransient else { return nil }
        let count = tables[entity.destination.ordinal].emptyCount(ordinal)
        let wasEmpty = column.sourceOrdinal.map { source in
          let isRequired = !entity.source.traits[source].isOptional
          return isRequired ? contents.tables[entity.source.ordinal].emptyCount(source) : 0
        }
        guard count > wasEmpty ?? 0 else { return nil }
        let name = entity.destination.properties[ordinal].name
        return .init(.missing, entity.destination.name, name, count: count, isObstacle: true)
      }
    }
  }
}

extension NodeTable {
  /// How many records have nothing for a property.
  fileprivate func emptyCount(_ ordinal: Int) -> Int {
    groups.reduce(0) { count, group in
      let column = group.columns[ordinal]
      guard column.kind == .toMany || column.validity != nil else { return count }
      return count + group.liveRuns.reduce(0) { $0 + $1.count { column.isEmpty($0) } }
    }
  }
}

extension Column {
  /// Whether there is nothing in `row`.
  fileprivate func isEmpty(_ row: Int) -> Bool {
    kind == .toMany ? range(row).isEmpty : validity?[row] == false
  }
}
