import CHeartwoodSQLite
import GRDB
import GRDBSQLite
import HeartwoodModel

/// The triggers by which Core Data maintains derived attributes.
///
/// They call functions that only Core Data has. Contexts compute derived attributes themselves, so the triggers need
/// not run when Heartwood writes: they are disabled for its connection, and stay in the file for Core Data.
enum DerivedTriggers {
  /// The function that Core Data's triggers call after computing a value. No other trigger calls it.
  private static let function = "NSCoreDataDATrigger"

  static func isOne(_ trigger: FileCatalog.Trigger) -> Bool { trigger.text.contains(function) }

  /// Returns whether a file has such triggers. O(tables and triggers).
  static func exist(in db: Database) throws -> Bool {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND instr(sql, '\(function)'))"
    return try Bool.fetchOne(db, sql: sql) ?? false
  }

  /// Disables the triggers for the connection.
  static func switchOff(in db: Database) throws {
    let code = heartwood_enable_triggers(db.sqliteConnection, 0)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// Returns the reason why the file cannot be written although its triggers are disabled; nil if it can.
  ///
  /// - Parameter entities: the entities that the store keeps. Only attributes that their model derives are computed.
  static func refusal(_ catalog: FileCatalog, entities: [EntityDescription]) -> String? {
    guard let first = catalog.triggers.first(where: isOne) else { return nil }
    if let other = catalog.triggers.first(where: { !isOne($0) }) {
      return
        "The file has triggers of Core Data's that keep derived attributes (\(first.name)), and others (\(other.name)): they can only be "
        + "switched off together."
    }
    let names = entities.flatMap { entity in
      entity.attributesByName.values.filter { $0.derivationExpression != nil }.map { "_\(entity.name)_\($0.name)" }
    }
    guard let unknown = catalog.triggers.first(where: { trigger in !names.contains { trigger.name.contains($0) } })
    else {
      return nil
    }
    return
      "The trigger \(unknown.name) keeps an attribute that the model does not derive, by functions that only Core Data has: the value would "
      + "no longer follow what it is derived from."
  }
}

// MARK: Triggers of other forms

extension DerivedTriggers {
  /// Texts that occur in the triggers that new files also get.
  private static let knownForms = [" + 1 WHERE Z_PK =", " - 1 WHERE Z_PK =", "IFNULL(COUNT("]

  /// Returns the reason why a file must not be replaced by a new one; nil if the new one has the same triggers.
  static func refusalOfReplacing(_ catalog: FileCatalog) -> String? {
    let unknown = catalog.triggers.first { trigger in
      isOne(trigger) && !knownForms.contains { trigger.text.contains($0) }
    }
    return unknown.map { trigger in
      "Triggers keep derived attributes for Core Data in a form that new files do not get (\(trigger.name))."
    }
  }
}

// MARK: SQLiteTrigger

/// A trigger of a table.
struct SQLiteTrigger: Sendable, Hashable {
  let name: String
  /// The statement that creates the trigger, as Core Data writes it.
  let createStatement: String
}

extension SchemaPlan {
  /// The triggers of the derived attributes for which known files contain them: counts of the objects of a to-many
  /// relationship with a to-one inverse, between root entities.
  var triggers: [SQLiteTrigger] {
    forest.members.filter { $0.parent == nil }.flatMap { member in
      ownSlots(member).flatMap { slot in CountTriggers(slot, in: self)?.all ?? [] }
    }
  }
}

/// The triggers that count the objects of a to-many relationship.
private struct CountTriggers {
  /// The entity with the attribute, and the attribute.
  let entity: String
  let attribute: String
  let table: String
  let column: String
  /// The table of the objects that are counted, and the column with the key of their owner.
  let memberTable: String
  let ownerColumn: String

  init?(_ slot: PropertySlot, in plan: SchemaPlan) {
    let entity = plan.model.entities[slot.entity]
    guard let attribute = entity.properties[slot.property].attribute,
      let name = attribute.derivationExpression?.countedKey,
      let relationship = entity.relationshipsByName[name],
      let placement = plan.placements[slot.entity],
      let ordinal = entity.properties.firstIndex(where: { $0.name == name }),
      case .toMany(let members) = placement.properties[ordinal],
      case .attribute(let own) = placement.properties[slot.property],
      let destination = plan.model.entity(named: relationship.destinationEntityName),
      relationship.inverseRelationshipName != nil, plan.forest[destination.ordinal]?.parent == nil
    else { return nil }
    self.entity = entity.name
    self.attribute = attribute.name
    table = placement.tableName
    column = own.column
    memberTable = members.table
    ownerColumn = members.column
  }

  var all: [SQLiteTrigger] {
    let isOwned = { (row: String) in " WHEN (\(row).\(ownerColumn) NOT NULL)" }
    return [
      member("INSERT", "INSERT", isOwned("NEW"), row: "NEW", to: "IFNULL(\(column), 0) + 1"),
      member("UPDATE_INCREMENT", "UPDATE OF \(ownerColumn)", isOwned("NEW"), row: "NEW", to: "\(column) + 1"),
      member("UPDATE_DECREMENT", "UPDATE OF \(ownerColumn)", isOwned("OLD"), row: "OLD", to: "\(column) - 1"),
      member("DELETE", "DELETE", isOwned("OLD"), row: "OLD", to: "\(column) - 1"),
      ofNewOwners,
    ]
  }

  private func member(
    _ suffix: String,
    _ event: String,
    _ condition: String,
    row: String,
    to value: String
  ) -> SQLiteTrigger {
    let name = "Z_DA_\(memberTable)_\(entity)_\(attribute)_PARAMETER_\(suffix)"
    let key = "\(row).\(ownerColumn)"
    return SQLiteTrigger(
      name: name,
      createStatement: "CREATE TRIGGER \(name) AFTER \(event) ON \(memberTable) FOR EACH ROW\(condition) BEGIN "
        + "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(key); "
        + note("NSCoreDataDATriggerUpdatedAffectedObjectValue", key) + " END"
    )
  }

  private var ofNewOwners: SQLiteTrigger {
    let name = "Z_DA_\(table)_\(entity)_\(attribute)_SOURCE_INSERT"
    let count = "(SELECT IFNULL(COUNT(\(ownerColumn)), 0) FROM \(memberTable) WHERE \(ownerColumn) = NEW.Z_PK)"
    return SQLiteTrigger(
      name: name,
      createStatement: "CREATE TRIGGER \(name) AFTER INSERT ON \(table) FOR EACH ROW BEGIN "
        + "UPDATE \(table) SET \(column) = \(count) WHERE Z_PK = NEW.Z_PK; "
        + note("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", "NEW.Z_PK") + " END"
    )
  }

  private func note(_ function: String, _ key: String) -> String {
    "SELECT \(function)('\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)) FROM \(table) WHERE Z_PK = \(key);"
  }
}

extension FetchExpression {
  /// The relationship whose objects the expression counts; nil if it is another expression.
  fileprivate var countedKey: String? {
    switch self {
    case .function(.count, let arguments):
      guard arguments.count == 1, case .keyPath(of: .selfObject, let keys) = arguments[0], keys.count == 1,
        case .property(let name) = keys[0]
      else { return nil }
      return name
    case .keyPath(of: .selfObject, let keys):
      guard keys.count == 2, case .property(let name) = keys[0], keys[1] == .collection(.count) else { return nil }
      return name
    default: return nil
    }
  }
}
