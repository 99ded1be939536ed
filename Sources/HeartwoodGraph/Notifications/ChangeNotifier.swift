import HeartwoodModel
import HeartwoodStore

/// Notifies the observers of a context of the changes of its objects and of its saves.
///
/// Changes of objects are collected, and reported when an event ends. It retains no observer.
final class ChangeNotifier {
  /// The identifier of the context in its notifications.
  let identifier = ContextIdentifier()
  let observers = ContextObservers()
  let liveResults = LiveResultsList()
  let saveBroadcast = ChangeBroadcast()
  private let changeBroadcast = ChangeBroadcast()
  private let notes: ContextNotes
  /// The changes that were not reported yet.
  private var event = ChangeEvent()
  /// Observations that last as long as the context.
  private var ownObservations: [ContextObservation] = []
  /// Makes the context merge changes of others soon, in its own isolation; nil if others cannot reach it.
  private(set) var wake: (@Sendable () -> Void)?

  init(_ notes: ContextNotes) {
    self.notes = notes
  }
}

// MARK: Observers

extension ChangeNotifier {
  /// Whether there are observers of changes of objects.
  var areObjectChangesHeard: Bool {
    observers.hasObservers(of: .objectsDidChange) || changeBroadcast.isHeard || !liveResults.isEmpty
  }

  /// Returns the changes of objects, beginning with the next event.
  func listenToObjectChanges() -> Mailbox<ContextChanges> {
    notes.noteEvents(true)
    return changeBroadcast.listen()
  }

  /// Observes an event as long as the returned observation is retained.
  func observe(_ event: ContextEvent, _ body: @escaping (ContextChanges) -> Void) -> ContextObservation {
    if event == .objectsDidChange { notes.noteEvents(true) }
    return ContextObservation(observers, event, body)
  }

  /// Retains an observation as long as the context.
  func hold(_ observation: ContextObservation) { ownObservations.append(observation) }

  /// Keeps results up to date from now on.
  func add(_ results: any LiveResults) {
    liveResults.insert(results)
    notes.noteEvents(true)
  }

  /// Sets the function that makes the context merge changes of others.
  func setWake(_ body: @escaping @Sendable () -> Void) { wake = body }
}

// MARK: Changes of objects

extension ChangeNotifier {
  /// Whether there are changes that were not reported yet.
  var hasEvent: Bool { !event.isEmpty }

  @inline(never)
  func noteChange(of object: ManagedObject) { noteInEvent { $0.note(object) } }

  @inline(never)
  func noteInsertion(of object: ManagedObject) { noteInEvent { $0.noteInsertion(of: object) } }

  private func noteInEvent(_ body: (inout ChangeEvent) -> Void) {
    let isFirst = event.isEmpty
    body(&event)
    if isFirst { wake?() }
  }

  /// Removes objects that were reported already.
  func forget(_ objects: some Sequence<ManagedObject>) { event.forget(objects) }

  /// Discards the changes that were not reported yet.
  func forgetEvent() { event = ChangeEvent() }

  /// Reports the changes since the last report.
  ///
  /// - Parameter changes: the changes to which they are added.
  func tellEvent(in changes: ContextChanges) {
    let ended = event
    event = ChangeEvent()
    notes.noteEvents(areObjectChangesHeard)
    liveResults.tell(LiveEvent(objects: ended.objects))
    if notes.notesChangeEvents { tellObjectChanges(ended.told(in: changes)) }
  }

  /// Reports changes of objects.
  func tellObjectChanges(_ changes: ContextChanges) {
    if changes.isEmpty || !areObjectChangesHeard { return }
    observers.tell(changes, .objectsDidChange)
    changeBroadcast.send(changes)
  }
}

// MARK: MergeInbox

/// The saves of others, for a context that merges them automatically. Each save is taken once.
final class MergeInbox {
  private var mailbox: Mailbox<ContextChanges>?
  private var seen: UInt64 = 0
}

extension MergeInbox {
  var isOpen: Bool { mailbox != nil }

  /// Begins to collect saves.
  ///
  /// - Parameter wake: called when a save arrives after all were taken.
  func open(_ broadcast: ChangeBroadcast, wake: (@Sendable () -> Void)?) {
    mailbox = broadcast.listen(wake: wake)
    seen = 0
  }

  func close() {
    mailbox = nil
    seen = 0
  }

  /// Returns the saves since the last call.
  func takeNew() -> [ContextChanges] {
    guard let mailbox else { return [] }
    let newest = mailbox.arrivals.current
    guard newest != seen else { return [] }
    seen = newest
    return mailbox.takeAll()
  }
}
