import CoreData
import Testing

@Suite struct UndoTests {
  @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType]) func changesAreUndoneAndRedone(type: String) throws {
    let stack = try Stack(type)
    let context = stack.context
    let undoManager = UndoManager()
    context.performAndWait { context.undoManager = undoManager }
    try context.performAndWait {
      let toDo = stack.insert("Milk")
      try context.save()
      toDo.memo = "Bread"
      undoManager.setActionName("Change Memo")
      context.processPendingChanges()
      #expect(undoManager.canUndo && undoManager.undoActionName == "Change Memo")
      context.undo()
      #expect(toDo.memo == "Milk" && !context.hasChanges && undoManager.redoActionName == "Change Memo")
      context.redo()
      #expect(toDo.memo == "Bread" && context.updatedObjects == [toDo])
      context.delete(toDo)
      context.processPendingChanges()
      undoManager.undo()
      #expect(!toDo.isDeleted && toDo.memo == "Bread")
      try context.save()
      #expect(try context.fetch(toDoRequest()).map(\.memo) == ["Bread"])
    }
  }

  @Test func insertionsAreUndone() throws {
    let stack = try Stack(NSInMemoryStoreType)
    let context = stack.context
    try context.performAndWait {
      context.undoManager = UndoManager()
      stack.insert("Milk")
      context.processPendingChanges()
      context.undo()
      #expect(context.insertedObjects.isEmpty)
      let count = try context.count(for: toDoRequest())
      #expect(count == 0)
    }
  }

  @Test func groupsAndOwnActionsAreUndoneTogether() throws {
    let stack = try Stack(NSInMemoryStoreType)
    let context = stack.context
    final class Title {
      var text = "old"
    }
    let title = Title()
    context.performAndWait {
      let undoManager = UndoManager()
      context.undoManager = undoManager
      let toDo = stack.insert("Milk")
      context.processPendingChanges()
      undoManager.beginUndoGrouping()
      toDo.memo = "Bread"
      title.text = "new"
      undoManager.registerUndo(withTarget: title) { $0.text = "old" }
      undoManager.endUndoGrouping()
      #expect(undoManager.undoCount == 2)
      undoManager.undo()
      #expect(toDo.memo == "Milk" && title.text == "old")
      undoManager.disableUndoRegistration()
      toDo.memo = "Butter"
      context.processPendingChanges()
      undoManager.enableUndoRegistration()
      #expect(undoManager.undoCount == 1)
      undoManager.removeAllActions(withTarget: context)
      #expect(!undoManager.canUndo)
    }
  }

  @Test func withoutAnUndoManagerNothingIsUndone() throws {
    let stack = try Stack(NSInMemoryStoreType)
    stack.context.performAndWait {
      #expect(stack.context.undoManager == nil)
      let toDo = stack.insert("Milk")
      stack.context.undo()
      #expect(toDo.isInserted)
    }
  }
}
