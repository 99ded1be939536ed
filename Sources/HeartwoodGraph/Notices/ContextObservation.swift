/// Something that happens in a context, and that can be observed: ``ManagedObjectContext/observe(_:_:)``.
public enum ContextEvent: Sendable, Hashable {
  /// The context is about to be saved; the changes are those to be saved.
  case willSave
  /// The context has saved; new objects have their permanent ids.
  case didSave
  /// Objects have been inserted, changed, deleted or refreshed. See ``ManagedObjectContext/objectsDidChange``.
  case objectsDidChange
}

/// An observation of a context, which lasts as long as somebody holds it.
public final class ContextObservation {
  private let observers: ContextObservers
  private let event: ContextEvent
  private let number: Int

  init(_ observers: ContextObservers, _ event: ContextEvent, _ body: @escaping (ContextChanges) -> Void) {
    self.observers = observers
    self.event = event
    number = observers.add(body, event)
  }

  deinit {
    observers.remove(number, event)
  }
}

/// Those who observe a context, in the order in which they began.
final class ContextObservers {
  private var bodies: [ContextEvent: [(number: Int, body: (ContextChanges) -> Void)]] = [:]
  private var lastNumber = 0

  func hasObservers(of event: ContextEvent) -> Bool { bodies[event]?.isEmpty == false }

  func add(_ body: @escaping (ContextChanges) -> Void, _ event: ContextEvent) -> Int {
    lastNumber += 1
    bodies[event, default: []].append((lastNumber, body))
    return lastNumber
  }

  func remove(_ number: Int, _ event: ContextEvent) {
    bodies[event]?.removeAll { $0.number == number }
  }

  func tell(_ changes: ContextChanges, _ event: ContextEvent) {
    for observer in bodies[event] ?? [] { observer.body(changes) }
  }
}
