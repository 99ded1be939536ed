import HeartwoodModel

// MARK: Reading what is sound

extension StoreManager {
  /// Reads the undamaged parts of the file of a store, which is not changed.
  ///
  /// - Throws: an error if the file cannot be read at all, if it was written with another model, or if a part is
  ///   missing that is needed to read anything else.
  package func salvage(_ request: Request) throws -> SalvagedStore {
    var request = request
    request.options[.isReadOnly] = true
    let setup = try setup(request)
    let kind = try kind(request.type)
    let format = kind.format
    try CapabilityCheck(format.typeDescription).check(setup)
    let salvage = StoreSalvage(StoreLoader(setup: setup, storeType: request.type))
    if case .url = request.place, case .incremental(let format) = kind {
      try salvage.load(try format.makeStore(setup))
    } else {
      let (file, format) = (try file(request), try fileFormat(for: request.type))
      try file.reading { try read(file, format, kind, setup, into: salvage) }
      try checkUnchanged(file)
    }
    salvage.loader.metadata.storeType = request.type
    try ModelCompatibility.check(salvage.loader.metadata, setup: setup, readsRecovered: format.readsRecovered)
    let contents = salvage.loader.collected()
    return try salvaged(
      contents,
      salvage.losses,
      format.typeDescription,
      setup,
      derived: salvage.derivedRelationships
    )
  }

  private func read(
    _ file: StoreInput,
    _ format: any FileFormat,
    _ kind: Kind,
    _ setup: StoreSetup,
    into salvage: StoreSalvage
  ) throws {
    switch kind {
    case .atomic(let atomic):
      let store = try atomic.makeStore(setup)
      if let store = store as? any SalvagingStore { return try store.salvage(file, into: salvage) }
      try salvage.load(store, format, file, options: setup.options)
    case .incremental(let incremental):
      let store = try incremental.makeStore(setup)
      if let store = store as? any SalvagingStore { return try store.salvage(file, into: salvage) }
      try salvage.load(store)
    }
  }

  private func checkUnchanged(_ file: StoreInput) throws(PersistenceError) {
    guard try file.file.status().identity == file.status.identity else {
      throw PersistenceError(
        .fileChangedOnDisk,
        "The file was changed while it was being read. Nothing was written. Salvage it when no other process uses it.",
        context: .init(path: file.path)
      )
    }
  }

  /// Makes the records consistent, and returns a store in memory with them.
  private func salvaged(
    _ contents: StoreContents,
    _ losses: [SalvageReport.Loss],
    _ typeDescription: StoreTypeDescription,
    _ setup: StoreSetup,
    derived: Set<RelationshipSide> = []
  ) throws -> SalvagedStore {
    let settlement = try SalvageSettlement.settle(contents, losses, derived: derived)
    let setup = setup.moved(to: nil)
    let engine = AtomicStoreEngine(
      store: try InMemoryStore(setup),
      typeDescription: InMemoryStore.typeDescription,
      setup: setup,
      fileSystem: fileSystem,
      contents: settlement.contents,
      file: nil
    )
    let store = PersistentStore(engine: engine, setup: setup, typeDescription: typeDescription)
    return SalvagedStore(store: store, losses: settlement.losses)
  }
}

// MARK: Writing it

extension StoreManager {
  /// How many times records that the other store cannot keep are left out, before this gives up.
  private static let mostRefusals = 100

  /// Writes the salvaged records as a store of another type or at another place. A record that the other store cannot
  /// keep is left out.
  ///
  /// - Returns: the new store, and the part of what was salvaged that it contains.
  package func convert(
    _ salvaged: SalvagedStore,
    to request: Request,
    replacing: Bool
  ) throws -> (store: PersistentStore, salvaged: SalvagedStore) {
    var salvaged = salvaged
    for _ in 0..<Self.mostRefusals {
      do {
        return (try convert(salvaged.store, to: request, replacing: replacing), salvaged)
      } catch let error as PersistenceError {
        guard let rest = try leavingOut(salvaged, error, request) else { throw error }
        salvaged = rest
      }
    }
    return (try convert(salvaged.store, to: request, replacing: replacing), salvaged)
  }

  /// Returns the salvaged store without the records that an error names; nil if it names none of them.
  private func leavingOut(
    _ salvaged: SalvagedStore,
    _ error: PersistenceError,
    _ request: Request
  ) throws -> SalvagedStore? {
    let contents = try salvaged.store.engine.contents()
    let faults = error.context.validationFaults.map(\.objectID)
    let named = Set(error.context.objectIDs + faults).filter { $0.storeIdentifier == contents.metadata.identifier }
    guard !named.isEmpty else { return nil }
    var (rest, removed) = (contents, 0)
    for (entity, ids) in Dictionary(grouping: named, by: \.entity.ordinal) where rest.tables.indices.contains(entity) {
      let references = Set(ids.map(\.reference))
      let table = rest.tables[entity]
      rest.tables[entity] = try table.keeping { !references.contains(table.reference($0)) }
      removed += table.count - rest.tables[entity].count
    }
    guard removed > 0 else { return nil }
    var losses = salvaged.losses
    for id in named {
      let reason = "The store of type \(request.type) cannot keep the record: \(error.message)"
      losses.append(
        .init(
          .records,
          entity: id.entity.name,
          property: error.context.property,
          references: [id.reference],
          count: 1,
          reason: reason
        )
      )
    }
    let store = salvaged.store
    let setup = try setup(
      Request(type: store.type, place: nil, configurationName: store.configurationName, options: store.options)
    )
    return try self.salvaged(rest, losses, store.typeDescription, setup)
  }
}

// MARK: Stores that salvage nothing themselves

extension StoreSalvage {
  /// Loads an atomic store as usual. Records that it added before it failed are kept.
  func load(
    _ store: any AtomicStore,
    _ format: any FileFormat,
    _ file: StoreInput,
    options: StoreOptions
  ) throws {
    do {
      loader.metadata = try format.readMetadata(from: file, options: options)
    } catch {
      note(.fileParts, error, count: 0)
    }
    do {
      try store.load(file, into: loader)
    } catch let error as PersistenceError where error.code == .modelIncompatible {
      throw error
    } catch {
      note(failure(error, file))
    }
  }

  /// Returns a loss for the rest of the file, after the byte that an error names.
  private func failure(_ error: any Error, _ file: StoreInput) -> SalvageReport.Loss {
    let offset = (error as? PersistenceError)?.context.byteOffset
    return .init(.records, error, count: nil, byteRange: offset.flatMap { $0 < file.size ? $0..<file.size : nil })
  }

  /// Loads an incremental store entity by entity. Records of an entity that it added before it failed are kept.
  fileprivate func load(_ store: any IncrementalStore) throws {
    guard let metadata = try store.connect() else { return }
    defer { store.disconnect() }
    loader.metadata = metadata
    for entity in loader.entities where !entity.isAbstract {
      do {
        try store.reading { try store.load([entity], into: loader) }
      } catch {
        let count = try? store.count(of: entity)
        note(.records, error, entity: entity.name, count: count.map { max(0, $0 - loader.addedCount(of: entity)) })
      }
    }
  }
}

extension StoreManager {
  /// Refuses a destination that is the damaged file itself, under whatever name.
  package func checkIsOther(_ path: String?, than source: String?) throws(PersistenceError) {
    guard let path, let source, let status = try fileSystem.status(atPath: path),
      let damaged = try fileSystem.status(atPath: source), status.identity.isSameFile(as: damaged.identity)
    else { return }
    throw PersistenceError(
      .fileExists,
      "The damaged store and the new one are the same file, and a damaged file is never overwritten.",
      recovery: .chooseAnotherName,
      context: .init(path: path)
    )
  }
}

// MARK: SalvagedStore

/// The undamaged records of a damaged store, in memory, and its losses.
package struct SalvagedStore: Sendable {
  /// A store without a file that has the records, ready to be converted. Its type is that of the damaged one.
  package let store: PersistentStore
  /// The differences from the original.
  package let losses: [SalvageReport.Loss]

  package var report: SalvageReport {
    get throws {
      let counts = try store.entities.filter { !$0.isAbstract }.map { ($0.name, try store.engine.count(of: $0)) }
      return SalvageReport(recordCounts: Dictionary(counts) { first, _ in first }, losses: losses)
    }
  }
}
