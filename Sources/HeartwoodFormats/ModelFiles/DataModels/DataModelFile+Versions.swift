import HeartwoodModel
public import HeartwoodStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension DataModelFile {
  /// The version of the bundle at `url` that a store with this metadata was written with; the current version is tried first.
  ///
  /// - Parameter configuration: The configuration that the store was opened with; nil means all entities.
  /// - Returns: The name of the version, or nil where none has the version hashes that the metadata tell.
  /// - Throws: ``ModelFileError`` where a version cannot be read.
  public static func version(
    at url: URL,
    compatibleWith metadata: StoreMetadata,
    configuration: String? = nil
  ) throws(ModelFileError) -> String? {
    let bundle = DataModelBundle(url)
    // try?: it only decides which version is looked at first.
    let current = try? bundle.currentVersion()
    for name in try bundle.versions().sorted(by: { ($0 == current ? 0 : 1, $0) < ($1 == current ? 0 : 1, $1) }) {
      let model = try ManagedObjectModel(contentsOf: url, version: name)
      if model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) { return name }
    }
    return nil
  }
}
