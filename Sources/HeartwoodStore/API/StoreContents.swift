import HeartwoodFoundation
public import HeartwoodModel

/// Everything that an atomic store keeps: its metadata and the records of its entities.
///
/// It is a value: a copy stays what it was while others go on.
public struct StoreContents: Sendable {
  /// The model whose records these are.
  public let model: ManagedObjectModel
  /// The entities that the store keeps, in the order of the model.
  public let entities: [EntityDescription]
  /// Who the store is, and what the application keeps with it.
  public var metadata: StoreMetadata {
    didSet {
      if metadata.identifier != oldValue.identifier {
        scopes = Self.scopes(of: model, storeIdentifier: metadata.identifier)
      }
    }
  }
  /// The saves of the store, where it keeps them: only stores do that declare ``StoreCapabilities/Features/history``.
  public package(set) var history: StoreHistory?
  /// The records of each entity of the model, indexed by ordinal; empty for entities that the store does not keep.
  package var tables: [NodeTable]
  /// What object ids are made with, indexed by entity ordinal.
  package private(set) var scopes: [ObjectIDScope]
  /// What the store wants to remember of its file from one save to the next.
  public var attachment: (any Sendable)?
  /// Whether the records have other references than in the store that they were read from.
  package var hasNewReferences = false
  /// A number below which no new record gets one for its reference, where the store's file tells such: numbers of deleted records are
  /// not given again.
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
  /// How many records there are in all. O(entities).
  public var count: Int { tables.reduce(0) { $0 + $1.count } }

  /// The records of `entity` itself, without its subentities'.
  public func table(of entity: EntityDescription) -> NodeTable { tables[entity.ordinal] }

  /// All records, entity by entity in the order of the model.
  public var nodes: some Sequence<AtomicStoreCacheNode> {
    entities.lazy.flatMap { nodes(of: $0) }
  }

  /// The records of `entity` itself, in order.
  public func nodes(of entity: EntityDescription) -> some Sequence<AtomicStoreCacheNode> {
    let table = tables[entity.ordinal]
    return table.liveRows.lazy.map { row in
      AtomicStoreCacheNode(group: table.groups[row.group], row: row.row, entity: entity, scopes: scopes)
    }
  }

  /// The records of `entity` itself as groups of columns, to be written as they lie: the fast way for files that consist of such.
  ///
  /// None of the groups has deleted records, and every value in them can be read back. O(bytes), on all processors.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` for a value that means nothing, such as text that is no UTF-8.
  public func rowGroups(of entity: EntityDescription) throws(PersistenceError) -> [RowGroup] {
    let groups = try RowGrouping().groups(of: tables[entity.ordinal])
    let meaning = ColumnMeaning(of: entity, in: model)
    for fault in Parallel.map(groups.count, { meaning.fault(in: groups[$0]) }) {
      if let fault { throw fault.unsupported(by: metadata.storeType, path: nil, entity: entity.name) }
    }
    return groups
  }

  /// The record of `entity` that the store calls `reference`, or nil where there is none.
  public func node(_ reference: ReferenceID, of entity: EntityDescription) throws(PersistenceError)
    -> AtomicStoreCacheNode?
  {
    let table = tables[entity.ordinal]
    return try table.row(of: reference).map { row in
      AtomicStoreCacheNode(group: table.groups[row.group], row: row.row, entity: entity, scopes: scopes)
    }
  }

  /// The id of the record of `entity` that the store calls `reference`, whether there is one or not.
  public func objectID(_ reference: ReferenceID, of entity: EntityDescription) -> ManagedObjectID {
    ManagedObjectID(scope: scopes[entity.ordinal], reference: reference)
  }
}
