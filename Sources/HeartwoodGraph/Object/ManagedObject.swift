public import HeartwoodModel
import HeartwoodStore

/// An object of a graph: a record of a store, or one to be, in a context.
///
/// Use it as it is, with values by name, or subclass it with typed accessors:
///
///     final class ToDo: ManagedObject {
///       static let memoKey = AttributeKey<String?>("memo")
///       var memo: String? {
///         get { self[Self.memoKey] }
///         set { self[Self.memoKey] = newValue }
///       }
///     }
///
/// An object belongs to its context and to the isolation that the context was made in. What travels between contexts is its
/// ``objectID``.
open class ManagedObject {
  var binding: EntityBinding
  /// The group of rows that the object reads from; nil while no store has it.
  var group: RowGroup?
  /// What differs from the group; nil where nothing does.
  var changes: ObjectChanges?
  var rowID: RowID
  var state: ObjectState

  /// Called by the framework only. A subclass that declares initializers of its own keeps it; to make a new object, use
  /// ``ManagedObjectContext/insert(_:)``.
  public required init(_ seed: ManagedObjectSeed) {
    binding = seed.binding
    group = seed.group
    rowID = seed.rowID
    changes = seed.changes
    state = seed.state
  }

  deinit {
    if group != nil { binding.unregister(rowID) }
  }

  /// The name of the entity whose objects are of this class: the class's own name, unless a subclass says otherwise.
  open class var entityName: String { String(describing: self) }

  // MARK: Life cycle

  /// Called once when the object has been inserted, before anything else changes it. Set initial values here.
  open func awakeFromInsert() {}

  /// Called when the object has taken its values from the store, before they are read.
  open func awakeFromFetch() {}

  /// Called when the object is about to be deleted, while its relationships still lead where they did.
  open func prepareForDeletion() {}
}

@available(
  *,
  unavailable,
  message: "An object belongs to the isolation of its context. Pass its objectID, which is Sendable."
)
extension ManagedObject: Sendable {}

/// What a managed object is made from. Only the framework makes one.
public struct ManagedObjectSeed {
  let binding: EntityBinding
  let group: RowGroup?
  let rowID: RowID
  let changes: ObjectChanges?
  let state: ObjectState
}

/// What a managed object is at the moment, beside its values.
struct ObjectState: OptionSet {
  let rawValue: UInt8

  /// The values have not been read since the object was registered or refreshed.
  static let fault = ObjectState(rawValue: 1)
  static let inserted = ObjectState(rawValue: 2)
  static let updated = ObjectState(rawValue: 4)
  static let deleted = ObjectState(rawValue: 8)
  /// The context has let the object go: it was deleted and saved, or the context was reset.
  static let detached = ObjectState(rawValue: 16)
}

extension ManagedObject {
  /// The name of the object, which is Sendable. A save makes it permanent.
  public var objectID: ManagedObjectID {
    if let changes, let temporaryID = changes.temporaryID { return temporaryID }
    guard let group else { preconditionFailure("An object has a temporary id or a row.") }
    return ManagedObjectID(scope: binding.scope, reference: group.references[rowID.row])
  }

  /// The entity of the object.
  public var entity: EntityDescription { binding.entity }

  /// The context of the object; nil once that is gone, was reset, or has saved the object's deletion.
  public var managedObjectContext: ManagedObjectContext? {
    state.contains(.detached) ? nil : binding.context
  }

  /// Whether the object will be inserted by the next save.
  public var isInserted: Bool { state.contains(.inserted) }

  /// Whether changes of the object will be written by the next save.
  public var isUpdated: Bool { state.contains(.updated) }

  /// Whether the object will be deleted by the next save.
  public var isDeleted: Bool { state.contains(.deleted) }

  /// Whether the object's values have not been read yet. They are when one is asked for.
  public var isFault: Bool { state.contains(.fault) }

  /// Whether the next save has something to do for the object.
  public var hasChanges: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// The version of the record that the object's values are from; 0 for a new object.
  var baseVersion: UInt64 { group?.versions[rowID.row] ?? 0 }
}

extension ManagedObject: Hashable {
  /// Two objects are equal when they are the same: a context has one object for each record.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

extension ManagedObject: CustomStringConvertible {
  /// The class and the id. Values are left out: they may be private.
  public var description: String { "\(type(of: self)) \(objectID)" }
}
