import HeartwoodModel
public import HeartwoodStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// MARK: Metadata

extension PersistentStoreCoordinator {
  /// The metadata of a store that need not be open. It reads no records.
  ///
  /// - Parameter type: the registered type; nil means that the file's name or content tells it.
  public func metadataForPersistentStore(
    type: StoreType? = nil,
    at url: URL,
    options: StoreOptions = StoreOptions()
  ) throws -> StoreMetadata {
    try opener.metadata(try request(type: type, at: url, options: options))
  }

  /// Writes the metadata of a store that is not open, at once: over the old ones where the format has room for that, as that of binary
  /// stores has, in a transaction where the store is incremental, and else with the whole file. In each case the file has the old metadata
  /// or the new ones whenever the process ends. The type and the version hashes are those that the file has.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/capabilityMissing`` where the format has no
  ///   place for the user's keys, or what reading and writing the file can throw.
  public func setMetadata(
    _ metadata: StoreMetadata,
    type: StoreType? = nil,
    at url: URL,
    options: StoreOptions = StoreOptions()
  ) throws {
    let request = try request(type: type, at: url, options: options)
    try checkNotOpen(request.path)
    try opener.setMetadata(metadata, request)
  }
}
