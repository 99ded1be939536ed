import HeartwoodModel
public import HeartwoodStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PersistentStoreCoordinator {
  /// Writes what is sound in a damaged store as a new store, and returns what is not: record by record, with the place in the file.
  ///
  ///     do {
  ///       try coordinator.addPersistentStore(at: url)
  ///     } catch let error as PersistenceError where [.fileCorrupt, .fileMalformed].contains(error.code) {
  ///       let report = try coordinator.salvageStore(at: url, to: rescuedURL)
  ///       print(report)  // 4,217 records written; 3 records lost, 1 link dropped
  ///       try coordinator.addPersistentStore(at: rescuedURL)
  ///     }
  ///
  /// The file may be cut short, have changed bytes, unreadable rows, external files that are missing, or links to nothing. The damaged store
  /// stays as it is, and is not opened by the coordinator. Nothing is made up: a value that cannot be read is nil, a record that cannot be read is left
  /// out, a link to a record that is not there is dropped. Inverses are made to agree. Records that the model's validation does not accept
  /// are written as they are and reported. How much a file tells of its losses depends on its format: a text file that is cut short does not
  /// say how many records it had, and a changed letter of a text without a checksum is a letter like any other.
  ///
  /// It reads the whole file and keeps its records in memory.
  ///
  /// - Parameters:
  ///   - source: the damaged file.
  ///   - type: its type; nil means that its name or content tells.
  ///   - destination: the file to write.
  ///   - destinationType: the type to write; nil means the one that the name of `destination` tells, or that of a file there.
  ///   - configuration: the configuration whose entities the store keeps; nil means all.
  ///   - options: the options with which the damaged store is read.
  ///   - destinationOptions: the options with which the new one is written.
  ///   - replacing: whether a file that stands at `destination` is replaced. It stays as it is if this throws.
  /// - Returns: what was written and what was lost; ``SalvageReport/isComplete`` if nothing was wrong.
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/fileExists``,
  ///   ``PersistenceError/Code/modelIncompatible`` if the file was written with another model, and the error of the damage if it leaves nothing
  ///   to begin with.
  public func salvageStore(
    at source: URL,
    type: StoreType? = nil,
    to destination: URL,
    destinationType: StoreType? = nil,
    configuration: String? = nil,
    options: StoreOptions = StoreOptions(),
    destinationOptions: StoreOptions = StoreOptions(),
    replacing: Bool = false
  ) throws -> SalvageReport {
    let damaged = try request(type: type, configuration: configuration, at: source, options: options)
    let target = try request(
      type: destinationType,
      configuration: configuration,
      at: destination,
      options: destinationOptions
    )
    for path in [damaged.path, target.path] { try checkNotOpen(path) }
    try opener.checkIsOther(target.path, than: damaged.path)
    let result = try opener.convert(try opener.salvage(damaged), to: target, replacing: replacing)
    _ = result.store.engine.close(unlessSavedSince: nil)
    return try result.salvaged.report
  }
}
