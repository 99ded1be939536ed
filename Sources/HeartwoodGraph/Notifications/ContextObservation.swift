/// Something that happens in a context, and that can be observed: ``ManagedObjectContext/observe(_:_:)``.
public enum ContextEvent: Sendable, Hashable {
  /// The context is about to be saved; the changes are those to be saved.
  case willSave
  /// The context has saved; new objects have their permanent ids.
  case didSave
  /// Objects have been inserted, changed, deleted or refreshed. See ``ManagedObjectContext/objectsDidChange``.
  case objectsDidChange
}

/// An observation of a context, which lasts as long as somebody holds it. The last reference may be released on any thread.
public final class ContextObservation {
  fileprivate let event: ContextEvent
  fileprivate let body: (ContextChanges) -> Void

  init(_ observers: ContextObservers, _ event: ContextEvent, _ body: @escaping (ContextChanges) -> Void) {
    self.event = event
    self.body = body
    observers.add(self)
  }
}

/// The observations of a context, in the order in which they began. It holds none of them.
final class ContextObservers {
  private struct Member {
    weak var observation: ContextObservation?
    let event: ContextEvent
  }

  private var members: [Member] = []

  func hasObservers(of event: ContextEvent) -> Bool {
    members.contains { $0.event == event && $0.observation != nil }
  }

  fileprivate func add(_ observation: ContextObservation) {
    members.removeAll { $0.observation == nil }
    members.append(Member(observation: observation, event: observation.event))
  }

  func tell(_ changes: ContextChanges, _ event: ContextEvent) {
    for member in members where member.event == event { member.observation?.body(changes) }
  }
}
