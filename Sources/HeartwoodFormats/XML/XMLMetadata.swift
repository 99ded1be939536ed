import HeartwoodModel
import HeartwoodStore

/// The metadata of a store as Core Data keeps them in an XML file.
enum XMLMetadata {
  static func metadata(_ header: XMLHeader) -> StoreMetadata {
    CoreDataMetadata.metadata(header.metadata, identifier: header.identifier, storeType: .xml)
  }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` where the application uses a key that has a meaning of its own, or one that XML
  ///   cannot hold.
  static func validate(_ userInfo: [String: MetadataValue]) throws(PersistenceError) {
    try CoreDataMetadata.validate(userInfo, storeType: .xml)
    try PropertyListTextWriter.validate(.dictionary(userInfo), storeType: .xml)
  }
}
