public import HeartwoodModel

/// Takes the records that a store reads from its file.
public final class StoreLoader {
  /// The model whose records the store keeps.
  public let model: ManagedObjectModel
  /// The entities that the store keeps, in the order of the model.
  public let entities: [EntityDescription]
  /// Who the store is. Set it in `load`; what a file does not tell keeps its initial value.
  public var metadata: StoreMetadata
  /// The saves of the store, where its file keeps them: what ``StoreContents/history`` had when it was written.
  public var history: StoreHistory?
  /// What the store wants to remember of its file until it is saved.
  public var attachment: (any Sendable)?
  /// A number below which no new record gets one for its reference, where the file tells such.
  public var nextReferenceNumber: Int64?

  private let kept: Set<Int>
  /// The file or folder that is read, for errors.
  private let path: String?
  private let scopes: [ObjectIDScope]
  private var builders: [Int: TableBuilder] = [:]
  private var tables: [Int: NodeTable] = [:]

  package convenience init(setup: StoreSetup, storeType: StoreType) {
    self.init(setup: setup, metadata: StoreMetadata(storeType: storeType))
  }

  init(setup: StoreSetup, metadata: StoreMetadata) {
    model = setup.model
    entities = setup.entities
    self.metadata = metadata
    kept = Set(setup.entities.map(\.ordinal))
    path = setup.path
    scopes = setup.model.entities.map { ObjectIDScope(storeIdentifier: metadata.identifier, entity: $0) }
  }

  /// The entity called `name`, of those that the store keeps.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown``.
  public func entity(named name: String) throws(PersistenceError) -> EntityDescription {
    guard let entity = model.entity(named: name), kept.contains(entity.ordinal) else {
      throw PersistenceError(
        .entityUnknown,
        "The store keeps no entity called \(name); it keeps \(entities.map(\.name).joined(separator: ", ")).",
        context: .init(entity: name)
      )
    }
    return entity
  }

  /// Adds a record of `entity`. Records keep the order in which they are added.
  ///
  /// - Parameters:
  ///   - reference: what the store calls the record.
  ///   - entity: the entity of the record itself, which is not abstract.
  ///   - version: how often the record has been saved, its insertion included.
  ///   - fill: sets the values.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where the store keeps no records of the entity, and what `fill` throws.
  public func addNode(
    _ reference: ReferenceID,
    to entity: EntityDescription,
    version: UInt64 = 1,
    _ fill: (inout NodeDraft) throws -> Void
  ) throws {
    try check(entity)
    var draft = NodeDraft(entity: entity, reference: reference)
    try fill(&draft)
    try builder(for: entity).append(draft, version: version)
  }

  /// Takes all records of an entity at once, as columns: the fast way for files that consist of such.
  ///
  /// Nothing is read of the columns now, so they may lie in a mapped file. Before the first record is read, `check` is called for each
  /// group, and then the values themselves are checked: text that is no UTF-8, say, is refused, with the place where it lies.
  ///
  ///     let file = try input.mapped()
  ///     let groups = try directory.groups.map { try $0.rowGroup(of: entity, in: file) }
  ///     try loader.setRowGroups(groups, of: entity) { index in
  ///       try directory.groups[index].checkChecksums(in: file)
  ///     }
  ///
  /// O(groups), and O(bytes) before the first record is read.
  ///
  /// - Parameters:
  ///   - groups: the records, of which no two have the same reference, in order.
  ///   - entity: the entity of the records themselves, which is not abstract.
  ///   - check: makes sure that the bytes of the group with an index are what was written. It is called on any thread, on several at a time.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if the store keeps no records of the entity, or if the columns are those of another
  ///   one. What `check` throws, and ``PersistenceError/Code/fileCorrupt`` for values that mean nothing, are thrown when records are read.
  public func setRowGroups(
    _ groups: [RowGroup],
    of entity: EntityDescription,
    check: (@Sendable (_ group: Int) throws(PersistenceError) -> Void)? = nil
  ) throws(PersistenceError) {
    try self.check(entity)
    for group in groups { try group.checkColumns(of: entity) }
    let verifier = RowGroupVerifier(
      groups,
      of: entity,
      in: model,
      path: path,
      storeType: metadata.storeType,
      check: check
    )
    setTable(NodeTable(entity: entity, groups: groups, verifier: verifier))
  }

  private func check(_ entity: EntityDescription) throws(PersistenceError) {
    guard kept.contains(entity.ordinal), model.entities[entity.ordinal] === entity, !entity.isAbstract else {
      throw PersistenceError(
        .entityUnknown,
        entity.isAbstract
          ? "There is a record of an entity that is abstract in this model, and so has none."
          : "There is a record of an entity that the store does not keep.",
        recovery: entity.isAbstract
          ? .custom(
            "Open the store with the model that it was written with, and migrate it by a mapping model that makes records of a "
              + "subentity."
          )
          : "Open it with a configuration that has the entity.",
        context: .init(entity: entity.name)
      )
    }
  }

  /// What a relationship takes to lead to the record of `entity` that the file calls `reference`. The record may come later.
  public func objectID(_ reference: ReferenceID, of entity: EntityDescription) -> ManagedObjectID {
    ManagedObjectID(scope: scopes[entity.ordinal], reference: reference)
  }

  /// Takes all records of an entity at once, as a table.
  package func setTable(_ table: NodeTable) {
    tables[table.entity.ordinal] = table
  }

  /// How many records of an entity have been added so far.
  func addedCount(of entity: EntityDescription) -> Int {
    tables[entity.ordinal]?.count ?? builders[entity.ordinal]?.rowCount ?? 0
  }

  private func builder(for entity: EntityDescription) -> TableBuilder {
    if let builder = builders[entity.ordinal] { return builder }
    let builder = TableBuilder(entity: entity)
    builders[entity.ordinal] = builder
    return builder
  }

  /// What has been read. Tables that were built record by record are checked for references that occur twice.
  package func finish() throws(PersistenceError) -> StoreContents {
    let built = builders.keys
    let contents = collected()
    for ordinal in built { try contents.tables[ordinal].checkReferences() }
    return contents
  }

  /// What has been read, of which nothing is checked.
  func collected() -> StoreContents {
    var all = model.entities.map { tables[$0.ordinal] ?? NodeTable(entity: $0) }
    for (ordinal, builder) in builders { all[ordinal] = builder.finish() }
    var contents = StoreContents(
      model: model,
      entities: entities,
      metadata: metadata,
      tables: all,
      history: history,
      attachment: attachment
    )
    contents.nextReferenceNumber = nextReferenceNumber
    return contents
  }
}
