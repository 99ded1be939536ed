import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// Groups, names, limits and actions of the application's own.
@Suite struct GraphUndoManagerTests {
  /// Something that an application undoes by itself.
  private final class Counter {
    let undoManager = GraphUndoManager()
    private(set) var count = 0

    func set(_ count: Int) {
      let old = self.count
      undoManager.registerUndo(withTarget: self) { $0.set(old) }
      self.count = count
    }
  }

  private func context() throws -> (ManagedObjectContext, GraphUndoManager) {
    let context = try TestStack().context()
    let undoManager = GraphUndoManager()
    context.undoManager = undoManager
    return (context, undoManager)
  }

  @Test func ownActionsAreUndoneAndRedone() {
    let counter = Counter()
    counter.undoManager.groupsByEvent = false
    counter.set(1)
    counter.set(2)
    counter.undoManager.undo()
    #expect(counter.count == 1)
    counter.undoManager.undo()
    #expect(counter.count == 0)
    #expect(!counter.undoManager.canUndo)
    counter.undoManager.redo()
    counter.undoManager.redo()
    #expect(counter.count == 2)
    #expect(!counter.undoManager.canRedo)
    counter.undoManager.undo()
    counter.set(5)
    #expect(!counter.undoManager.canRedo)
    counter.undoManager.undo()
    #expect(counter.count == 1)
  }

  @Test func actionsOfAnEventAreOneGroup() {
    let counter = Counter()
    counter.set(1)
    counter.set(2)
    counter.undoManager.undo()
    #expect(counter.count == 0)
    counter.undoManager.redo()
    #expect(counter.count == 2)
  }

  @Test func groupsInGroupsAreOne() {
    let counter = Counter()
    let undoManager = counter.undoManager
    counter.set(1)
    undoManager.beginUndoGrouping()
    counter.set(2)
    undoManager.beginUndoGrouping()
    counter.set(3)
    #expect(undoManager.groupingLevel == 2)
    undoManager.endUndoGrouping()
    counter.set(4)
    undoManager.endUndoGrouping()
    undoManager.beginUndoGrouping()
    undoManager.endUndoGrouping()
    #expect(undoManager.groupingLevel == 0)
    undoManager.undo()
    #expect(counter.count == 1)
    undoManager.undo()
    #expect(counter.count == 0)
  }

  @Test func aGroupHasSeveralEventsOfAContext() throws {
    let (context, undoManager) = try context()
    let ann = try context.person("Ann")
    undoManager.beginUndoGrouping()
    ann.name = "Anna"
    context.processPendingChanges()
    ann.name = "Annabel"
    try context.save()
    undoManager.endUndoGrouping()
    context.undo()
    #expect(ann.name == "Ann")
    context.redo()
    #expect(ann.name == "Annabel")
    context.undo()
    context.undo()
    #expect(ann.isDeleted)
  }

  @Test func actionsAndChangesKeepTheirOrder() throws {
    let (context, undoManager) = try context()
    let ann = try context.person("Ann")
    context.processPendingChanges()
    var seen: [String] = []
    ann.name = "Anna"
    undoManager.registerUndo(withTarget: ann) { seen.append($0.name) }
    ann.name = "Annabel"
    context.undo()
    #expect(seen == ["Anna"])
    #expect(ann.name == "Ann")
  }

  @Test func namesFollowTheirGroups() throws {
    let (context, undoManager) = try context()
    #expect(undoManager.undoActionName == "")
    let ann = try context.person("Ann")
    undoManager.setActionName("Insert Person")
    context.processPendingChanges()
    ann.name = "Anna"
    context.processPendingChanges()
    undoManager.setActionName("Rename")
    #expect(undoManager.undoActionName == "Rename")
    #expect(undoManager.redoActionName == "")
    context.undo()
    #expect(undoManager.undoActionName == "Insert Person")
    #expect(undoManager.redoActionName == "Rename")
    context.undo()
    context.redo()
    context.redo()
    #expect(undoManager.undoActionName == "Rename")
    undoManager.beginUndoGrouping()
    ann.name = "Annabel"
    undoManager.setActionName("Rename Again")
    undoManager.endUndoGrouping()
    #expect(undoManager.undoActionName == "Rename Again")
  }

  @Test func noMoreLevelsAreKeptThanWanted() {
    let counter = Counter()
    counter.undoManager.groupsByEvent = false
    for count in 1...10 { counter.set(count) }
    counter.undoManager.levelsOfUndo = 3
    counter.set(11)
    for _ in 0..<20 { counter.undoManager.undo() }
    #expect(counter.count == 8)
    for _ in 0..<20 { counter.undoManager.redo() }
    #expect(counter.count == 11)
  }

  @Test func whatIsDoneWhileDisabledStays() throws {
    let (context, undoManager) = try context()
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    undoManager.disableUndoRegistration()
    undoManager.disableUndoRegistration()
    #expect(!undoManager.isUndoRegistrationEnabled)
    let bob = try context.person("Bob")
    undoManager.registerUndo(withTarget: bob) { $0.name = "Robert" }
    undoManager.enableUndoRegistration()
    undoManager.enableUndoRegistration()
    context.undo()
    #expect(ann.name == "Ann")
    #expect(bob.isInserted && bob.name == "Bob")
  }

  @Test func actionsAreForgotten() throws {
    let (context, undoManager) = try context()
    let ann = try context.person("Ann")
    undoManager.registerUndo(withTarget: ann) { $0.name = "undone" }
    undoManager.removeAllActions(withTarget: context)
    context.undo()
    #expect(ann.name == "undone")
    undoManager.removeAllActions()
    #expect(!undoManager.canUndo && !undoManager.canRedo)
    var counter: Counter? = Counter()
    undoManager.registerUndo(withTarget: try #require(counter)) { $0.set(7) }
    counter = nil
    undoManager.undo()
    #expect(!undoManager.canRedo)
  }

  @Test func itTellsWhatItIsDoing() throws {
    let counter = Counter()
    var seen: [Bool] = []
    counter.undoManager.registerUndo(withTarget: counter) { counter in
      seen += [counter.undoManager.isUndoing, counter.undoManager.isRedoing]
      counter.undoManager.registerUndo(withTarget: counter) { counter in
        seen += [counter.undoManager.isUndoing, counter.undoManager.isRedoing]
      }
    }
    counter.undoManager.undo()
    counter.undoManager.redo()
    #expect(seen == [true, false, false, true])
    #expect(!counter.undoManager.isUndoing && !counter.undoManager.isRedoing)
  }

  @Test func mistakesStop() async {
    let stop1 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      GraphUndoManager().endUndoGrouping()
    }
    expect(stop1, says: "Call beginUndoGrouping() before endUndoGrouping()")
    let stop2 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let undoManager = GraphUndoManager()
      undoManager.beginUndoGrouping()
      undoManager.undo()
    }
    expect(stop2, says: "Call endUndoGrouping() before undoing")
    let stop3 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      GraphUndoManager().enableUndoRegistration()
    }
    expect(stop3, says: "Call disableUndoRegistration() before")
    let stop4 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let undoManager = GraphUndoManager()
      undoManager.registerUndo(withTarget: undoManager) { $0.undo() }
      undoManager.undo()
    }
    expect(stop4, says: "must not call undo() or redo() itself")
  }
}
