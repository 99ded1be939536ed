public import HeartwoodModel
import HeartwoodStore
public import Observation

/// A wrapper that makes an object observable for the Observation framework, however it changes.
///
///     @State private var todo: Observed<ToDo>
///     var body: some View {
///       TextField("Memo", text: $todo.memo)
///       Text(todo.list?.name ?? "")
///     }
///
/// It has the properties of its object, but it observes only that the object as a whole has changed: by a setter, a
/// merged save of another context, a refresh, an undo or a rollback. Changes through the wrapper are visible
/// immediately, all others when the context reports them (``ManagedObjectContext/objectsDidChange``): in a
/// ``ViewContext``, as soon as the main actor is free.
///
/// Objects are not observable by themselves, because each read of each property would take twice as long, observed or
/// not. A wrapper has these costs only for its users: an allocation, and a check at each event of the context. It
/// belongs to the isolation of its object.
@dynamicMemberLookup
public final class Observed<Object: ManagedObject>: Observable, Identifiable {
  private let managedObject: Object
  private let registrar = ObservationRegistrar()
  private var observation: ContextObservation?

  /// Creates an observable wrapper for an object. An object can be wrapped any number of times.
  public init(_ object: Object) {
    managedObject = object
    observation = object.managedObjectContext?.observe(.objectsDidChange) { [weak self] in self?.take($0) }
  }

  /// The object. Code that reads it here is notified of the object's changes.
  public var object: Object {
    registrar.access(self, keyPath: \Observed.object)
    return managedObject
  }

  /// The id of the object.
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
