import Heartwood
import HeartwoodFoundation
import HeartwoodSQLite
import HeartwoodStore

/// Writes all that one store keeps as another.
struct Conversion {
  struct Result {
    /// The model with which the source was read.
    let model: LocatedModel
    let recordCount: Int
    /// How many bytes the written files have; nil for a store that is no file.
    var byteCount: Int?
    /// How many transactions of the history were left out, because the other type keeps none.
    var lostTransactionCount: Int
    /// How many transactions of Core Data's history were left out, because they are of an unknown form.
    let foreignTransactionCount: Int
    /// Whether the records are called otherwise, because the other type cannot call them as they were called.
    var hasRenamedRecords: Bool
    /// Whether the other file does not open without the model that was in the source.
    let lacksModel: Bool
    /// What was salvaged of a damaged source; nil if it was to be whole.
    let salvage: SalvageReport?
    /// The inverses that the new model has, and the old one has not.
    var addedInverses: [AddedInverse] = []
  }

  let source: StoreSource
  let destination: Destination
  let verifies: Bool
  /// Whether what is sound is taken of a damaged source.
  let salvages: Bool
  /// The attribute in which references are kept, or from which they are taken.
  let referenceAttribute: String?
  /// Whether to-many relationships get the inverses that they lack.
  let addsInverses: Bool
  let progress: ProgressBar
  /// How far a store has come that makes the other one itself.
  private let copying: MigrationProgress
  private var registry: StoreRegistry { source.registry }

  init(
    source: StoreSource,
    destination: Destination,
    verifies: Bool,
    salvages: Bool = false,
    referenceAttribute: String? = nil,
    addsInverses: Bool = false,
    progress: ProgressBar
  ) {
    self.source = source
    self.destination = destination
    self.verifies = verifies
    self.salvages = salvages
    self.referenceAttribute = referenceAttribute
    self.addsInverses = addsInverses
    self.progress = progress
    // A store that makes the other one itself writes past the files that are observed.
    let copying = MigrationProgress { _ in progress.begin(.writing) }
    progress.measure(.writing) { [weak copying] in
      copying.flatMap { $0.fractionCompleted > 0 ? $0.fractionCompleted : nil }
    }
    self.copying = copying
  }

  static func phases(verifies: Bool) -> [ProgressBar.Phase] {
    [.reading, .checking, .writing, .flushing] + (verifies ? [.verifying] : [])
  }

  func run() throws -> Result {
    let type = try destination.type(in: registry)
    try destination.check(against: source.place, in: POSIXFileSystem())
    if salvages { return try convert(try salvaged(), type) }
    return try suggestingSalvage {
      if addsInverses, let result = try InverseAddition(conversion: self).run(type) { return result }
      progress.begin(.reading)
      let opened = try source.open()
      progress.begin(.checking)
      // What is read as it is needed is read when it is written, if at all.
      if !opened.store.engine.readsAsNeeded { _ = try opened.store.engine.contents() }
      return try convert(opened, type)
    }
  }

  private func salvaged() throws -> OpenStore {
    progress.begin(.reading)
    let opened = try source.salvage()
    progress.begin(.checking)
    return opened
  }

  /// Calls `body`, and lets the error of a damaged source say that what is sound of it can be written.
  private func suggestingSalvage<Value>(_ body: () throws -> Value) throws -> Value {
    let damages: Set<PersistenceError.Code> = [.fileCorrupt, .fileMalformed, .duplicateReference, .danglingReference]
    do {
      return try body()
    } catch var error as PersistenceError where damages.contains(error.code) && isOfSource(error) {
      let advice = error.recovery.map { Wording().recovery($0) ?? $0.text } ?? ""
      let salvage = "--salvage writes what is sound of it."
      error.recovery = .custom(advice.isEmpty ? salvage : advice + " " + salvage)
      throw error
    }
  }

  /// Whether an error is one of the source, which it names as it was given or without links.
  private func isOfSource(_ error: PersistenceError) -> Bool {
    guard let path = error.context.path else { return false }
    if path == source.path { return true }
    return path == (try? POSIXFileSystem().resolvingSymbolicLinks(inPath: source.path))
  }

  private func convert(_ opened: OpenStore, _ type: StoreType) throws -> Result {
    let foreignTransactionCount = salvages ? 0 : try opened.foreignTransactionCount()
    let hasRenamedRecords = try write(opened, type)
    let size = try POSIXFileSystem().storeSize(at: destination.place, registry.format(for: type))
    return Result(
      model: opened.model,
      recordCount: try recordCount(opened),
      byteCount: size,
      lostTransactionCount: try lostTransactionCount(opened, type),
      foreignTransactionCount: foreignTransactionCount,
      hasRenamedRecords: hasRenamedRecords,
      lacksModel: try lacksModel(opened.model, type),
      salvage: try opened.salvage?.report
    )
  }

  private func recordCount(_ opened: OpenStore) throws -> Int {
    let store = opened.salvage?.salvaged.store ?? opened.store
    return try store.entities.filter { !$0.isAbstract }.reduce(0) { try $0 + store.engine.count(of: $1) }
  }

  /// Of a model that the user has given, or that lies beside the source, there is a file still.
  private func lacksModel(_ model: LocatedModel, _ type: StoreType) throws -> Bool {
    guard model.path == nil, !model.isInferred else { return false }
    return !ModelLocator(registry: registry, fileSystem: POSIXFileSystem()).hasModel(
      ofStoreAt: destination.place,
      try registry.format(for: type)
    )
  }

  private func lostTransactionCount(_ opened: OpenStore, _ type: StoreType) throws -> Int {
    let isKept = try registry.format(for: type).typeDescription.capabilities.supports(.history)
    return isKept ? 0 : try opened.store.engine.history()?.transactionCount ?? 0
  }

  /// Writes the destination, and tells whether its records are called otherwise.
  private func write(_ opened: OpenStore, _ type: StoreType) throws -> Bool {
    try checkPlace(opened.model.model, type)
    guard verifies else { return try write(opened, type, at: destination.place).engine.hasRenamedRecords }
    switch destination.place {
    case .file(let path):
      let target = try POSIXFileSystem().resolvingSymbolicLinks(inPath: path)
      let hasOld = try POSIXFileSystem().status(atPath: target).map { $0.size > 0 } ?? false
      return try hasOld ? writeDraft(opened, type, target) : writeVerified(opened, type, at: destination.place)
    case .url(let url): return try writeVerified(opened, type, at: url)
    }
  }

  /// Writes a store at a URL: first at another one, if there is a store, which stays until what was written has been verified.
  private func writeVerified(_ opened: OpenStore, _ type: StoreType, at url: URL) throws -> Bool {
    let request = StoreManager.Request(type: type, place: .url(url), options: StoreOptions())
    guard try storeManager(opened.model.model).isThere(request),
      let format = try registry.format(for: type) as? any IncrementalStoreFormat
    else { return try writeVerified(opened, type, at: .url(url)) }
    guard let temporary = try format.temporaryURL(for: url) else {
      throw ToolError(
        at: destination.path,
        "A store of type \(type) cannot take the place of another. Remove that first."
      )
    }
    let hasRenamedRecords = try writeVerified(opened, type, at: .url(temporary))
    do {
      try format.moveStore(at: temporary, to: url, replacing: destination.isReplaced, options: request.options)
      return hasRenamedRecords
    } catch {
      // try?: what cannot be removed does not hide why it was made in vain.
      try? format.removeStore(at: temporary, options: request.options)
      throw error
    }
  }

  private func storeManager(_ model: ManagedObjectModel) -> StoreManager {
    StoreManager(model: model, registry: registry, fileSystem: POSIXFileSystem())
  }

  /// Makes sure, where a draft is to be written first, that the place does not refuse the store in the end.
  private func checkPlace(_ model: ManagedObjectModel, _ type: StoreType) throws {
    let storeManager = storeManager(model)
    // What may be replaced has been checked.
    let request = StoreManager.Request(type: type, place: destination.place, options: StoreOptions())
    try storeManager.checkPlace(request, replacing: destination.place.path != nil || destination.isReplaced)
  }

  /// Writes beside an old file, which stays until what was written has been verified.
  private func writeDraft(_ opened: OpenStore, _ type: StoreType, _ target: String) throws -> Bool {
    let draft = try DraftFolder(beside: target)
    defer { draft.remove() }
    let hasRenamedRecords = try writeVerified(opened, type, at: .file(path: draft.storePath))
    // A copy has the permissions of what it is a copy of, also before it takes the place of the old file.
    try POSIXFileSystem().copyPermissions(ofFileAtPath: target, toPath: draft.storePath)
    let storeManager = storeManager(opened.model.model)
    try storeManager.replaceStore(at: .file(path: target), by: .reading(draft.storePath, type))
    return hasRenamedRecords
  }

  /// Writes a file that is not there yet, verifies it, and closes it again; what is wrong does not stay.
  private func writeVerified(_ opened: OpenStore, _ type: StoreType, at place: StorePlace) throws -> Bool {
    let written = try write(opened, type, at: place)
    let storeManager = storeManager(opened.model.model)
    do {
      try verify(written, of: opened.salvage?.salvaged.store ?? opened.store, storeManager, .reading(place, type))
      close(written)
      return written.engine.hasRenamedRecords
    } catch {
      close(written)
      // What cannot be removed does not hide what is wrong with it.
      try? storeManager.destroy(.reading(place, type))
      throw error
    }
  }

  private func close(_ store: PersistentStore) {
    if store.capabilities.kind == .incremental { _ = store.engine.close(unlessSavedSince: nil) }
  }

  private func write(_ opened: OpenStore, _ type: StoreType, at place: StorePlace) throws -> PersistentStore {
    progress.expect(byteCount: opened.size ?? 0)
    let fileSystem = ObservedFileSystem(base: POSIXFileSystem(), progress: progress)
    let storeManager = StoreManager(model: opened.model.model, registry: registry, fileSystem: fileSystem)
    var options = StoreOptions()
    options[.referenceAttribute] = referenceAttribute
    let request = StoreManager.Request(type: type, place: place, options: options)
    // An incremental store writes its file itself, where nobody observes that.
    let capabilities = try registry.format(for: type).typeDescription.capabilities
    if capabilities.kind == .incremental { progress.begin(.writing) }
    let written: PersistentStore
    if let salvage = opened.salvage {
      written = try salvage.write(to: request, replacing: destination.isReplaced, storeManager)
    } else {
      written = try storeManager.copy(opened.store, to: request, replacing: destination.isReplaced, progress: copying)
    }
    OpenedStores.add(written)
    return written
  }

  /// Reads what was written and compares it with what was to be: the records of the source, under the names that they have now.
  private func verify(
    _ store: PersistentStore,
    of source: PersistentStore,
    _ storeManager: StoreManager,
    _ request: StoreManager.Request
  ) throws {
    progress.begin(.verifying)
    let reopened = try storeManager.open(request)
    OpenedStores.add(reopened)
    defer { close(reopened) }
    let wanted = try handedOver(to: store, of: source)
    let found = try reopened.engine.contents()
    guard let difference = try firstDifference(wanted, found, isOrdered: destination.place.path != nil) else { return }
    throw ToolError(at: destination.path, "What was written is not what was read: \(difference). It was not kept.")
  }

  /// - Parameter isOrdered: whether the order of the records counts, which a database or a service need not keep.
  private func firstDifference(_ wanted: StoreContents, _ found: StoreContents, isOrdered: Bool) throws -> String? {
    if isOrdered { return ContentsComparison.firstDifference(wanted, found)?.description }
    var first: String?
    try ContentsDifferences(wanted, found, matching: .reference).forEach { difference in
      if first == nil { first = Self.description(difference) }
    }
    return first
  }

  private static func description(_ difference: ContentsDifferences.Difference) -> String {
    switch difference {
    case .identifier: "the identifiers of the stores differ"
    case .metadata(let key, _, _): "the metadata of the user differ at the key \(key)"
    case .entity(let entity, let count, _): "only one of them has the entity \(entity.name), and \(count) records of it"
    case .property(let name, let entity, _): "only one of them has \(entity.name).\(name)"
    case .record(let record, .first): "\(record.objectID) is missing"
    case .record(let record, .second): "\(record.objectID) was not to be there"
    case .values(let record, _, let names): "\(record.objectID) has other values of \(names.joined(separator: ", "))"
    }
  }

  /// What a store was made of. Asked for its contents, an incremental one would read them from its file, and be compared with itself.
  private func handedOver(to store: PersistentStore, of source: PersistentStore) throws -> StoreContents {
    if !store.engine.readsAsNeeded { return try store.engine.contents() }
    let known = try store.entities.map { try store.engine.knownTable(of: $0) }
    var contents = try source.engine.contents()
    // What was copied without going through memory has no tables that it was made of, and the names that the records had.
    guard known.allSatisfy(\.isWhole) else { return contents }
    for (table, _) in known { contents.tables[table.entity.ordinal] = table }
    return contents
  }
}

// MARK: Destination

/// Where a conversion writes.
struct Destination {
  let place: StorePlace
  /// The type that the user gives; nil means that the extension tells.
  let typeName: String?
  /// Whether a store that is there is replaced.
  let isReplaced: Bool

  init(path: String, typeName: String?, isReplaced: Bool) {
    place = StorePlace(argument: path)
    self.typeName = typeName
    self.isReplaced = isReplaced
  }

  /// The place as errors and reports name it.
  var path: String { place.description }

  /// The type of the new file: what may be there now has no say.
  func type(in registry: StoreRegistry) throws(PersistenceError) -> StoreType {
    if let typeName { return try registry.format(for: StoreType(typeName)).typeDescription.type }
    if place.path == nil { return try registry.type(ofStoreAt: place) }
    if let type = registry.types(forFileName: path).first { return type }
    let extensions = registry.typeDescriptions.flatMap(\.fileExtensions).joined(separator: ", ")
    throw PersistenceError(
      .storeTypeUndetermined,
      "The name does not say of which type the store is.",
      recovery: "Give the type with --to, or a name with one of the extensions \(extensions).",
      context: .init(path: path)
    )
  }

  /// Refuses the source itself, under whatever name, and a file that is not to be replaced.
  func check(against source: StorePlace, in fileSystem: any FileSystem) throws {
    guard let path = place.path else {
      guard place != source else { throw Self.isSource("store", place.description) }
      return
    }
    guard let status = try fileSystem.status(atPath: path) else { return }
    if let source = source.path { try Self.check(path, status, isNot: fileSystem.status(atPath: source)) }
    guard status.isRegularFile else { throw ToolError(at: path, "It is not a file. Choose another name.") }
    guard status.size > 0, !isReplaced else { return }
    throw PersistenceError(.fileExists, "There is a file already.", recovery: .replaceFile, context: .init(path: path))
  }

  /// Refuses a file that is the source, under whatever name.
  static func check(_ path: String, _ status: FileStatus, isNot source: FileStatus?) throws(ToolError) {
    guard let source, source.identity.isSameFile(as: status.identity) else { return }
    throw isSource("file", path)
  }

  private static func isSource(_ what: String, _ path: String) -> ToolError {
    ToolError(at: path, "The source and the destination are the same \(what). Choose another name.")
  }
}

// MARK: SalvageRun

/// What was salvaged of a damaged store, and how much of it another store could take.
final class SalvageRun {
  private(set) var salvaged: SalvagedStore

  init(_ salvaged: SalvagedStore) {
    self.salvaged = salvaged
  }

  var report: SalvageReport {
    get throws { try salvaged.report }
  }

  /// Writes what was salvaged; what the other store cannot keep is left out from then on.
  func write(to request: StoreManager.Request, replacing: Bool, _ storeManager: StoreManager) throws -> PersistentStore
  {
    let result = try storeManager.convert(salvaged, to: request, replacing: replacing)
    salvaged = result.salvaged
    return result.store
  }
}
