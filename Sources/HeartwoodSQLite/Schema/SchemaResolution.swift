import HeartwoodModel
import HeartwoodStore

/// Finds the tables and columns of a plan in a file.
struct SchemaResolution {
  static let remedy: PersistenceError.Recovery =
    "Open the file with the model that it was written with, or go back to a backup."

  private let plan: SchemaPlan
  private let catalog: FileCatalog
  private let path: String
  /// Reasons against writing: tables and columns that the file lacks, and that only writing needs.
  private(set) var refusals: [String] = []
  /// Whether missing tables and columns are noted, and keep their planned names.
  private let toleratesGaps: Bool
  /// The missing tables and columns, if they are tolerated.
  private(set) var gaps: [PersistenceError] = []

  init(plan: SchemaPlan, catalog: FileCatalog, path: String, toleratesGaps: Bool = false) {
    self.plan = plan
    self.catalog = catalog
    self.path = path
    self.toleratesGaps = toleratesGaps
  }

  /// Returns the plan with the names that the file has.
  mutating func resolve() throws(PersistenceError) -> SchemaPlan {
    var resolved = plan
    resolved.tables = []
    for table in plan.tables {
      let found = try tolerating(table) { finding throws(PersistenceError) in try finding.resolve(table) }
      resolved.tables.append(found)
    }
    resolved.joins = []
    for join in plan.joins {
      let found = try tolerating(join) { finding throws(PersistenceError) in try finding.resolve(join) }
      resolved.joins.append(found)
    }
    return resolved
  }

  /// Returns the result of `body`, or `planned` if the file lacks it and that is tolerated.
  private mutating func tolerating<Found>(
    _ planned: Found,
    _ body: (inout SchemaResolution) throws(PersistenceError) -> Found
  ) throws(PersistenceError) -> Found {
    do throws(PersistenceError) {
      return try body(&self)
    } catch {
      guard toleratesGaps else { throw error }
      gaps.append(error)
      return planned
    }
  }

  private func malformed(
    _ problem: String,
    recovery: PersistenceError.Recovery? = nil,
    entity: EntityDescription,
    property: String? = nil
  ) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      problem,
      recovery: recovery,
      context: .init(path: path, storeType: .sqlite, entity: entity.name, property: property)
    )
  }
}

// MARK: Tables of records

extension SchemaResolution {
  private mutating func resolve(_ planned: SchemaPlan.Table) throws(PersistenceError) -> SchemaPlan.Table {
    guard let table = catalog[planned.name] else {
      throw malformed("The file has no table \(planned.name).", recovery: Self.remedy, entity: planned.root)
    }
    var resolved = planned
    resolved.name = table.name
    resolved.columns = []
    for column in planned.columns {
      let found = try tolerating(column.name) { finding throws(PersistenceError) in
        try finding.name(of: column, in: table, of: planned)
      }
      guard let name = found else { continue }
      resolved.columns.append(SchemaPlan.Column(name: name, type: column.type, role: column.role))
    }
    return resolved
  }

  /// Returns the name of a column; nil if the file lacks it, but can be read without it.
  private mutating func name(
    of column: SchemaPlan.Column,
    in table: FileCatalog.Table,
    of planned: SchemaPlan.Table
  ) throws(PersistenceError) -> String? {
    switch column.role {
    case .row:
      if let found = table[column.name] { return found.name }
      throw missing(column.name, table, planned.root, property: nil)
    case .value(let slot):
      let namesakes = planned.columns.filter { isNamesake($0, of: slot) }
      if namesakes.count > 1, let name = try nameAmongNamesakes(column, namesakes, slot, table) { return name }
      if let found = table[column.name] { return found.name }
      throw missing(column.name, table, plan.model.entities[slot.entity], property: plan.name(slot))
    case .owner(let slot):
      if let found = table[column.name] ?? only(in: table, "Z", plan.name(slot)) { return found.name }
      throw missing(column.name, table, plan.model.entities[slot.entity], property: plan.name(slot))
    case .entity(let slot):
      if let found = table[column.name] ?? only(in: table, "Z", "_" + plan.name(slot)) { return found.name }
      return refuse(column.name, table)
    case .order, .ownerOrder:
      return table[column.name]?.name ?? refuse(column.name, table)
    }
  }

  private func missing(
    _ column: String,
    _ table: FileCatalog.Table,
    _ entity: EntityDescription,
    property: String?
  ) -> PersistenceError {
    malformed(
      "The table \(table.name) has no column \(column).",
      recovery: Self.remedy,
      entity: entity,
      property: property
    )
  }

  private mutating func refuse(_ column: String, _ table: FileCatalog.Table) -> String? {
    refusals.append("The table \(table.name) has no column \(column), which Core Data would need after a change.")
    return nil
  }

  /// Returns the only column whose name consists of the number of any entity and the name of a property: numbers change
  /// when files are migrated.
  private func only(in table: FileCatalog.Table, _ prefix: String, _ name: String) -> FileCatalog.Column? {
    let columns = table.columns { SQLiteName.hasForm($0, prefix: prefix, rest: name.uppercased()) }
    return columns.count == 1 ? columns[0] : nil
  }

  private func isNamesake(_ column: SchemaPlan.Column, of slot: PropertySlot) -> Bool {
    guard case .value(let other) = column.role else { return false }
    return plan.name(other).uppercased() == plan.name(slot).uppercased()
  }

  /// Resolves columns whose names differ only by a digit: uses the planned names if their types match, or else the only
  /// assignment in which they do. Returns nil if there is no ambiguity, but a column is missing.
  private func nameAmongNamesakes(
    _ column: SchemaPlan.Column,
    _ namesakes: [SchemaPlan.Column],
    _ slot: PropertySlot,
    _ table: FileCatalog.Table
  ) throws(PersistenceError) -> String? {
    let found = namesakes.compactMap { table[$0.name] }
    guard found.count == namesakes.count else { return nil }
    if zip(namesakes, found).allSatisfy({ $0.type.rawValue == $1.type }) { return table[column.name]?.name }
    let fitting = found.filter { $0.type == column.type.rawValue }
    let rivals = namesakes.filter { $0.type == column.type }
    if fitting.count == 1, rivals.count == 1 { return fitting[0].name }
    throw malformed(
      "The columns \(found.map(\.name).joined(separator: ", ")) of the table \(table.name) have other types than the model requires, so "
        + "it cannot be decided which is which.",
      entity: plan.model.entities[slot.entity],
      property: plan.name(slot)
    )
  }
}

// MARK: Tables of relationships

extension SchemaResolution {
  private mutating func resolve(_ planned: SchemaPlan.Join) throws(PersistenceError) -> SchemaPlan.Join {
    guard var join = try found(planned) else {
      throw malformed(
        "The file has no table \(planned.name) with the columns \(planned.ownColumn) and \(planned.otherColumn), nor one by another number.",
        recovery: Self.remedy,
        entity: plan.model.entities[planned.relationship.entity],
        property: plan.name(planned.relationship)
      )
    }
    guard let table = catalog[join.name] else { return join }
    join.orderColumn = order(planned.orderColumn, beside: join.isReflexive ? join.ownColumn : join.otherColumn, table)
    join.inverseOrderColumn = order(planned.inverseOrderColumn, beside: join.ownColumn, table)
    return join
  }

  private mutating func order(_ planned: String?, beside column: String, _ table: FileCatalog.Table) -> String? {
    guard let planned else { return nil }
    let name = SQLiteName.joinOrder(column)
    let found = table[planned] ?? table[name] ?? table[name.trimmingDigits]
    return found?.name ?? refuse(planned, table)
  }

  /// Returns the table as planned, or else the only table with the names of the relationship and its inverse, whichever
  /// of them it is named after and whatever numbers it contains.
  private func found(_ planned: SchemaPlan.Join) throws(PersistenceError) -> SchemaPlan.Join? {
    if let table = catalog[planned.name], let join = exactly(planned, table) { return join }
    let names = [planned.relationship, planned.inverse].map { plan.name($0).uppercased() }
    let tables = catalog.tables.values.filter { table in
      names.contains { SQLiteName.hasForm(table.name, prefix: "Z_", rest: $0) }
    }.sorted { $0.name < $1.name }
    let exact = tables.compactMap { exactly(planned, $0) }
    if exact.count == 1 { return exact[0] }
    let close = tables.compactMap { closely(planned, $0) }
    guard close.count > 1 else { return close.first }
    throw malformed(
      "The tables \(close.map(\.name).joined(separator: ", ")) could all be that of the relationship.",
      entity: plan.model.entities[planned.relationship.entity],
      property: plan.name(planned.relationship)
    )
  }

  private func exactly(_ planned: SchemaPlan.Join, _ table: FileCatalog.Table) -> SchemaPlan.Join? {
    guard let own = table[planned.ownColumn], let other = table[planned.otherColumn] else { return nil }
    return planned.named(table.name, own.name, other.name)
  }

  private func closely(_ planned: SchemaPlan.Join, _ table: FileCatalog.Table) -> SchemaPlan.Join? {
    let own = column(of: plan.number(plan.model.entities[planned.relationship.entity]), planned.inverse, in: table)
    let other =
      planned.isReflexive
      ? table[SQLiteName.reflexive]
      : column(of: plan.number(plan.model.entities[planned.inverse.entity]), planned.relationship, in: table)
    guard let own, let other, own.name != other.name else { return nil }
    return planned.named(table.name, own.name, other.name)
  }

  /// Returns the column of a relationship: the one with the number of the entity if there are several.
  private func column(of number: Int, _ slot: PropertySlot, in table: FileCatalog.Table) -> FileCatalog.Column? {
    let name = plan.name(slot).uppercased()
    let columns = table.columns { SQLiteName.hasForm($0, prefix: "Z_", rest: name) }
    let numbered = columns.filter { SQLiteName.isNumbered($0.name, of: SQLiteName.join(number, name)) }
    if numbered.count == 1 { return numbered[0] }
    return columns.count == 1 ? columns[0] : nil
  }
}

extension SchemaPlan.Join {
  fileprivate func named(_ table: String, _ own: String, _ other: String) -> SchemaPlan.Join {
    var join = self
    (join.name, join.ownColumn, join.otherColumn) = (table, own, other)
    return join
  }
}

extension String {
  /// The text without the digits at its end.
  fileprivate var trimmingDigits: String {
    var text = self
    while text.last.map({ ("0"..."9").contains($0) }) == true { text.removeLast() }
    return text
  }
}
