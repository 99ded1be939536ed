import Heartwood
import HeartwoodFoundation
import HeartwoodSQLite
import HeartwoodStore

/// Writes the contents of a store as another store.
struct Conversion {
  struct Result {
    /// The model with which the source was read.
    let model: LocatedModel
    let recordCount: Int
    /// The size of the written files in bytes; nil for a store that is not a file.
    var byteCount: Int?
    /// The number of transactions that were left out because the other type has no history.
    var lostTransactionCount: Int
    /// The number of transactions of Core Data that were left out because their form is not known.
    let foreignTransactionCount: Int
    /// Whether records have new references because the other type cannot have the old ones.
    var hasRenamedRecords: Bool
    /// Whether the other store cannot be opened without the model that the source contains.
    let lacksModel: Bool
    /// What was salvaged from a damaged source; nil without --salvage.
    let salvage: SalvageReport?
    /// The inverse relationships that were added to the model.
    var addedInverses: [AddedInverse] = []
  }

  let source: StoreSource
  let destination: Destination
  let verifies: Bool
  /// Whether to write what is sound in a damaged source.
  let salvages: Bool
  /// The attribute that keeps references, or that contains them.
  let referenceAttribute: String?
  /// Whether to add inverses to to-many relationships that have none.
  let addsInverses: Bool
  let progress: ProgressBar
  /// The progress of a store that writes the other store itself.
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
    // A store that writes the other store itself does not write through the observed files.
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
      // Records that are read as needed are read when they are written, if at all.
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

  /// Calls `body`. If the source is damaged, the error suggests --salvage.
  private func suggestingSalvage<Value>(_ body: () throws -> Value) throws -> Value {
    let damages: Set<PersistenceError.Code> = [.fileCorrupt, .fileMalformed, .duplicateReference, .danglingReference]
    do {
      return try body()
    } catch var error as PersistenceError where damages.contains(error.code) && isOfSource(error) {
      let advice = error.recovery.map { Wording().recovery($0) ?? $0.text } ?? ""
      let salvage = "--salvage writes what is sound in it."
      error.recovery = .custom(advice.isEmpty ? salvage : advice + " " + salvage)
      throw error
    }
  }

  /// Returns whether an error belongs to the source. Its path is the argument, or the path without symbolic links.
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

  /// Returns whether the new store lacks its model. A model that was given, or that was found beside the source, still
  /// has its own file.
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

  /// Writes the destination. Returns whether records have new references.
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

  /// Writes a store at a URL. An existing store is replaced only after the new one, at a temporary URL, has been
  /// verified.
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
      // try?: the error that is thrown is more important than that of removing the store.
      try? format.removeStore(at: temporary, options: request.options)
      throw error
    }
  }

  private func storeManager(_ model: ManagedObjectModel) -> StoreManager {
    StoreManager(model: model, registry: registry, fileSystem: POSIXFileSystem())
  }

  /// Checks that the destination accepts the store, before a draft is written elsewhere.
  private func checkPlace(_ model: ManagedObjectModel, _ type: StoreType) throws {
    let storeManager = storeManager(model)
    // Whether it may be replaced has been checked already.
    let request = StoreManager.Request(type: type, place: destination.place, options: StoreOptions())
    try storeManager.checkPlace(request, replacing: destination.place.path != nil || destination.isReplaced)
  }

  /// Writes a draft beside an existing file, which is replaced only after the draft has been verified.
  private func writeDraft(_ opened: OpenStore, _ type: StoreType, _ target: String) throws -> Bool {
    let draft = try DraftFolder(beside: target)
    defer { draft.remove() }
    let hasRenamedRecords = try writeVerified(opened, type, at: .file(path: draft.storePath))
    // The draft gets the permissions of the existing file before it replaces it.
    try POSIXFileSystem().copyPermissions(ofFileAtPath: target, toPath: draft.storePath)
    let storeManager = storeManager(opened.model.model)
    try storeManager.replaceStore(at: .file(path: target), by: .reading(draft.storePath, type))
    return hasRenamedRecords
  }

  /// Writes a new file, verifies it and closes it. It is removed if it is wrong.
  private func writeVerified(_ opened: OpenStore, _ type: StoreType, at place: StorePlace) throws -> Bool {
    let written = try write(opened, type, at: place)
    let storeManager = storeManager(opened.model.model)
    do {
      try verify(written, of: opened.salvage?.salvaged.store ?? opened.store, storeManager, .reading(place, type))
      close(written)
      return written.engine.hasRenamedRecords
    } catch {
      close(written)
      // The error of the verification is more important than that of removing the file.
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
    // An incremental store writes its file itself, and not through the observed files.
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

  /// Reads the written store, and compares it with the records of the source, under the references that they have now.
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
    throw ToolError(at: destination.path, "The written store differs from the source: \(difference). It was removed.")
  }

  /// - Parameter isOrdered: whether the order of the records is compared. A database or a service need not keep it.
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
    case .metadata(let key, _, _): "the user's metadata differs at the key \(key)"
    case .entity(let entity, let count, _): "only one of them has the entity \(entity.name), and \(count) records of it"
    case .property(let name, let entity, _): "only one of them has \(entity.name).\(name)"
    case .record(let record, .first): "\(record.objectID) is missing"
    case .record(let record, .second): "\(record.objectID) is not in the source"
    case .values(let record, _, let names): "\(record.objectID) has other values of \(names.joined(separator: ", "))"
    }
  }

  /// Returns the contents that were passed to a store. The contents of an incremental store would be read from its
  /// file, and compared with themselves.
  private func handedOver(to store: PersistentStore, of source: PersistentStore) throws -> StoreContents {
    if !store.engine.readsAsNeeded { return try store.engine.contents() }
    let known = try store.entities.map { try store.engine.knownTable(of: $0) }
    var contents = try source.engine.contents()
    // A store that was copied without going through memory has no such tables, and its records have the old references.
    guard known.allSatisfy(\.isWhole) else { return contents }
    for (table, _) in known { contents.tables[table.entity.ordinal] = table }
    return contents
  }
}

// MARK: Destination

/// The destination of a conversion.
struct Destination {
  let place: StorePlace
  /// The type that the user gives; nil if the extension determines it.
  let typeName: String?
  /// Whether to replace an existing store.
  let isReplaced: Bool

  init(path: String, typeName: String?, isReplaced: Bool) {
    place = StorePlace(argument: path)
    self.typeName = typeName
    self.isReplaced = isReplaced
  }

  /// The name of the destination in errors and reports.
  var path: String { place.description }

  /// The extensions of files that are no stores, and that `dump` can write.
  private static let printedExtensions: Set = ["json", "jsonl", "ndjson"]

  /// Returns the type of the new store. It does not depend on an existing file.
  func type(in registry: StoreRegistry) throws(PersistenceError) -> StoreType {
    if let typeName { return try registry.format(for: StoreType(typeName)).typeDescription.type }
    if place.path == nil { return try registry.type(ofStoreAt: place) }
    if let type = registry.types(forFileName: path).first { return type }
    let extensions = registry.typeDescriptions.flatMap(\.fileExtensions).joined(separator: ", ")
    let printing =
      Self.printedExtensions.contains(PathParts.fileExtension(path))
      ? " heartwood dump prints the records as JSON." : ""
    throw PersistenceError(
      .storeTypeUndetermined,
      "The name does not show the type of the store.",
      recovery: "Give the type with --to, or a name with one of the extensions \(extensions).\(printing)",
      context: .init(path: path)
    )
  }

  /// Refuses the source itself, also if a link refers to it, and a file that may not be replaced.
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

  /// Refuses the file of the source, also if a link refers to it.
  static func check(_ path: String, _ status: FileStatus, isNot source: FileStatus?) throws(ToolError) {
    guard let source, source.identity.isSameFile(as: status.identity) else { return }
    throw isSource("file", path)
  }

  private static func isSource(_ what: String, _ path: String) -> ToolError {
    ToolError(at: path, "The source and the destination are the same \(what). Choose another name.")
  }
}

// MARK: SalvageRun

/// The salvaged contents of a damaged store, and how much of it another store can hold.
final class SalvageRun {
  private(set) var salvaged: SalvagedStore

  init(_ salvaged: SalvagedStore) {
    self.salvaged = salvaged
  }

  var report: SalvageReport {
    get throws { try salvaged.report }
  }

  /// Writes the salvaged contents. What the other store cannot hold is removed from them.
  func write(to request: StoreManager.Request, replacing: Bool, _ storeManager: StoreManager) throws -> PersistentStore
  {
    let result = try storeManager.convert(salvaged, to: request, replacing: replacing)
    salvaged = result.salvaged
    return result.store
  }
}
