import HeartwoodModel

/// Migrates the records of one model to another, table by table. No objects are made, and unchanged columns are shared.
package struct TableMigration: Sendable {
  private let plan: MigrationPlan
  private let resolutions: MigrationResolutions
  private let allowsLoss: Bool
  private let progress: MigrationProgress

  package init(
    _ plan: MigrationPlan,
    resolutions: MigrationResolutions,
    allowsLoss: Bool,
    progress: MigrationProgress
  ) {
    self.plan = plan
    self.resolutions = resolutions
    self.allowsLoss = allowsLoss
    self.progress = progress
  }

  /// The result of a migration.
  package struct Result: Sendable {
    package let tables: [NodeTable]
    /// The report, including obstacles. If there are any, the tables must not be used.
    package let report: MigrationReport
  }

  /// Makes the new records. O(records) at most; unchanged columns take no time.
  ///
  /// - Parameter derive: computes derived values. It is called again if records were deleted, for values that are
  ///   derived from them.
  /// - Throws: ``PersistenceError/Code/migrationCancelled``.
  package func run(
    _ contents: StoreContents,
    deriving derive: (([NodeTable]) throws -> [NodeTable])? = nil
  ) throws -> Result {
    var report = MigrationReport(findings: plan.coverage.losses(in: contents, isAllowed: allowsLoss))
    let columns = try migratedColumns(contents)
    report.findings += columns.findings
    let settled = InverseSettlement.settle(columns.tables, plan, narrowed: columns.narrowed)
    report.findings += settled.restored.map { .init(.restoredLinks, $0.entity, $0.property, count: $0.count) }
    report.findings += settled.severalObjects.map {
      .init(.severalObjects, $0.entity, $0.property, count: $0.count, isObstacle: resolutions.severalObjects == .refuse)
    }
    let tables = try unique(try derive?(settled.tables) ?? settled.tables, columns.filled, &report, derive)
    report.findings += missing(in: tables, before: contents)
    report.entities = MigrationReport.entities(plan.mapping, from: plan.source, to: plan.destination) {
      contents.tables[$0.ordinal].count
    } destinationCount: {
      tables[$0.ordinal].count
    }
    return Result(tables: tables, report: report)
  }

  /// Returns the tables without duplicates, and with the derived values of the remaining records.
  private func unique(
    _ tables: [NodeTable],
    _ filled: Set<ColumnKey>,
    _ report: inout MigrationReport,
    _ derive: (([NodeTable]) throws -> [NodeTable])?
  ) throws -> [NodeTable] {
    var tables = tables
    // Each round except the last deletes records, so the loop ends.
    while true {
      let removal = DuplicateRemoval.run(tables, plan, filled: filled, resolutions.duplicates)
      report.findings += removal.found.map {
        .init(.duplicates, $0.entity, $0.property, count: $0.count, isObstacle: resolutions.duplicates == .refuse)
      }
      guard removal.hasRemoved, let derive else { return removal.tables }
      try progress.check()
      tables = try derive(removal.tables)
    }
  }
}

// MARK: Columns

extension TableMigration {
  /// New tables, and how they were made.
  private struct Columns {
    var tables: [NodeTable]
    var findings: [MigrationReport.Finding] = []
    /// The relationships that lost links because they became to-one, by the entities that declare them.
    var narrowed: Set<ColumnKey> = []
    /// The attributes that were filled in records without a value.
    var filled: Set<ColumnKey> = []
  }

  private func migratedColumns(_ contents: StoreContents) throws -> Columns {
    let entities = plan.entities.compactMap(\.self)
    progress.expect(entities.reduce(0) { $0 + contents.tables[$1.source.ordinal].groups.count })
    var columns = Columns(tables: plan.destination.entities.map { NodeTable(entity: $0) })
    for entity in entities {
      let migration = GroupMigration(entity, plan)
      let groups = contents.tables[entity.source.ordinal].groups
      let migrated = try Parallel.tryMap(groups.count) { place in
        try progress.check()
        defer { progress.advance() }
        return migration.migrated(groups[place])
      }
      columns.tables[entity.destination.ordinal] = NodeTable(entity: entity.destination, groups: migrated.map(\.group))
      var tallies = [ColumnTally](repeating: ColumnTally(), count: entity.columns.count)
      for part in migrated { for (ordinal, tally) in part.tallies.enumerated() { tallies[ordinal] += tally } }
      for (ordinal, tally) in tallies.enumerated() { note(tally, entity.destination, ordinal, in: &columns) }
    }
    return columns
  }

  private func note(_ tally: ColumnTally, _ entity: EntityDescription, _ ordinal: Int, in columns: inout Columns) {
    columns.findings += findings(tally, entity, ordinal)
    if tally.filled > 0 { columns.filled.insert(ColumnKey(entityOrdinal: entity.ordinal, ordinal: ordinal)) }
    guard tally.severalObjects > 0 else { return }
    columns.narrowed.insert(ColumnKey(entityOrdinal: entity.declaring(ordinal).ordinal, ordinal: ordinal))
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
      (.removedLinks, tally.removedLinks, !allowsLoss),
    ]
    return counts.filter { $0.1 > 0 }.map { kind, count, isObstacle in
      .init(kind, entity.name, entity.properties[ordinal].name, count: count, isObstacle: isObstacle)
    }
  }
}

// MARK: Required values

extension TableMigration {
  /// Returns required properties without a value whose old record had one, or needed none.
  private func missing(in tables: [NodeTable], before contents: StoreContents) -> [MigrationReport.Finding] {
    plan.entities.compactMap(\.self).flatMap { entity in
      entity.columns.enumerated().compactMap { ordinal, column -> MigrationReport.Finding? in
        let trait = entity.destination.traits[ordinal]
        guard !trait.mayBeEmpty, !trait.isTransient else { return nil }
        let count = tables[entity.destination.ordinal].emptyCount(ordinal)
        let wasEmpty = column.sourceOrdinal.map { source in
          let isRequired = !entity.source.traits[source].mayBeEmpty
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
  /// Returns the number of records without a value for a property.
  func emptyCount(_ ordinal: Int) -> Int {
    groups.reduce(0) { count, group in
      let column = group.columns[ordinal]
      guard column.kind == .toMany || column.validity != nil else { return count }
      return count + group.liveRuns.reduce(0) { $0 + $1.count { column.isEmpty($0) } }
    }
  }
}

extension RecordColumn {
  /// Returns whether `row` has no value.
  fileprivate func isEmpty(_ row: Int) -> Bool {
    kind == .toMany ? range(row).isEmpty : validity?[row] == false
  }
}
