import HeartwoodModel

/// Remembers how to take changes back, and how to make them again.
///
/// Give one to a context, and it registers by itself what its events have changed: insertions, deletions with all that they took
/// along, values and relationships.
///
///     context.undoManager = GraphUndoManager()
///     todo.memo = "Bread"
///     context.undoManager?.setActionName("Change Memo")
///     context.undo()
///
/// One undo takes back one group. Without groups of your own that is one event: all that was changed up to the context's
/// ``ManagedObjectContext/processPendingChanges()``, which a save calls too. There is no run loop that ends an event by itself:
/// an application calls that where one of its user's actions is done.
///
/// Several contexts may share one; it belongs to their isolation. It does not keep them, nor the targets of actions.
public final class GraphUndoManager {
  /// Whether all that is registered in one event, outside of a group, is one group. Otherwise each registration is one of its own.
  public var groupsByEvent = true
  /// How many groups can be undone at most; 0 means any number. The oldest are forgotten.
  public var levelsOfUndo = 0 {
    didSet { forgetOldest() }
  }
  private var undoGroups: [UndoGroup] = []
  private var redoGroups: [UndoGroup] = []
  /// The groups that have begun and not ended, the outermost first.
  private var openGroups: [UndoGroup] = []
  /// Whether the open group was begun by a registration, to be ended with the event.
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

  /// Makes an undo manager that has nothing to undo.
  public init() {}
}

@available(*, unavailable, message: "An undo manager belongs to the isolation of its contexts.")
extension GraphUndoManager: Sendable {}

// MARK: Groups

extension GraphUndoManager {
  /// How many groups have begun and not ended.
  public var groupingLevel: Int { openGroups.count }

  /// Begins a group: all that is registered until ``endUndoGrouping()`` is undone at once. A group in another becomes part of it.
  ///
  /// It ends the event.
  public func beginUndoGrouping() {
    collectChanges()
    endEvent()
    openGroups.append(UndoGroup())
  }

  /// Ends the group that was begun last.
  public func endUndoGrouping() {
    collectChanges()
    ProgrammerError.check(
      !openGroups.isEmpty && !isEventGroupOpen,
      "No group was begun. Call beginUndoGrouping() before endUndoGrouping()."
    )
    endGroup()
  }

  /// Ends the event: what comes is not undone together with what was.
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
  /// Whether what is registered is kept.
  public var isUndoRegistrationEnabled: Bool { disableCount == 0 }

  /// Lets what is done from now on be done for good, until ``enableUndoRegistration()`` is called as often as this.
  public func disableUndoRegistration() {
    collectChanges()
    disableCount += 1
  }

  /// Ends what ``disableUndoRegistration()`` began.
  public func enableUndoRegistration() {
    collectChanges()
    ProgrammerError.check(
      disableCount > 0,
      "Registration is enabled. Call disableUndoRegistration() before enabling it again."
    )
    disableCount -= 1
  }

  /// Registers how to take back what the application itself has done, outside of any context.
  ///
  /// A handler that undoes registers how to redo, in the same way. Nothing can be redone once something new is registered.
  ///
  /// - Parameter target: what `handler` is called with. It is not kept: once it is gone, the action does nothing.
  public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
    // What contexts have changed so far came first.
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

  /// Registers what follows from what was done before, to be undone with the newest group.
  func registerWithNewest(_ action: UndoAction) {
    guard isUndoRegistrationEnabled, openGroups.isEmpty, let newest = undoGroups.indices.last else {
      return register(action)
    }
    undoGroups[newest].actions.append(action)
  }

  /// Gives all that was registered, in its order, and forgets it.
  func takeActions() -> [UndoAction] {
    let actions = (undoGroups + openGroups).flatMap(\.actions)
    (undoGroups, openGroups, isEventGroupOpen) = ([], [], false)
    return actions
  }

  /// Forgets all that could be undone or redone. Groups that have begun stay open, and are empty.
  public func removeAllActions() {
    collectChanges()
    removeActions { _ in true }
  }

  /// Forgets what would be done to `target`.
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

  /// How many groups can be undone.
  public var undoCount: Int {
    collectChanges()
    return undoGroups.count + (openGroups.isEmpty ? 0 : 1)
  }

  /// How many groups can be redone.
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

  /// Ends the event and takes back the newest group, or does nothing where there is none.
  ///
  /// What was saved is not taken back in the stores: undoing it makes changes, which can be saved.
  public func undo() {
    prepare()
    guard let group = undoGroups.popLast() else { return }
    if let inverse = run(group, .undoing) { redoGroups.append(inverse) }
  }

  /// Makes again what the last ``undo()`` took back, or does nothing where there is nothing or something was done since.
  public func redo() {
    prepare()
    guard let group = redoGroups.popLast() else { return }
    if let inverse = run(group, .redoing) { undoGroups.append(inverse) }
  }

  private func prepare() {
    ProgrammerError.check(activity == .none, "An action that undoes or redoes must not call undo() or redo() itself.")
    for participant in contexts { participant.context?.finishSaveUnderWay() }
    collectChanges()
    // What is undone names records as they are called then.
    for participant in contexts { participant.context?.followStores() }
    endEvent()
    ProgrammerError.check(openGroups.isEmpty, "A group is open. Call endUndoGrouping() before undoing or redoing.")
  }

  /// Runs the actions of a group, the last one first. What they register takes back what they did.
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
  /// What the next undo takes back, in the words of the application; empty where it has no name.
  public var undoActionName: String {
    collectChanges()
    return (openGroups.first ?? undoGroups.last)?.name ?? ""
  }

  /// What the next redo makes again, in the words of the application; empty where it has no name.
  public var redoActionName: String {
    collectChanges()
    return redoGroups.last?.name ?? ""
  }

  /// Names what the next undo takes back: the outermost group that is open, or the newest.
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

  /// Lets contexts that have noted many ids forget those that nothing names any more which can be undone or redone.
  private func forgetIDs() {
    // What is being undone is in no group, and still names some.
    guard activity == .none else { return }
    for participant in contexts {
      guard let context = participant.context, let recorder = context.recorder, recorder.undoManager === self,
        recorder.hasManyIDs
      else { continue }
      let actions = (undoGroups + redoGroups + openGroups).flatMap(\.actions)
      recorder.forgetIDs(exceptIn: actions.compactMap { $0.event(of: context) })
    }
  }

  /// Lets contexts register what they have changed since they last did.
  private func collectChanges() {
    for participant in contexts { participant.context?.registerPendingChanges() }
  }
}

// MARK: UndoAction

/// One thing that an undo takes back.
struct UndoAction {
  private enum Body {
    case handler((AnyObject) -> Void)
    case event(GraphEvent)
  }

  /// What it is done to. Where that is gone, there is nothing left to undo.
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

  /// The event of `context` that is reverted, where it is one.
  func event(of context: ManagedObjectContext) -> GraphEvent? {
    guard target === context, case .event(let event) = body else { return nil }
    return event
  }

  /// Replaces the event that is reverted, where it is one.
  mutating func replaceEvent(_ transform: (GraphEvent) -> GraphEvent) {
    if case .event(let event) = body { body = .event(transform(event)) }
  }
}

/// What one undo takes back, in the order in which it was done.
struct UndoGroup {
  var name = ""
  var actions: [UndoAction] = []
}
