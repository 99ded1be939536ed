public import Foundation
import HeartwoodModel
import HeartwoodStore

/// Identifies an object; it can be handed to other contexts and threads.
open class NSManagedObjectID: NSObject, NSCopying, @unchecked Sendable {
  // `@unchecked Sendable`: it never changes; nor does the description of the entity once there are objects.
  final let core: ManagedObjectID?
  /// Identifies an object that is in no context.
  private final let detachedID: UUID?
  private final let entityDescription: NSEntityDescription
  private final weak let coordinator: NSPersistentStoreCoordinator?

  init(_ id: ManagedObjectID, _ entity: NSEntityDescription, _ coordinator: NSPersistentStoreCoordinator?) {
    core = id
    detachedID = nil
    entityDescription = entity
    self.coordinator = coordinator
  }

  init(detached entity: NSEntityDescription) {
    core = nil
    detachedID = UUID()
    entityDescription = entity
    coordinator = nil
  }

  /// The entity of the object.
  open var entity: NSEntityDescription { entityDescription }

  /// Whether the object has not been saved yet.
  open var isTemporaryID: Bool { core?.isTemporaryID ?? true }

  /// The store that keeps the object; nil for a temporary id.
  open var persistentStore: NSPersistentStore? {
    core?.storeIdentifier.flatMap { coordinator?.persistentStore(withIdentifier: $0) }
  }

  /// The id as a URI that outlives the process, as far as it is not temporary.
  open func uriRepresentation() -> URL {
    guard let core else {
      return URL(fileURLWithPath: "/\(entityDescription.name ?? "")/t\(detachedID?.uuidString ?? "")")
    }
    guard !core.isTemporaryID, case .integer(let number) = core.reference else { return core.uriRepresentation() }
    // Core Data's SQLite stores write the number of a record in this form.
    return ObjectURI(
      storeIdentifier: core.storeIdentifier,
      entityName: core.entity.name,
      reference: .string("p\(number)")
    ).url
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectID else { return false }
    if let core, let otherCore = other.core { return core == otherCore }
    return detachedID != nil && detachedID == other.detachedID
  }

  open override var hash: Int { core?.hashValue ?? detachedID.hashValue }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String { "<\(uriRepresentation().absoluteString)>" }
}
