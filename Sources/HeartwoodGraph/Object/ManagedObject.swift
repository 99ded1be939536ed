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
/// ``objectID``. It does not keep its context alive.
open class ManagedObject {
  /// What the object has in common with others. An object that its binding holds does not hold the binding, which saves each fault an
  /// atomic count; every other object does (``EntityBinding/hold(_:at:)``).
  private final var unmanagedBinding: Unmanaged<EntityBinding>
  final var content: ObjectContent
  /// The row of the record; it means nothing while no store has the object.
  final var rowID: RowID
  final var state: ObjectState

  /// Called by the framework only, to make the object of a record or a new one; to make a new object, use
  /// ``ManagedObjectContext/insert(_:)``.
  ///
  /// A subclass that declares initializers of its own keeps it. It must not use the context there, nor in its `deinit`, which runs when the
  /// context notices that nobody holds the object, or on the thread of the last reference if the context is gone.
  public required init(_ seed: ManagedObjectSeed) {
    unmanagedBinding = seed.binding
    if !seed.state.contains(.held) { _ = seed.binding.retain() }
    content = seed.content
    rowID = seed.rowID
    state = seed.state
  }

  /// Runs on whatever thread the last reference goes, so it changes nothing that the context uses.
  deinit {
    let isOwner = !state.contains(.held) || withBinding(\.isOrphaned)
    if isOwner { unmanagedBinding.release() }
  }

  /// The name of the entity whose objects are of this class: the class's own name, unless a subclass says otherwise.
  open class var entityName: String { String(describing: self) }

  /// The entity of the class's objects, with the properties that the class adds to those of its superclass; nil where a model made
  /// elsewhere has it. ``ManagedObjectModel/init(of:configurations:versionIdentifiers:fetchRequestTemplates:)`` makes a
  /// model of such classes:
  ///
  ///     override class var entityDefinition: EntityDefinition? {
  ///       get throws {
  ///         EntityDefinition(
  ///           name: entityName,
  ///           superentityName: try super.entityDefinition?.name,
  ///           properties: [.attribute(memoKey, default: ""), .toOne(listKey, inverse: List.itemsKey.name)]
  ///         )
  ///       }
  ///     }
  ///
  /// The macros of `HeartwoodMacros` write it.
  open class var entityDefinition: EntityDefinition? {
    get throws { nil }
  }

  /// The name of the property that the accessor at `keyPath` reads, so that `#Predicate` can be used for fetches; nil where it is
  /// none.
  ///
  /// Swift does not tell the name of every accessor at run time, so override it:
  ///
  ///     override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
  ///       switch keyPath {
  ///       case \ToDo.isDone: doneKey.name
  ///       case \ToDo.memo: memoKey.name
  ///       default: super.propertyName(forKeyPath: keyPath)
  ///       }
  ///     }
  ///
  /// Conditions by keys need none of this: `ToDo.doneKey == true`.
  open class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
    let parts = keyPath.debugDescription.split(separator: ".")
    // `\ToDo.memo` for one accessor; the name of the class may have dots of its own.
    guard let name = parts.last, parts.count > 1, name.first?.isLetter ?? false || name.first == "_" else { return nil }
    return name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? String(name) : nil
  }

  // MARK: Life cycle

  /// Called once when the object has been inserted, before anything else changes it. Set initial values here.
  open func awakeFromInsert() {}

  /// Called when the object has taken its values from the store, before they are read. Set transient values here.
  ///
  /// What is set here is seen but not saved, and does not make the object a changed one. Leave relationships alone: their
  /// inverses are on objects that would be changed.
  open func awakeFromFetch() {}

  /// Called when values of the object have changed not by being set, but by an undo, a redo, a rollback or a refresh: set transient
  /// values here that depend on others. As in ``awakeFromFetch()``, what is set here is seen but not saved.
  ///
  /// - Parameter events: what has happened.
  open func awake(fromSnapshotEvents events: SnapshotEventType) {}

  /// Called once when the object is about to be deleted, while its relationships still lead where they did. It may change, insert and delete
  /// other objects; the delete rules apply to what it leaves.
  open func prepareForDeletion() {}

  /// Called when the object is about to be inserted, updated or deleted by a save, before it is validated.
  ///
  /// What is changed here is saved too, and the objects that it changes are told again, this one as well: change only what differs
  /// from what it shall be, or use ``subscript(primitive:)``, which does not count as a change here. Saving from here is a mistake.
  open func willSave() {}

  /// Called when a save has inserted, updated or deleted the object, once all is done. Changes made here are for the next save.
  open func didSave() {}

  /// Called when a refresh is about to make the object a fault. Its values are still there.
  open func willTurnIntoFault() {}

  /// Called when a refresh has made the object a fault. Forget here what was made of its values.
  open func didTurnIntoFault() {}

  // MARK: Validation

  /// Checks the values of single properties, beside the rules of the model: for each save that inserts or updates an object of the
  /// class, and for ``validateValue(_:forKey:)``. A subclass gives those of its superclass too.
  open class var propertyValidators: [PropertyValidator] { [] }

  /// Called before the object is inserted by a save. Throw what is wrong with it: a ``validationFault(_:_:)``, several in a
  /// `PersistenceError.validationFailed(_:)`, or any other error. A save gathers them from all objects.
  ///
  /// Change nothing here: ``willSave()`` is the place for that.
  open func validateForInsert() throws {}

  /// Called before changes of the object are written by a save; see ``validateForInsert()``.
  open func validateForUpdate() throws {}

  /// Called before the object is deleted by a save; see ``validateForInsert()``.
  open func validateForDelete() throws {}
}

@available(
  *,
  unavailable,
  message: "An object belongs to the isolation of its context. Pass its objectID, which is Sendable."
)
extension ManagedObject: Sendable {}

/// What a managed object is made from. Only the framework makes one.
public struct ManagedObjectSeed {
  /// The binding makes its objects, so the seed needs no counted reference to it.
  let binding: Unmanaged<EntityBinding>
  let content: ObjectContent
  let rowID: RowID
  let state: ObjectState
}

extension ManagedObject {
  final var binding: EntityBinding {
    get { unmanagedBinding.takeUnretainedValue() }
    set {
      ProgrammerError.check(!state.contains(.held), "An object that a binding holds gets no other binding.")
      let old = unmanagedBinding
      unmanagedBinding = Unmanaged.passRetained(newValue)
      old.release()
    }
  }

  /// Lets the object hold its binding, which holds the object no longer.
  final func ownBinding() {
    guard state.contains(.held) else { return }
    state.remove(.held)
    // An orphaned binding is held by each object that it has held.
    if !withBinding(\.isOrphaned) { _ = unmanagedBinding.retain() }
  }

  /// Lets the object be held by its binding, and hold it no longer.
  final func disownBinding() {
    guard !state.contains(.held) else { return }
    state.insert(.held)
    unmanagedBinding.release()
  }

  /// Calls `body` with the binding without counting a reference to it, for what each value that is read goes through.
  @inline(__always)
  final func withBinding<Result>(_ body: (EntityBinding) -> Result) -> Result {
    unmanagedBinding._withUnsafeGuaranteedRef(body)
  }
}

extension ManagedObject {
  /// The name of the object, which is Sendable. A save makes it permanent, and a conversion of the store may give the record another, which
  /// this is at once.
  public final var objectID: ManagedObjectID {
    withBinding { $0.followConversions() }
    return knownID
  }

  /// The name of the object as far as its context has followed conversions of stores.
  final var knownID: ManagedObjectID {
    if case .changed(let changes) = content, let newID = changes.newID { return newID }
    return withBinding { binding in
      // An object that its context has let go of is not told what has become of its row.
      if state.contains(.detached), let group { return binding.objectID(rowID, in: group) }
      return binding.objectID(rowID)
    }
  }

  /// The entity of the object.
  public final var entity: EntityDescription { binding.entity }

  /// The context of the object; nil once that is gone, was reset, was rolled back before the object was first saved, or has saved
  /// the object's deletion.
  public final var managedObjectContext: ManagedObjectContext? {
    state.contains(.detached) ? nil : binding.context
  }

  /// Whether the object will be inserted by the next save.
  public final var isInserted: Bool { state.contains(.inserted) }

  /// Whether changes of the object will be written by the next save.
  public final var isUpdated: Bool { state.contains(.updated) }

  /// Whether the object will be deleted by the next save, has been by one, or turned out to be gone from its store. A record that comes
  /// back, since the parent that had deleted it was rolled back, brings its object back.
  public final var isDeleted: Bool { !state.isDisjoint(with: [.deleted, .inaccessible]) }

  /// Whether the object's values have not been read yet. They are when one is asked for.
  public final var isFault: Bool {
    if case .fault = content { true } else { false }
  }

  /// Whether the next save has something to do for the object.
  public final var hasChanges: Bool {
    !state.contains(.detached) && !state.isDisjoint(with: [.inserted, .updated, .deleted])
  }
}

extension ManagedObject: Hashable {
  /// Two objects are equal when they are the same: a context has one object for each record.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Hashes the identity of the object.
  public final func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

extension ManagedObject: Identifiable {
  /// Objects are told apart by their ``objectID``.
  public typealias ID = ManagedObjectID
}

// Here and not in the class, so that a subclass may have a property of its own that is called `id`, of any type.
extension Identifiable where Self: ManagedObject {
  /// The ``ManagedObject/objectID``, so that a view can take a list of objects: `ForEach(list.items.objects) { … }`.
  ///
  /// A save gives a new object a permanent id. Call ``ManagedObjectContext/obtainPermanentIDs(for:)`` before, if a view
  /// must not take the object for another one then. If a class has a property `id` of its own, `object.id` is that,
  /// and views go by the ``ManagedObject/objectID`` all the same.
  public var id: ManagedObjectID { objectID }
}

extension ManagedObject: CustomStringConvertible {
  /// The class and the id. Values are left out: they may be private.
  public var description: String { "\(type(of: self)) \(objectID)" }
}

// MARK: ObjectState

/// What a managed object is at the moment, beside its values.
struct ObjectState: OptionSet {
  let rawValue: UInt16

  static let inserted = ObjectState(rawValue: 1)
  static let updated = ObjectState(rawValue: 2)
  static let deleted = ObjectState(rawValue: 4)
  /// The context has let the object go: its deletion was saved, its insertion was undone, or the context was reset.
  static let detached = ObjectState(rawValue: 8)
  /// The record was gone when the object wanted to read it.
  static let inaccessible = ObjectState(rawValue: 16)
  /// What is set now is not a change: the object is in ``ManagedObject/awakeFromFetch()``.
  static let awaking = ObjectState(rawValue: 32)
  /// The binding finds the object by its row.
  static let registered = ObjectState(rawValue: 64)
  /// An undo has taken the object's insertion back.
  static let uninserted = ObjectState(rawValue: 128)
  /// The binding holds the object, and the object does not hold the binding.
  static let held = ObjectState(rawValue: 512)
  /// The deletion of the object is under way: it is in ``ManagedObject/prepareForDeletion()``.
  static let deleting = ObjectState(rawValue: 256)
  /// The record could not be read yet: nobody knows whether it is there.
  static let unread = ObjectState(rawValue: 1024)
}

// MARK: SnapshotEventType

/// What has changed an object's values, beside setting them.
public struct SnapshotEventType: OptionSet, Sendable, Hashable {
  /// The bits of the events.
  public let rawValue: Int

  /// Makes events of bits.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// The insertion of the object was undone.
  public static let undoInsertion = SnapshotEventType(rawValue: 1)
  /// The deletion of the object was undone.
  public static let undoDeletion = SnapshotEventType(rawValue: 2)
  /// Changes of the object were undone.
  public static let undoUpdate = SnapshotEventType(rawValue: 4)
  /// The context was rolled back.
  public static let rollback = SnapshotEventType(rawValue: 8)
  /// The object took the newest values of its store under its own changes.
  public static let refresh = SnapshotEventType(rawValue: 16)
}
