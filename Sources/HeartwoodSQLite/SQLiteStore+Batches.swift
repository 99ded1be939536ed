import GRDB
import GRDBSQLite
import HeartwoodModel
package import HeartwoodStore

extension SQLiteStore: BatchingStore {
  /// Changes or deletes records in SQL.
  package func execute(_ batch: RecordBatch) throws -> BatchedRecords? {
    try withDatabase { db in
      let schema = try schema(db)
      var done = BatchedRecords()
      do {
        let translations = try batch.records.map { fetch in
          (
            fetch.entity,
            try BatchTranslation(batch.action, fetch, isAlone: batch.records.count == 1, in: schema, path: path)
          )
        }
        for (entity, translation) in translations {
          let isDone = try tellingDamage(try placement(of: entity, db)) {
            try Self.run(translation, of: entity, tellingReferences: batch.tellsReferences, &done, db)
          }
          if !isDone { return nil }
        }
        return done
      } catch is Untranslatable {
        return nil
      }
    }
  }

  /// Whether it was done: in doubt it is not.
  private static func run(
    _ translation: BatchTranslation,
    of entity: EntityDescription,
    tellingReferences: Bool,
    _ done: inout BatchedRecords,
    _ db: Database
  ) throws -> Bool {
    for doubt in translation.doubts {
      let count = try Int.fetchOne(try doubt.prepared(db))
      if count != 0 { return false }
    }
    if tellingReferences {
      done.references[entity.ordinal] = try references(translation.keys, db)
      for bereavement in translation.bereavements {
        guard let ordinal = bereavement.entityOrdinal else { return false }
        done.bereaved[ordinal, default: []] += try references(bereavement.keys, db)
      }
    }
    for bereavement in translation.bereavements { try execute(bereavement.change, db) }
    try execute(translation.change, db)
    done.count += db.changesCount
    return true
  }

  private static func execute(_ statement: FetchStatement, _ db: Database) throws {
    try statement.prepared(db).execute()
  }

  private static func references(_ query: FetchStatement, _ db: Database) throws -> [ReferenceID] {
    try references(try query.prepared(db))
  }
}
