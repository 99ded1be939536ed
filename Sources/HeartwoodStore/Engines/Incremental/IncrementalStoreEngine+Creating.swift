import HeartwoodModel

// MARK: New stores of old contents

extension IncrementalStoreEngine {
  /// Writes `contents` as a new store and opens it. A file is written beside its final path, and moved there in one
  /// step; so is a store at a URL that is to replace another.
  ///
  /// - Parameter expected: the file that must still be at the place; nil means any.
  static func create(
    _ format: any IncrementalStoreFormat,
    contents: StoreContents,
    setup: StoreSetup,
    fileSystem: any FileSystem,
    replacing: Bool,
    expecting expected: FileIdentity? = nil
  ) throws -> IncrementalStoreEngine {
    let description = format.typeDescription
    try CapabilityCheck(description).check(setup)
    try setup.checkKeeps(contents)
    try format.check(contents, for: setup)
    let store = try format.makeStore(setup)
    let written: Written
    if let place = setup.place {
      let newPlace = NewStorePlace(format, at: place, setup.options, fileSystem: fileSystem)
      written = try newPlace.make(replacing: replacing, expecting: expected) { temporary in
        let store = try format.makeStore(setup.moved(to: temporary))
        defer { store.disconnect() }
        return try write(contents, to: store, description, setup)
      }
      _ = try store.connect()
    } else {
      written = try write(contents, to: store, description, setup)
    }
    return try IncrementalStoreEngine(
      store: store,
      typeDescription: description,
      setup: setup,
      fileSystem: fileSystem,
      contents: written.contents,
      // Between writing the store and opening it at its place, saves by other processes are not noticed: the first use
      // checks for them, and compares all records. Marks of two connections cannot be compared.
      mark: setup.place == nil ? written.mark : nil,
      isWhole: true,
      hasRenamedRecords: written.isRenamed
    )
  }

  /// The result of writing a new store.
  private struct Written {
    let contents: StoreContents
    /// The store's mark after the save.
    let mark: UInt64
    /// Whether the records got other references.
    let isRenamed: Bool
  }

  /// Creates `store` and saves all records in it, under references that it can use.
  private static func write(
    _ contents: StoreContents,
    to store: any IncrementalStore,
    _ description: StoreTypeDescription,
    _ setup: StoreSetup
  ) throws -> Written {
    let context = PersistenceError.Context(path: setup.placeName, storeType: description.type)
    guard try store.connect() == nil else {
      throw PersistenceError(.fileExists, "There is a store already.", context: context)
    }
    var metadata = contents.metadata
    metadata.storeType = description.type
    metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
    try CapabilityCheck(description).check(metadata.userInfo, path: setup.placeName)
    try store.create(metadata)
    let empty = StoreContents(model: setup.model, entities: setup.entities, metadata: metadata)
    var written = empty
    written.tables = contents.tables
    let isRenamed = try !written.areNamed(as: description.capabilities.referenceKinds)
    if isRenamed {
      written = try written.renamed { try store.checkedNewReferences(count: $0, for: $1, context) }
    }
    let insertions = try written.tables.filter { $0.count > 0 }.map { table in
      InsertedRows(entity: table.entity, groups: try table.liveGroups(), hasGivenReferences: true)
    }
    let changes = ChangeSet(byColumn: ColumnChanges(insertions: insertions, scopes: written.scopes))
    let mark = try store.saving {
      try store.save(changes, over: empty)
      if let history = setup.keptHistory(of: contents, description) {
        var renaming =
          isRenamed
          ? HistoryRenaming(from: contents, to: written) { count, entity in
            try store.checkedNewReferences(count: count, for: entity, context)
          } : nil
        try store.takeOver(history, context) { try renaming?.names(in: $0) ?? $0.references }
      }
      return try store.dataVersion()
    }
    return Written(contents: written, mark: mark, isRenamed: isRenamed)
  }
}

extension NodeTable {
  /// Returns the records that have not been deleted, in groups without holes.
  fileprivate func liveGroups() throws(PersistenceError) -> [RowGroup] {
    if groups.allSatisfy({ $0.liveness == nil }) { return groups }
    let builder = TableBuilder(entity: entity)
    for group in groups { try builder.append(liveRowsOf: group) }
    return builder.finish().groups
  }
}
