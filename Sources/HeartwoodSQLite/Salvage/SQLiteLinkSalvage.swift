import GRDB
import HeartwoodModel
import HeartwoodStore

/// Finds rows of relationships that refer to records which are not there, of which reading the relationships shows nothing.
struct SQLiteLinkSalvage {
  private let schema: SQLiteSchema
  private let db: Database
  private let salvage: StoreSalvage

  init(_ schema: SQLiteSchema, _ db: Database, into salvage: StoreSalvage) {
    self.schema = schema
    self.db = db
    self.salvage = salvage
  }

  func noteLostLinks() {
    var seen: Set<String> = []
    for placement in schema.entities.compactMap(\.self) {
      for (ordinal, property) in placement.properties.enumerated() {
        guard let query = query(property, ordinal, placement), seen.insert(query.key).inserted else { continue }
        // What cannot be read has been noted.
        let rows = (try? Row.fetchAll(db, sql: query.text)) ?? []
        for row in rows { note(row, placement.entity, ordinal) }
      }
    }
  }

  private func note(_ row: Row, _ entity: EntityDescription, _ ordinal: Int) {
    let owner = Int64.fromDatabaseValue(row[0])
    let member = Int64.fromDatabaseValue(row[1])
    salvage.note(
      .init(
        .links,
        entity: entity.name,
        property: entity.properties[ordinal].name,
        references: owner.map { [.integer($0)] } ?? [],
        count: 1,
        reason:
          "It joins this record and the one with the key \(member.map { "\($0)" } ?? "NULL"), and one of both is not there."
      )
    )
  }

  private func query(
    _ property: PropertyPlacement?,
    _ ordinal: Int,
    _ placement: EntityPlacement
  ) -> (text: String, key: String)? {
    guard let target = placement.entity.relationshipTargets[ordinal],
      let destination = schema.entities[target.entityOrdinal]
    else { return nil }
    func isMissing(_ column: String, _ table: String) -> String {
      "NOT EXISTS (SELECT 1 FROM \(SQLiteName.quoted(table)) AS record WHERE record.Z_PK = link.\(column))"
    }
    switch property {
    case .join(let place):
      let (own, other) = (SQLiteName.quoted(place.ownColumn), SQLiteName.quoted(place.otherColumn))
      let text =
        "SELECT \(own), \(other) FROM \(SQLiteName.quoted(place.table)) AS link"
        + " WHERE \(isMissing(own, placement.tableName)) OR \(isMissing(other, destination.tableName))"
      return (text, place.table)
    case .toMany(let place) where place.ownsColumn:
      let column = SQLiteName.quoted(place.column)
      let text =
        "SELECT \(column), Z_PK FROM \(SQLiteName.quoted(place.table)) AS link"
        + " WHERE \(column) IS NOT NULL AND \(isMissing(column, placement.tableName))"
      return (text, "\(place.table).\(place.column)")
    default: return nil
    }
  }
}
