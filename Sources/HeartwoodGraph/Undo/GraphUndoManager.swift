import HeartwoodModel

/// Records changes of contexts, and undoes and redoes them.
///
/// Assign one to a context, and it records the changes of the context's events automatically: insertions, deletions
/// with their consequences, values and relationships.
///
///     context.undoManager = GraphUndoManager()
///     todo.memo = "Bread"
///     context.undoManager?.setActionName("Change Memo")
///     context.undo()
///
/// One undo reverts one group. Without explicit groups, a group is one event: all changes up to the context's
/// ``ManagedObjectContext/processPendingChanges()``, which a save calls too. No run loop ends an event automatically:
/// an application calls this method at the end of each user action.
///
/// Several contexts may share one undo manager; it belongs to their isolation. It retains neither the contexts nor the
/// targets of actions.
public final class GraphUndoManager {
  /// Whether everything that is registered in one event, outside of a group, forms one group. If not, each registration
  /// forms its own.
  public var groupsByEvent = true
  /// The greatest number of groups that can be undone; 0 stands for any number. The oldest ones are removed.
  public var levelsOfUndo = 0 {
    didSet { forgetOldest() }
  }
  private var undoGroups: [UndoGroup] = []
  private var redoGroups: [UndoGroup] = []
  /// The groups that have begun and not ended, the outermost first.
  private var openGroups: [UndoGroup] = []
  /// Whether a registration has begun the open group, which then ends with the event.
  private var isEventGroupOpen = false
  private var disableCount = 0
  private var activity = Activity.none
  private var contexts: [Participant] = []

  private enum Activity {
    case none, undoing, redoing
  }

  private struct Participant {
    private(set) weak var context: ManagedObjectContext?
  }

  /// Creates an undo manager with nothing to undo.
  public init() {}
}

@available(*, unavailable, message: "An undo manager belongs to the isolation of its contexts.")
extension GraphUndoManager: Sendable {}

// MARK: Groups

extension GraphUndoManager {
  /// The number of groups that have begun and not ended.
  public var groupingLevel: Int { openGroups.count }

  /// Begins a group: everything that is registered until ``endUndoGrouping()`` is undone together. A group inside
  /// another becomes part of it.
  ///
  /// This ends the current event.
  public func beginUndoGrouping() {
    collectChanges()
    endEvent()
    openGroups.append(UndoGroup())
  }

  /// Ends the innermost open group.
  public func endUndoGrouping() {
    collectChanges()
    ProgrammerError.check(
      !openGroups.isEmpty && !isEventGroupOpen,
      "No group was begun. Call beginUndoGrouping() before endUndoGrouping()."
    )
    endGroup()
  }

  /// Ends the event: later changes are not undone together with earlier ones.
  func endEvent() {
    guard isEventGroupOpen else { return }
    isEventGroupOpen = false
    endGroup()
  }

  private func endGroup() {
    let group = openGroups.removeLast()
    if group.actions.isEmpty { return }
    guard let outer = openGroups.indices.last else { return keep(group) }
    openGroups[outer].actions += group.actions
    if openGroups[outer].name.isEmpty { openGroups[outer].name = group.name }
  }

  private func keep(_ group: UndoGroup) {
    undoGroups.append(group)
    forgetOldest()
  }

  private func forgetOldest() {
    guard levelsOfUndo > 0 else { return }
    undoGroups.removeFirst(max(0, undoGroups.count - levelsOfUndo))
    redoGroups.removeFirst(max(0, redoGroups.count - levelsOfUndo))
    forgetIDs()
  }
}

// MARK: Registration

extension GraphUndoManager {
  /// Whether registrations are recorded.
  public var isUndoRegistrationEnabled: Bool { disableCount == 0 }

  /// Stops recording: later changes cannot be undone, until ``enableUndoRegistration()`` has been called as often as
  /// this.
  public func disableUndoRegistration() {
    collectChanges()
    disableCount += 1
  }

  /// Reverts one call of ``disableUndoRegistration()``.
  public func enableUndoRegistration() {
    collectChanges()
    ProgrammerError.check(
      disableCount > 0,
      "Registration is enabled. Call disableUndoRegistration() before enabling it again."
    )
    disableCount -= 1
  }

  /// Registers an action that reverts something which the application has done outside of any context.
  ///
  /// A handler that undoes registers its redo in the same way. A new registration removes everything that could be
  /// redone.
  ///
  /// - Parameter target: the argument of `handler`. It is not retained: after it was deallocated, the action does
  ///   nothing.
  public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
    // The changes of contexts so far came first.
    collectChanges()
    register(UndoAction(target, handler))
  }

  func register(_ action: UndoAction) {
    guard isUndoRegistrationEnabled else { return }
    if activity == .none { redoGroups = [] }
    if openGroups.isEmpty {
      guard groupsByEvent else { return keep(UndoGroup(actions: [action])) }
      openGroups.append(UndoGroup())
      isEventGroupOpen = true
    }
    openGroups[openGroups.count - 1].actions.append(action)
  }

  /// Registers a consequence of earlier changes, to be undone with the newest group.
  func registerWithNewest(_ action: UndoAction) {
    guard isUndoRegistrationEnabled, openGroups.isEmpty, let newest = undoGroups.indices.last else {
      return register(action)
    }
    undoGroups[newest].actions.append(action)
  }

  /// Returns everything that was registered, in its order, and removes it.
  func takeActions() -> [UndoAction] {
    let actions = (undoGroups + openGroups).flatMap(\.actions)
    (undoGroups, openGroups, isEventGroupOpen) = ([], [], false)
    return actions
  }

  /// Removes everything that could be undone or redone. Open groups stay open, and are empty.
  public func removeAllActions() {
    collectChanges()
    removeActions { _ in true }
  }

  /// Removes the actions of `target`.
  public func removeAllActions(withTarget target: AnyObject) {
    collectChanges()
    removeActions { $0 === target }
  }

  private func removeActions(_ isForgotten: (AnyObject?) -> Bool) {
    for index in openGroups.indices { openGroups[index].actions.removeAll { isForgotten($0.target) } }
    remove(isForgotten, from: &undoGroups)
    remove(isForgotten, from: &redoGroups)
    forgetIDs()
  }

  private func remove(_ isForgotten: (AnyObject?) -> Bool, from groups: inout [UndoGroup]) {
    for index in groups.indices { groups[index].actions.removeAll { isForgotten($0.target) } }
    groups.removeAll { $0.actions.isEmpty }
  }
}

// MARK: Undo and redo

extension GraphUndoManager {
  /// Whether there is something to undo.
  public var canUndo: Bool {
    collectChanges()
    return !undoGroups.isEmpty || openGroups.contains { !$0.actions.isEmpty }
  }

  /// The number of groups that can be undone.
  public var undoCount: Int {
    collectChanges()
    return undoGroups.count + (openGroups.isEmpty ? 0 : 1)
  }

  /// The number of groups that can be redone.
  public var redoCount: Int {
    collectChanges()
    return redoGroups.count
  }

  /// Whether there is something to redo.
  public var canRedo: Bool {
    collectChanges()
    return !redoGroups.isEmpty
  }

  /// Whether ``undo()`` is under way.
  public var isUndoing: Bool { activity == .undoing }

  /// Whether ``redo()`` is under way.
  public var isRedoing: Bool { activity == .redoing }

  /// Ends the event and undoes the newest group, or does nothing if there is none.
  ///
  /// Saved changes are not reverted in the stores: undoing them makes changes, which can be saved.
  public func undo() {
    prepare()
    guard let group = undoGroups.popLast() else { return }
    if let inverse = run(group, .undoing) { redoGroups.append(inverse) }
  }

  /// Redoes what the last ``undo()`` reverted, or does nothing if there is nothing or something was changed since.
  public func redo() {
    prepare()
    guard let group = redoGroups.popLast() else { return }
    if let inverse = run(group, .redoing) { undoGroups.append(inverse) }
  }

  private func prepare() {
    ProgrammerError.check(activity == .none, "An action that undoes or redoes must not call undo() or redo() itself.")
    for participant in contexts { participant.context?.finishSaveUnderWay() }
    collectChanges()
    // Undoing uses the present ids of records.
    for participant in contexts { participant.context?.followStores() }
    endEvent()
    ProgrammerError.check(openGroups.isEmpty, "A group is open. Call endUndoGrouping() before undoing or redoing.")
  }

  /// Runs the actions of a group, the last one first. The actions that they register revert them.
  private func run(_ group: UndoGroup, _ activity: Activity) -> UndoGroup? {
    self.activity = activity
    openGroups.append(UndoGroup(name: group.name))
    for action in group.actions.reversed() { action.run() }
    collectChanges()
    for context in contexts.compactMap(\.context) {
      RelationshipUpkeep(context).endUndo(of: group.actions.compactMap { $0.event(of: context) })
    }
    ProgrammerError.check(openGroups.count == 1, "An undo action must end the groups that it begins.")
    self.activity = .none
    let inverse = openGroups.removeLast()
    return inverse.actions.isEmpty ? nil : inverse
  }
}

// MARK: Names

extension GraphUndoManager {
  /// The application's name for the next undo; empty if it has none.
  public var undoActionName: String {
    collectChanges()
    return (openGroups.first ?? undoGroups.last)?.name ?? ""
  }

  /// The application's name for the next redo; empty if it has none.
  public var redoActionName: String {
    collectChanges()
    return redoGroups.last?.name ?? ""
  }

  /// Sets the name of the next undo: of the outermost open group, or of the newest.
  public func setActionName(_ name: String) {
    collectChanges()
    if !openGroups.isEmpty {
      openGroups[0].name = name
    } else if let newest = undoGroups.indices.last {
      undoGroups[newest].name = name
    }
  }
}

// MARK: Contexts

extension GraphUndoManager {
  func attach(_ context: ManagedObjectContext) {
    contexts.removeAll { $0.context == nil }
    contexts.append(Participant(context: context))
  }

  func detach(_ context: ManagedObjectContext) {
    contexts.removeAll { $0.context == nil || $0.context === context }
    removeActions { $0 === context }
  }

  /// Replaces the events of a context that can be undone or redone.
  func replaceEvents(of context: ManagedObjectContext, _ transform: (GraphEvent) -> GraphEvent) {
    func replace(in groups: inout [UndoGroup]) {
      for group in groups.indices {
        for index in groups[group].actions.indices where groups[group].actions[index].target === context {
          groups[group].actions[index].replaceEvent(transform)
        }
      }
    }
    replace(in: &undoGroups)
    replace(in: &redoGroups)
    replace(in: &openGroups)
  }

  /// Makes contexts that have kept many ids remove those to which nothing that can be undone or redone refers.
  private func forgetIDs() {
    // The actions that are being undone are in no group, and still refer to some.
    guard activity == .none else { return }
    for participant in contexts {
      guard let context = participant.context, let recorder = context.recorder, recorder.undoManager === self,
        recorder.hasManyIDs
      else { continue }
      let actions = (undoGroups + redoGroups + openGroups).flatMap(\.actions)
      recorder.forgetIDs(exceptIn: actions.compactMap { $0.event(of: context) })
    }
  }

  /// Makes contexts register their changes since the last registration.
  private func collectChanges() {
    for participant in contexts { participant.context?.registerPendingChanges() }
  }
}

// MARK: UndoAction

/// One action of an undo.
struct UndoAction {
  private enum Body {
    case handler((AnyObject) -> Void)
    case event(GraphEvent)
  }

  /// The target of the action. If it was deallocated, there is nothing to undo.
  private(set) weak var target: AnyObject?
  private var body: Body

  init<Target: AnyObject>(_ target: Target, _ handler: @escaping (Target) -> Void) {
    self.target = target
    self.body = .handler { target in
      if let target = target as? Target { handler(target) }
    }
  }

  init(_ context: ManagedObjectContext, reverting event: GraphEvent) {
    self.target = context
    self.body = .event(event)
  }

  func run() {
    guard let target else { return }
    switch body {
    case .handler(let handler): handler(target)
    case .event(let event): (target as? ManagedObjectContext)?.revert(event)
    }
  }

  /// Returns the event of `context` that is reverted, if it is one.
  func event(of context: ManagedObjectContext) -> GraphEvent? {
    guard target === context, case .event(let event) = body else { return nil }
    return event
  }

  /// Replaces the event that is reverted, if it is one.
  mutating func replaceEvent(_ transform: (GraphEvent) -> GraphEvent) {
    if case .event(let event) = body { body = .event(transform(event)) }
  }
}

/// The actions of one undo, in the order in which they were registered.
struct UndoGroup {
  var name = ""
  var actions: [UndoAction] = []
}
