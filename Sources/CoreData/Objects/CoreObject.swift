import HeartwoodGraph

/// The record of a managed object in its context.
///
/// The object that the application has, of the class NSManagedObject or one that inherits from it, is made when the
/// application first meets the record, and then hears of the record's life.
final class CoreObject: ManagedObject {
  weak var facade: NSManagedObject?

  /// The context that the application knows.
  private var host: NSManagedObjectContext? { managedObjectContext?.presenter as? NSManagedObjectContext }

  private var presented: NSManagedObject? { facade ?? host?.facade(of: self) }

  override func awakeFromInsert() { host?.presentInserted(self)?.awakeFromInsert() }

  override func awakeFromFetch() { presented?.awakeFromFetch() }

  override func awake(fromSnapshotEvents events: SnapshotEventType) {
    presented?.awake(fromSnapshotEvents: NSSnapshotEventType(rawValue: UInt(events.rawValue)))
  }

  override func prepareForDeletion() { presented?.prepareForDeletion() }
  override func willSave() { presented?.willSave() }
  override func didSave() { facade?.didSave() }
  override func willTurnIntoFault() { facade?.willTurnIntoFault() }
  override func didTurnIntoFault() { facade?.didTurnIntoFault() }
  override func validateForInsert() throws { try presented?.validateForInsert() }
  override func validateForUpdate() throws { try presented?.validateForUpdate() }
  override func validateForDelete() throws { try presented?.validateForDelete() }
}
