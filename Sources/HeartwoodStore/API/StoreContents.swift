import HeartwoodFoundation
public import HeartwoodModel

/// The metadata and the records of a store at one moment.
///
/// It is a value: later changes of the store do not affect a copy. An ``AtomicStore`` gets the contents that it saves:
///
///     for entity in contents.entities {
///       for node in contents.nodes(of: entity) { try output.write("\(node.reference.text): \(node["name"])\n") }
///     }
public struct StoreContents: Sendable {
  /// The model whose records these are.
  public let model: ManagedObjectModel
  /// The entities that the store keeps, in the order of the model.
  public let entities: [EntityDescription]
  /// The identifier and the model version of the store, and the values that the application keeps with it.
  public var metadata: StoreMetadata {
    didSet {
      if metadata.identifier != oldValue.identifier {
        scopes = Self.scopes(of: model, storeIdentifier: metadata.identifier)
      }
    }
  }
  /// The history of the store's saves; nil if there is none. Only stores that declare
  /// ``StoreCapabilities/Features/history`` have one.
  public package(set) var history: StoreHistory?
  /// The records of each entity of the model, indexed by ordinal; empty for entities that the store does not keep.
  package var tables: [NodeTable]
  /// The scopes of object ids, indexed by entity ordinal.
  package private(set) var scopes: [ObjectIDScope]
  /// A value that the store keeps from one save to the next, such as what it knows of its file. An atomic store sets it
  /// in `load` (``StoreLoader/attachment``) or in `save`.
  public var attachment: (any Sendable)?
  /// Whether the records have other references than in the store that they were read from.
  package var hasNewReferences = false
  /// The least number that a new record may get as its reference, if the store's file keeps one: numbers of deleted
  /// records are not used again.
  public var nextReferenceNumber: Int64?

  package init(
    model: ManagedObjectModel,
    entities: [EntityDescription],
    metadata: StoreMetadata,
    tables: [NodeTable]? = nil,
    history: StoreHistory? = nil,
    attachment: (any Sendable)? = nil
  ) {
    self.model = model
    self.entities = entities
    self.metadata = metadata
    self.tables = tables ?? model.entities.map { NodeTable(entity: $0) }
    self.scopes = Self.scopes(of: model, storeIdentifier: metadata.identifier)
    self.history = history
    self.attachment = attachment
  }

  private static func scopes(of model: ManagedObjectModel, storeIdentifier: UUID) -> [ObjectIDScope] {
    model.entities.map { ObjectIDScope(storeIdentifier: storeIdentifier, entity: $0) }
  }
}

extension StoreContents {
  /// Checks all records and returns the contents from which they may be read. O(bytes) for those of a file that have
  /// not been checked yet.
  package func verified() throws(PersistenceError) -> StoreContents {
    var verified = self
    for (ordinal, table) in tables.enumerated() { verified.tables[ordinal] = try table.verified() }
    try history?.verify()
    return verified
  }

  /// The number of all records. O(entities).
  public var count: Int { tables.reduce(0) { $0 + $1.count } }

  /// Returns the records of `entity` itself, without those of its subentities. O(1).
  public func table(of entity: EntityDescription) -> NodeTable { tables[entity.ordinal] }

  /// All records, entity by entity in the order of the model.
  public var nodes: some Sequence<AtomicStoreCacheNode> {
    entities.lazy.flatMap { nodes(of: $0) }
  }

  /// Returns the records of `entity` itself, in the order in which they were added. The sequence makes each node when
  /// it is asked for.
  public func nodes(of entity: EntityDescription) -> some Sequence<AtomicStoreCacheNode> {
    let table = tables[entity.ordinal]
    return table.liveRows.lazy.map { row in
      AtomicStoreCacheNode(group: table.groups[row.group], row: row.row, entity: entity, scopes: scopes)
    }
  }

  /// Returns the records of `entity` itself as groups of columns, to be written as they are: the fast way for files
  /// that consist of columns.
  ///
  /// None of the groups has deleted records, and every value in them can be read back. O(bytes), on all processors.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` for a value without a meaning, such as text that is not
  ///   UTF-8.
  public func rowGroups(of entity: EntityDescription) throws(PersistenceError) -> [RowGroup] {
    let groups = try RowGrouping().groups(of: tables[entity.ordinal])
    let meaning = ColumnMeaning(of: entity, in: model)
    for fault in Parallel.map(groups.count, { meaning.fault(in: groups[$0]) }) {
      if let fault { throw fault.unsupported(by: metadata.storeType, path: nil, entity: entity.name) }
    }
    return groups
  }

  /// Returns the record of `entity` with this reference; nil if there is none.
  public func node(_ reference: ReferenceID, of entity: EntityDescription) throws(PersistenceError)
    -> AtomicStoreCacheNode?
  {
    let table = tables[entity.ordinal]
    return try table.row(of: reference).map { row in
      AtomicStoreCacheNode(group: table.groups[row.group], row: row.row, entity: entity, scopes: scopes)
    }
  }

  /// Returns the id of the record of `entity` with this reference, whether or not there is such a record. O(1).
  public func objectID(_ reference: ReferenceID, of entity: EntityDescription) -> ManagedObjectID {
    ManagedObjectID(scope: scopes[entity.ordinal], reference: reference)
  }
}
