public import HeartwoodModel
import HeartwoodStore

/// An object in a context that represents a record of a store, or one that is to be saved.
///
/// Use the class itself, with values by name, or a subclass with typed accessors:
///
///     final class ToDo: ManagedObject {
///       static let memoKey = AttributeKey<String?>("memo")
///       var memo: String? {
///         get { self[Self.memoKey] }
///         set { self[Self.memoKey] = newValue }
///       }
///     }
///
/// An object belongs to its context and to the isolation in which the context was made. To refer to it in another
/// context, pass its ``objectID``. An object does not keep its context alive.
///
/// Its values are read when the first one is asked for; until then it is a fault (``isFault``). Getters cannot throw:
/// if the record cannot be read, they return what is known, and the failure is added to
/// ``ManagedObjectContext/readFailures``. Use ``read(_:)-(AttributeKey<Value>)`` to have it thrown.
open class ManagedObject {
  /// The shared data of the object's entity, store and context. An object in a slot of its binding does not retain the
  /// binding, which saves each fault an atomic count; every other object does (``EntityBinding/hold(_:at:)``).
  private final var unmanagedBinding: Unmanaged<EntityBinding>
  final var content: ObjectContent
  /// The row of the record; meaningless as long as no store has the object.
  final var rowID: RowID
  final var state: ObjectState

  /// Creates the object of a record, or a new one. Only the framework calls this; to make a new object, use
  /// ``ManagedObjectContext/insert(_:)``.
  ///
  /// A subclass that declares initializers of its own must keep it. Neither here nor in its `deinit` may it use the
  /// context. The `deinit` runs when the context notices that the object is no longer referenced, or, if the context is
  /// gone, on the thread that releases the last reference.
  public required init(_ seed: ManagedObjectSeed) {
    unmanagedBinding = seed.binding
    if !seed.state.contains(.held) { _ = seed.binding.retain() }
    content = seed.content
    rowID = seed.rowID
    state = seed.state
  }

  /// This runs on any thread that releases the last reference, so it changes nothing that the context uses.
  deinit {
    let isOwner = !state.contains(.held) || withBinding(\.isOrphaned)
    if isOwner { unmanagedBinding.release() }
  }

  /// The name of the entity whose objects are of this class. By default, it is the name of the class.
  open class var entityName: String { String(describing: self) }

  /// The entity of the class's objects, with the properties that the class adds to those of its superclass; nil if the
  /// model is made elsewhere. ``ManagedObjectModel/init(of:configurations:versionIdentifiers:fetchRequestTemplates:)``
  /// makes a model of such classes:
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
  /// The macros of `HeartwoodMacros` generate it.
  open class var entityDefinition: EntityDefinition? {
    get throws { nil }
  }

  /// Returns the name of the property that the accessor at `keyPath` reads, so that `#Predicate` can be used for
  /// fetches; nil if it reads none.
  ///
  /// Swift does not provide the name of every accessor at run time, so override this:
  ///
  ///     override class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
  ///       switch keyPath {
  ///       case \ToDo.isDone: doneKey.name
  ///       case \ToDo.memo: memoKey.name
  ///       default: super.propertyName(forKeyPath: keyPath)
  ///       }
  ///     }
  ///
  /// Conditions by keys do not need it: `ToDo.doneKey == true`.
  open class func propertyName(forKeyPath keyPath: AnyKeyPath) -> String? {
    let parts = keyPath.debugDescription.split(separator: ".")
    // `\ToDo.memo` for one accessor; the name of the class may have dots of its own.
    guard let name = parts.last, parts.count > 1, name.first?.isLetter ?? false || name.first == "_" else { return nil }
    return name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? String(name) : nil
  }

  // MARK: Life cycle

  /// Called once when the object has been inserted, before anything else changes it. Set initial values here that the
  /// model's default values cannot express:
  ///
  ///     override func awakeFromInsert() {
  ///       super.awakeFromInsert()
  ///       creationDate = Date()
  ///     }
  ///
  /// It is called in the context in which the object is made, and not again in the parents of that context.
  open func awakeFromInsert() {}

  /// Called when the object has taken its values from the store, before they are read. Set transient values here.
  ///
  /// Values that are set here are visible but not saved, and do not count as changes. Do not change relationships: that
  /// would change the objects at the other end.
  open func awakeFromFetch() {}

  /// Called when values of the object have changed through an undo, a redo, a rollback or a refresh instead of a
  /// setter: set transient values that depend on others here. As in ``awakeFromFetch()``, values that are set here are
  /// visible but not saved.
  ///
  /// - Parameter events: the events that have changed the values.
  open func awake(fromSnapshotEvents events: SnapshotEventType) {}

  /// Called once when the object is about to be deleted, while its relationships still have their destinations. It may
  /// change, insert and delete other objects; the delete rules are applied to the relationships as it leaves them.
  open func prepareForDeletion() {}

  /// Called when the object is about to be inserted, updated or deleted by a save, before it is validated.
  ///
  /// Changes that are made here are saved too, and `willSave` is called again for the changed objects, including this
  /// one: change a value only if it differs from the wanted one, or use ``subscript(primitive:)``, which does not count
  /// as a change here. Do not save from here.
  open func willSave() {}

  /// Called when a save has inserted, updated or deleted the object, after the save is complete. Changes made here
  /// belong to the next save.
  open func didSave() {}

  /// Called when a refresh is about to make the object a fault. Its values can still be read.
  open func willTurnIntoFault() {}

  /// Called when a refresh has made the object a fault. Release values that were derived from the object's values here.
  open func didTurnIntoFault() {}

  // MARK: Validation

  /// Validators of single properties, in addition to the rules of the model. They run in each save that inserts or
  /// updates an object of the class, and in ``validateValue(_:forKey:)``. A subclass must include those of its
  /// superclass.
  open class var propertyValidators: [PropertyValidator] { [] }

  /// Called before a save inserts the object. To reject the object, throw a ``validationFault(_:_:)``, several of them
  /// in a `PersistenceError.validationFailed(_:)`, or any other error. A save collects the errors of all objects.
  ///
  /// Do not change anything here; use ``willSave()`` for that.
  open func validateForInsert() throws {}

  /// Called before a save writes changes of the object. It is not called for objects that the save inserts or deletes.
  /// See ``validateForInsert()`` for how to reject the object.
  open func validateForUpdate() throws {}

  /// Called before a save deletes the object, for example to keep objects that are still in use. See
  /// ``validateForInsert()`` for how to reject the deletion.
  open func validateForDelete() throws {}
}

@available(
  *,
  unavailable,
  message: "An object belongs to the isolation of its context. Pass its objectID, which is Sendable."
)
extension ManagedObject: Sendable {}

/// The argument of a managed object's initializer. Only the framework makes one.
public struct ManagedObjectSeed {
  /// The binding creates its objects, so the seed needs no counted reference to it.
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

  /// Makes the object own its binding instead of the reverse.
  final func ownBinding() {
    guard state.contains(.held) else { return }
    state.remove(.held)
    // Each object that an orphaned binding owned owns the binding now.
    if !withBinding(\.isOrphaned) { _ = unmanagedBinding.retain() }
  }

  /// Makes the binding own the object instead of the reverse.
  final func disownBinding() {
    guard !state.contains(.held) else { return }
    state.insert(.held)
    unmanagedBinding.release()
  }

  /// Calls `body` with the binding without counting a reference to it, since every read of a value goes through here.
  @inline(__always)
  final func withBinding<Result>(_ body: (EntityBinding) -> Result) -> Result {
    unmanagedBinding._withUnsafeGuaranteedRef(body)
  }
}

extension ManagedObject {
  /// The id of the object, which is Sendable. A save makes it permanent. A conversion of the store may give the record
  /// another id, which this property returns immediately.
  public final var objectID: ManagedObjectID {
    withBinding { $0.followConversions() }
    return knownID
  }

  /// The id of the object as far as its context has followed conversions of stores.
  final var knownID: ManagedObjectID {
    if case .changed(let changes) = content, let newID = changes.newID { return newID }
    return withBinding { binding in
      // The context no longer updates the row of an object that it has released.
      if state.contains(.detached), let group { return binding.objectID(rowID, in: group) }
      return binding.objectID(rowID)
    }
  }

  /// The entity of the object, which may be a subentity of the one that was fetched. O(1).
  public final var entity: EntityDescription { binding.entity }

  /// The context of the object; nil if it was deallocated or reset, or has rolled the object back before its first
  /// save, or has saved the object's deletion.
  public final var managedObjectContext: ManagedObjectContext? {
    state.contains(.detached) ? nil : binding.context
  }

  /// Whether the next save will insert the object.
  public final var isInserted: Bool { state.contains(.inserted) }

  /// Whether the next save will write changes of the object. It is false for an object that the save will insert.
  public final var isUpdated: Bool { state.contains(.updated) }

  /// Whether the next save will delete the object, a save has deleted it, or its record turned out to be gone from the
  /// store. If the record comes back, because the parent that had deleted it was rolled back, so does its object.
  public final var isDeleted: Bool { !state.isDisjoint(with: [.deleted, .inaccessible]) }

  /// Whether the object's values have not been read yet. Asking for a value reads them.
  public final var isFault: Bool {
    if case .fault = content { true } else { false }
  }

  /// Whether the next save will insert, update or delete the object.
  public final var hasChanges: Bool {
    !state.contains(.detached) && !state.isDisjoint(with: [.inserted, .updated, .deleted])
  }
}

extension ManagedObject: Hashable {
  /// Returns whether both are the same object: a context has one object for each record.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Hashes the identity of the object.
  public final func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

extension ManagedObject: Identifiable {
  /// Objects are identified by their ``objectID``.
  public typealias ID = ManagedObjectID
}

// In an extension instead of the class, so that a subclass may have a property of its own called `id`, of any type.
extension Identifiable where Self: ManagedObject {
  /// The ``ManagedObject/objectID``, so that a view can take a list of objects: `ForEach(list.items.objects) { … }`.
  ///
  /// A save gives a new object a permanent id. If a view must not treat the object as another one then, call
  /// ``ManagedObjectContext/obtainPermanentIDs(for:)`` before. If a class has a property `id` of its own, `object.id`
  /// is that property, and views still use the ``ManagedObject/objectID``.
  public var id: ManagedObjectID { objectID }
}

extension ManagedObject: CustomStringConvertible {
  /// The class and the id. Values are not included: they may be private.
  public var description: String { "\(type(of: self)) \(objectID)" }
}

// MARK: ObjectState

/// The state of a managed object, besides its values.
struct ObjectState: OptionSet {
  let rawValue: UInt16

  static let inserted = ObjectState(rawValue: 1)
  static let updated = ObjectState(rawValue: 2)
  static let deleted = ObjectState(rawValue: 4)
  /// The context has released the object: its deletion was saved, its insertion was undone, or the context was reset.
  static let detached = ObjectState(rawValue: 8)
  /// The record was gone when the object was about to read it.
  static let inaccessible = ObjectState(rawValue: 16)
  /// Setting a value now is not a change: the object is in ``ManagedObject/awakeFromFetch()``.
  static let awaking = ObjectState(rawValue: 32)
  /// The binding finds the object by its row.
  static let registered = ObjectState(rawValue: 64)
  /// An undo has reverted the object's insertion.
  static let uninserted = ObjectState(rawValue: 128)
  /// The binding owns the object, and the object does not own the binding.
  static let held = ObjectState(rawValue: 512)
  /// The deletion of the object is under way: it is in ``ManagedObject/prepareForDeletion()``.
  static let deleting = ObjectState(rawValue: 256)
  /// The record could not be read yet: it is unknown whether it exists.
  static let unread = ObjectState(rawValue: 1024)
}

// MARK: SnapshotEventType

/// Events other than setters that change an object's values.
public struct SnapshotEventType: OptionSet, Sendable, Hashable {
  /// The bit mask of the events.
  public let rawValue: Int

  /// Creates a set of events from a bit mask.
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
