public import Foundation
import HeartwoodGraph

/// Records changes, and undoes and redoes them. Foundation has no class of this name on this system.
///
///     context.undoManager = UndoManager()
///     todo.memo = "Bread"
///     context.undo()
///
/// One undo reverts one group. Without groups of the application's own, a group is one event of a context: all changes
/// up to the end of a block of `perform`, a save, or `processPendingChanges()`.
open class UndoManager: NSObject {
  final let core = GraphUndoManager()
  private final var contexts: [Participant] = []

  private struct Participant {
    weak var context: NSManagedObjectContext?
  }

  /// Whether everything that is registered in one event, outside of a group, forms one group.
  open var groupsByEvent: Bool {
    get { core.groupsByEvent }
    set { core.groupsByEvent = newValue }
  }

  /// The greatest number of groups that can be undone; 0 stands for any number.
  open var levelsOfUndo: Int {
    get { core.levelsOfUndo }
    set { core.levelsOfUndo = newValue }
  }

  final func attach(_ context: NSManagedObjectContext) {
    contexts.removeAll { $0.context == nil || $0.context === context }
    contexts.append(Participant(context: context))
  }

  final func detach(_ context: NSManagedObjectContext) {
    contexts.removeAll { $0.context == nil || $0.context === context }
  }

  // MARK: Groups

  /// The number of groups that have begun and not ended.
  open var groupingLevel: Int { core.groupingLevel }

  /// Begins a group, whose changes are undone together.
  open func beginUndoGrouping() { core.beginUndoGrouping() }

  /// Ends the group that was begun last.
  open func endUndoGrouping() { core.endUndoGrouping() }

  // MARK: Registering

  /// Whether changes are recorded.
  open var isUndoRegistrationEnabled: Bool { core.isUndoRegistrationEnabled }

  /// Stops recording, until ``enableUndoRegistration()`` has been called as often as this.
  open func disableUndoRegistration() { core.disableUndoRegistration() }

  /// Reverts one call of ``disableUndoRegistration()``.
  open func enableUndoRegistration() { core.enableUndoRegistration() }

  /// Registers what reverts a change that the application has made outside of contexts. The target is not retained.
  public final func registerUndo<TargetType: AnyObject>(
    withTarget target: TargetType,
    handler: @escaping (TargetType) -> Void
  ) {
    core.registerUndo(withTarget: target, handler: handler)
  }

  /// Removes everything that could be undone or redone.
  open func removeAllActions() { core.removeAllActions() }

  /// Removes what was registered for a target.
  open func removeAllActions(withTarget target: Any) {
    if let context = target as? NSManagedObjectContext { return context.removeUndoActions() }
    core.removeAllActions(withTarget: target as AnyObject)
  }

  // MARK: Undoing

  /// Whether there is something to undo.
  open var canUndo: Bool { core.canUndo }
  /// Whether there is something to redo.
  open var canRedo: Bool { core.canRedo }
  /// The number of groups that can be undone.
  open var undoCount: Int { core.undoCount }
  /// The number of groups that can be redone.
  open var redoCount: Int { core.redoCount }
  /// Whether ``undo()`` is under way.
  open var isUndoing: Bool { core.isUndoing }
  /// Whether ``redo()`` is under way.
  open var isRedoing: Bool { core.isRedoing }

  /// Ends the event and undoes the last group.
  open func undo() { changing { core.undo() } }

  /// Redoes what the last ``undo()`` reverted.
  open func redo() { changing { core.redo() } }

  private final func changing(_ body: () -> Void) {
    let contexts = contexts.compactMap(\.context)
    Self.hold(contexts[...], body)
    for context in contexts { context.noteUndo() }
  }

  /// Runs `body` while no other code uses the parents of contexts.
  private static func hold(_ contexts: ArraySlice<NSManagedObjectContext>, _ body: () -> Void) {
    guard let first = contexts.first else { return body() }
    first.hold { hold(contexts.dropFirst(), body) }
  }

  // MARK: Names

  /// The name of what is undone next.
  open var undoActionName: String { core.undoActionName }
  /// The name of what is redone next.
  open var redoActionName: String { core.redoActionName }

  /// Names what is undone next.
  open func setActionName(_ actionName: String) { core.setActionName(actionName) }
}

// MARK: NSManagedObjectContext

extension NSManagedObjectContext {
  /// Undoes the last group of changes of the ``undoManager``. Without one, there is nothing to undo.
  public final func undo() { undoManager?.undo() }

  /// Redoes what ``undo()`` reverted last.
  public final func redo() { undoManager?.redo() }
}
