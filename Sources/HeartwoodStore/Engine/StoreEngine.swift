package import HeartwoodModel

/// What drives one open store. It gives records as rows of tables, whatever the store below speaks.
package protocol StoreEngine: Sendable {
  /// The path of the store's file, or nil for one without.
  var path: String? { get }
  var metadata: StoreMetadata { get }
  /// What object ids are made with, indexed by entity ordinal.
  var scopes: [ObjectIDScope] { get }

  /// The records of `entity` itself, safe to read, and so are those that their relationships lead to.
  func table(of entity: EntityDescription) throws -> NodeTable

  /// The table and row of a record as it is now, or nil where there is none any more.
  func record(_ reference: ReferenceID, of entity: EntityDescription) throws -> TableRow?

  /// How many records of `entity` itself there are, without reading them.
  func count(of entity: EntityDescription) throws -> Int

  /// Saves all changes or none, and gives the inserted records their permanent ids.
  func save(_ changes: ChangeSet) throws -> SaveResult

  /// Everything that the store keeps.
  func contents() throws -> StoreContents

  /// Sets the user's part of the metadata, to be written with the next save.
  func setUserInfo(_ userInfo: [String: MetadataValue]) throws(PersistenceError)
}

/// A record, as a row of a table.
package struct TableRow: Sendable {
  package let table: NodeTable
  package let row: RowID

  package init(table: NodeTable, row: RowID) {
    self.table = table
    self.row = row
  }
}
