import GRDB
import HeartwoodModel
public import HeartwoodStore

extension SQLiteStore {
  /// Refuses metadata that could not be read back, records that several owners have in a to-many relationship without
  /// an inverse, links whose inverse does not refer back, and unique values that occur more than once. O(n) in links,
  /// and in records for each constraint.
  public static func check(_ contents: StoreContents, for setup: StoreSetup) throws {
    _ = try SQLiteMetadata(contents.metadata).list(of: setup.model)
    let schema = try SQLiteSchema(model: setup.model, entities: setup.entities)
    var owners: [ToManyPlacement: [ManagedObjectID: ManagedObjectID]] = [:]
    for entity in contents.entities {
      guard let placement = schema.placement(of: entity) else { continue }
      for (ordinal, property) in placement.properties.enumerated() {
        guard case .toMany(let place) = property, place.ownsColumn else { continue }
        try check(ordinal, of: entity, contents, setup.path, &owners[place, default: [:]])
      }
    }
    try contents.checkInverses(for: setup, .sqlite, sharedInverse: schema.sharedInverse)
    if let conflict = contents.constraintConflicts(limit: 1).first {
      throw PersistenceError.notUnique(conflict, path: setup.path)
    }
  }

  private static func check(
    _ ordinal: Int,
    of entity: EntityDescription,
    _ contents: StoreContents,
    _ path: String?,
    _ owners: inout [ManagedObjectID: ManagedObjectID]
  ) throws(PersistenceError) {
    for node in contents.nodes(of: entity) {
      guard case .toMany(let ids) = node[ordinal] else { continue }
      let own = node.objectID
      for id in ids {
        guard let owner = owners.updateValue(own, forKey: id), owner != own else { continue }
        throw PersistenceError.severalOwners(of: id.reference, ordinal, of: entity, path: path)
      }
    }
  }
}

extension PersistenceError {
  /// Returns the error for records of another store with equal values that must be unique.
  fileprivate static func notUnique(_ conflict: ConstraintConflict, path: String?) -> PersistenceError {
    let (id, otherID, names) = (conflict.objectID, conflict.conflictingID, conflict.constraint)
    return PersistenceError(
      .constraintConflict,
      "\(otherID.entity.name) \(otherID.reference.text) and \(id.entity.name) \(id.reference.text) have the "
        + "same \(names.joined(separator: ", ")), which must be unique in an SQLite file. Nothing was written.",
      recovery: "Change one of the two in the store that they come from, or take the constraint out of the model.",
      context: .init(
        path: path,
        storeType: .sqlite,
        entity: id.entity.name,
        property: names.count == 1 ? names.first : nil,
        objectIDs: [id, otherID],
        constraintConflicts: [conflict]
      )
    )
  }

  /// Returns the error for a record that is added to a relationship of one owner while another owner already has it.
  static func severalOwners(
    of reference: ReferenceID,
    _ ordinal: Int,
    of entity: EntityDescription,
    path: String?
  ) -> PersistenceError {
    let property = entity.properties[ordinal]
    let destination = property.relationship?.destinationEntityName ?? ""
    return PersistenceError(
      .valueUnsupported,
      "The \(destination) \(reference.text) is in this relationship of several owners. An SQLite file keeps only one "
        + "for a relationship without an inverse, in the row of the record. Nothing was written.",
      recovery: .custom(
        "Give the relationship an inverse in the model: addingInverses() and heartwood convert --add-inverses do so. Or remove the record from "
          + "all owners but one, or keep the records in a store of another type."
      ),
      context: .init(path: path, storeType: .sqlite, entity: entity.name, property: property.name)
    )
  }
}

// MARK: Examining

extension SQLiteStore {
  /// Returns the faults that SQLite's integrity check finds: damaged pages, and indexes that lack rows, because of
  /// which fetches would miss records.
  public func damage(limit: Int) throws -> [String] {
    let rows = try withDatabase { db in try Self.check(db, limit) }
    // A row may have several lines, the first of which is a heading.
    let lines = rows.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("***") && $0 != "ok" }
    return lines.prefix(limit).map { "The file is damaged, as SQLite's check finds: \($0)." }
  }

  /// Returns all values and rows that cannot be read, each once.
  public func unreadableValues(limit: Int) throws -> UnreadableValues {
    try withDatabase { db in
      var found = UnreadableValues(limit: limit)
      var seen: Set<ValueFault.Row> = []
      for entity in setup.entities where !entity.isAbstract {
        let reader = try reader(of: entity, db)
        try tellingDamage(reader.placement) {
          try reader.examine(db) { value, row in
            if let row, !seen.insert(row).inserted { return }
            found.note(value)
          }
        }
      }
      return found
    }
  }

  /// Checks tables one by one if an index of one uses a function or a collation of the program that made it: no other
  /// program can search that index.
  private static func check(_ db: Database, _ limit: Int) throws -> [String] {
    if let found = try rows(of: "integrity_check(\(limit))", db) { return found }
    let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
    return try tables.flatMap { table in
      let name = table.quotedDatabaseIdentifier
      return try rows(of: "integrity_check(\(name))", db) ?? rows(of: "quick_check(\(name))", db) ?? []
    }
  }

  /// Returns nil if the check needs a function or a collation that is not available here.
  private static func rows(of check: String, _ db: Database) throws -> [String]? {
    do {
      return try String.fetchAll(db, sql: "PRAGMA \(check)")
    } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
      return nil
    }
  }
}
