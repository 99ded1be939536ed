public import HeartwoodModel
import HeartwoodStore
public import Observation

/// An object as the Observation framework sees it: what reads it is told when the object changes, by whatever way.
///
///     @State private var todo: Observed<ToDo>
///     var body: some View {
///       TextField("Memo", text: $todo.memo)
///       Text(todo.list?.name ?? "")
///     }
///
/// It has the properties of its object, of which it knows no more than that the object has changed: by a setter, a save
/// of another context that was merged, a refresh, an undo or a rollback. What is set through it is seen at once,
/// everything else when the context tells it (``ManagedObjectContext/objectsDidChange``): in a ``ViewContext`` as soon
/// as the main actor is free.
///
/// Objects are not observable by themselves, because each read of each property would take twice as long, observed or
/// not. This costs those alone that use it: an allocation, and a look at each event of the context. It belongs to the
/// isolation of its object.
@dynamicMemberLookup
public final class Observed<Object: ManagedObject>: Observable, Identifiable {
  private let managedObject: Object
  private let registrar = ObservationRegistrar()
  private var observation: ContextObservation?

  /// Makes an object one that can be observed. It may be wrapped any number of times.
  public init(_ object: Object) {
    managedObject = object
    observation = object.managedObjectContext?.observe(.objectsDidChange) { [weak self] in self?.take($0) }
  }

  /// The object. What reads it here is told of the object's changes.
  public var object: Object {
    registrar.access(self, keyPath: \Observed.object)
    return managedObject
  }

  /// The object's id.
  public var id: ManagedObjectID { managedObject.objectID }

  /// A property of the object.
  public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value { object[keyPath: keyPath] }

  /// A property of the object, which can be set.
  public subscript<Value>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>) -> Value {
    get { object[keyPath: keyPath] }
    set { registrar.withMutation(of: self, keyPath: \Observed.object) { managedObject[keyPath: keyPath] = newValue } }
  }

  private func take(_ changes: ContextChanges) {
    let id = managedObject.objectID
    let changed = [
      changes.updatedObjectIDs, changes.refreshedObjectIDs, changes.insertedObjectIDs, changes.deletedObjectIDs,
    ]
    if changed.contains(where: { $0.contains(id) }) {
      registrar.withMutation(of: self, keyPath: \Observed.object) {}
    }
  }
}
