public import HeartwoodModel

/// Collects the records that a store reads from its file.
///
/// A store gets a loader in ``AtomicStore/load(_:into:)``, or in the loading methods of an ``IncrementalStore``. It
/// adds records one by one with ``addNode(_:to:version:_:)``, or as columns with ``setRowGroups(_:of:check:)``.
///
///     func load(_ file: StoreInput, into loader: StoreLoader) throws {
///       let person = try loader.entity(named: "Person")
///       try file.forEachLine { line in
///         let row = try Row(line)
///         try loader.addNode(.integer(row.id), to: person) { node in
///           try node.setValue(.string(row.name), forKey: "name")
///           try node.setValue(.toOne(loader.objectID(.integer(row.employer), of: person)), forKey: "employer")
///         }
///       }
///     }
///
/// Use a loader on one thread at a time.
public final class StoreLoader {
  /// The model whose records the store keeps.
  public let model: ManagedObjectModel
  /// The entities that the store keeps, in the order of the model.
  public let entities: [EntityDescription]
  /// The metadata of the store. If a file is opened, these are the metadata that
  /// ``FileFormat/readMetadata(from:options:)`` returned, so `load` need not set them. A store that salvages a file
  /// itself sets them as far as it can read them.
  public var metadata: StoreMetadata
  /// The history of the store, if its file keeps it: what ``StoreContents/history`` was when the file was written.
  public var history: StoreHistory?
  /// A value that the store wants to remember with its records: it becomes the ``StoreContents/attachment``.
  public var attachment: (any Sendable)?
  /// The least number that a new record may get as its reference, if the file keeps one; nil by default.
  public var nextReferenceNumber: Int64?

  private let kept: Set<Int>
  /// The path of the file or folder that is read, for errors.
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

  /// Returns the entity called `name`, if the store keeps it.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if the store does not keep such an entity.
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
  ///     try loader.addNode(.integer(7), to: person) { node in try node.setValue(.string("Ada"), forKey: "name") }
  ///
  /// - Parameters:
  ///   - reference: the name of the record in the store. No two records of an entity may have the same reference; this
  ///     is checked when all records have been added.
  ///   - entity: the entity of the record itself, which is not abstract.
  ///   - version: the number of times that the record has been saved, including its insertion.
  ///   - fill: sets the values. A value that is not set is null, or no objects for a to-many relationship.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if the store keeps no records of the entity, and errors of
  ///   `fill`.
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

  /// Sets all records of an entity at once, as columns: the fast way for files that consist of columns.
  ///
  /// The columns are not read now, so they may be in a mapped file. Before the first record is read, `check` is called
  /// for each group, and then the values themselves are checked: for example, text that is not UTF-8 is refused with
  /// its place.
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
  ///   - groups: the records in order. No two have the same reference.
  ///   - entity: the entity of the records themselves, which is not abstract.
  ///   - check: checks that the bytes of the group with this index are what was written. It is called on any thread,
  ///     and on several at a time.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if the store keeps no records of the entity, or if the columns
  ///   are those of another entity. Errors of `check`, and ``PersistenceError/Code/fileCorrupt`` for values without a
  ///   meaning, are thrown when records are read.
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

  /// Sets all records of an entity at once, as groups that the store has built, and whose values it has checked itself:
  /// the fast way for stores that read rows with a ``RowGroupListBuilder``. Nothing is checked again. O(groups).
  ///
  ///     guard UTF8Validation.firstInvalidOffset(in: memo) == nil else { throw … }
  ///     row.columns[memoOrdinal].append(bytes: memo)
  ///     …
  ///     try loader.setCheckedRowGroups(rows.finish(), of: toDo)
  ///
  /// Every text must be UTF-8, every URI one that `URL` reads, and every reference to a record of an entity that its
  /// relationship allows. Other values would be taken for damage of the store when it is next written or converted.
  ///
  /// - Precondition: The groups were made by a builder. Columns that consist of the bytes of a file need
  ///   ``setRowGroups(_:of:check:)``.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if the store keeps no records of the entity, or if the columns
  ///   are those of another entity.
  public func setCheckedRowGroups(_ groups: [RowGroup], of entity: EntityDescription) throws(PersistenceError) {
    try check(entity)
    for group in groups where group.builtEntity != entity.serialNumber {
      precondition(group.builtEntity != nil, "The columns of a file are not checked yet: use setRowGroups.")
      try group.checkColumns(of: entity)
    }
    setTable(NodeTable(entity: entity, groups: groups))
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

  /// Returns the id for a relationship to the record of `entity` with this reference. The record may be added later.
  /// O(1).
  public func objectID(_ reference: ReferenceID, of entity: EntityDescription) -> ManagedObjectID {
    ManagedObjectID(scope: scopes[entity.ordinal], reference: reference)
  }

  /// Sets all records of an entity at once, as a table.
  package func setTable(_ table: NodeTable) {
    tables[table.entity.ordinal] = table
  }

  /// Returns the number of records of an entity that have been added so far.
  func addedCount(of entity: EntityDescription) -> Int {
    tables[entity.ordinal]?.count ?? builders[entity.ordinal]?.rowCount ?? 0
  }

  private func builder(for entity: EntityDescription) -> TableBuilder {
    if let builder = builders[entity.ordinal] { return builder }
    let builder = TableBuilder(entity: entity)
    builders[entity.ordinal] = builder
    return builder
  }

  /// Returns what has been read. Tables that were built record by record are checked for duplicate references.
  package func finish() throws(PersistenceError) -> StoreContents {
    let built = builders.keys
    let contents = collected()
    for ordinal in built { try contents.tables[ordinal].checkReferences() }
    return contents
  }

  /// Returns what has been read, without checks.
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
