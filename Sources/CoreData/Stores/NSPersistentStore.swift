public import Foundation
import HeartwoodModel
import HeartwoodStore

/// A store of a coordinator.
open class NSPersistentStore: NSObject {
  /// Heartwood's store, once the store is open.
  final var core: PersistentStore?
  private final let givenURL: URL?
  private final let givenConfiguration: String?
  private final let givenOptions: [AnyHashable: Any]?
  final var givenMetadata: [String: Any] = [:]
  /// The file that a store of one's own writes while it is being saved: the store takes it over when it is complete.
  final var writingURL: URL?

  /// The coordinator of the store; nil if it was removed.
  open internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  /// Creates a store. The coordinator calls this for stores of one's own.
  public required init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
    configurationName name: String?,
    at url: URL,
    options: [AnyHashable: Any]? = nil
  ) {
    givenURL = url
    givenConfiguration = name
    givenOptions = options
    persistentStoreCoordinator = root
  }

  init(
    _ core: PersistentStore,
    _ coordinator: NSPersistentStoreCoordinator,
    _ url: URL?,
    _ options: [AnyHashable: Any]?
  ) {
    self.core = core
    givenURL = url
    givenConfiguration = core.configurationName
    givenOptions = options
    persistentStoreCoordinator = coordinator
  }

  /// The configuration whose entities the store keeps.
  open var configurationName: String { givenConfiguration ?? "PF_DEFAULT_CONFIGURATION_NAME" }
  /// The options that the store was added with.
  open var options: [AnyHashable: Any]? { givenOptions }
  /// The place of the store.
  open var url: URL? { writingURL ?? core?.place?.url ?? givenURL }
  /// The type of the store, such as `NSSQLiteStoreType`.
  open var type: String { core?.type.rawValue ?? "" }
  /// Whether the store cannot be saved.
  open var isReadOnly: Bool { core?.isReadOnly ?? false }
  /// The identifier of the store.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var identifier: String! { core?.identifier.uuidString ?? givenMetadata[NSStoreUUIDKey] as? String }

  /// What the store says of itself. What is set is written by the next save.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var metadata: [String: Any]! {
    get { core?.metadata.dictionary ?? givenMetadata }
    set {
      givenMetadata = newValue ?? [:]
      guard let core else { return }
      do {
        try core.setUserInfo(try StoreMetadata.userInfo(in: givenMetadata))
      } catch {
        ProgrammerError.stop("The metadata cannot be set: \(error)")
      }
    }
  }

  /// Returns the metadata of the store at `url`: those under `NSStoreTypeKey` and `NSStoreUUIDKey` and one's own. A
  /// store of one's own overrides it.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    throw CocoaError.make(.persistentStoreOperation, "\(self) does not override metadataForPersistentStore(with:).")
  }

  /// Sets ``metadata`` to those of the file, before the objects are read. A store of one's own overrides it.
  open func loadMetadata() throws {
    guard let url else { return }
    metadata = try Swift.type(of: self).metadataForPersistentStore(with: url)
  }

  /// Called when the store was added to a coordinator.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// Called when the store is about to be removed from a coordinator.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}
}
