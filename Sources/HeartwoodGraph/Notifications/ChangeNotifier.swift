import HeartwoodModel
import HeartwoodStore

/// Tells those who listen to a context what becomes of its objects and what it saves.
///
/// What becomes of objects is gathered, and told once an event ends. It holds none of those who listen.
final class ChangeNotifier {
  /// Names the context in what is told.
  let identifier = ContextIdentifier()
  let observers = ContextObservers()
  let liveResults = LiveResultsList()
  let saveBroadcast = ChangeBroadcast()
  private let changeBroadcast = ChangeBroadcast()
  private let notes: ContextNotes
  /// What listeners have not been told yet.
  private var event = ChangeEvent()
  /// Observations that last as long as the context.
  private var ownObservations: [ContextObservation] = []
  /// Makes the context catch up soon, in its own isolation, with what has come from others; nil if nobody else can
  /// reach it.
  private(set) var wake: (@Sendable () -> Void)?

  init(_ notes: ContextNotes) {
    self.notes = notes
  }
}

// MARK: Who listens

extension ChangeNotifier {
  /// Whether somebody listens to changes of objects.
  var areObjectChangesHeard: Bool {
    observers.hasObservers(of: .objectsDidChange) || changeBroadcast.isHeard || !liveResults.isEmpty
  }

  /// What becomes of objects, beginning with the next event.
  func listenToObjectChanges() -> Mailbox<ContextChanges> {
    notes.noteEvents(true)
    return changeBroadcast.listen()
  }

  /// Observes something as long as nobody lets go of what is returned.
  func observe(_ event: ContextEvent, _ body: @escaping (ContextChanges) -> Void) -> ContextObservation {
    if event == .objectsDidChange { notes.noteEvents(true) }
    return ContextObservation(observers, event, body)
  }

  /// Holds an observation as long as the context.
  func hold(_ observation: ContextObservation) { ownObservations.append(observation) }

  /// Keeps results up to date from now on.
  func add(_ results: any LiveResults) {
    liveResults.insert(results)
    notes.noteEvents(true)
  }

  /// Sets what makes the context catch up with others.
  func setWake(_ body: @escaping @Sendable () -> Void) { wake = body }
}

// MARK: Changes of objects

extension ChangeNotifier {
  /// Whether there is something that listeners have not been told.
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

  /// Takes out objects that have been told of.
  func forget(_ objects: some Sequence<ManagedObject>) { event.forget(objects) }

  /// Forgets what has not been told.
  func forgetEvent() { event = ChangeEvent() }

  /// Tells what has changed since listeners were last told.
  ///
  /// - Parameter changes: what that is added to.
  func tellEvent(in changes: ContextChanges) {
    let ended = event
    event = ChangeEvent()
    notes.noteEvents(areObjectChangesHeard)
    liveResults.tell(LiveEvent(objects: ended.objects))
    if notes.notesChangeEvents { tellObjectChanges(ended.told(in: changes)) }
  }

  /// Tells what became of objects.
  func tellObjectChanges(_ changes: ContextChanges) {
    if changes.isEmpty || !areObjectChangesHeard { return }
    observers.tell(changes, .objectsDidChange)
    changeBroadcast.send(changes)
  }
}

// MARK: MergeInbox

/// What others save, for a context that merges it by itself. Each save is taken once.
final class MergeInbox {
  private var mailbox: Mailbox<ContextChanges>?
  private var seen: UInt64 = 0
}

extension MergeInbox {
  var isOpen: Bool { mailbox != nil }

  /// Begins to gather what is saved.
  ///
  /// - Parameter wake: called when something comes after all was taken.
  func open(_ broadcast: ChangeBroadcast, wake: (@Sendable () -> Void)?) {
    mailbox = broadcast.listen(wake: wake)
    seen = 0
  }

  func close() {
    mailbox = nil
    seen = 0
  }

  /// Takes what has come since the last time.
  func takeNew() -> [ContextChanges] {
    guard let mailbox else { return [] }
    let newest = mailbox.arrivals.current
    guard newest != seen else { return [] }
    seen = newest
    return mailbox.takeAll()
  }
}
