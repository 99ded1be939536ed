import HeartwoodGraph
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct RandomUndoTests {
  /// What happens between the events that are undone, which must not matter.
  enum Between: CaseIterable {
    case nothing
    case saves
    case savesAndFaults
    /// The store becomes one that calls its records by other names, once.
    case conversion
  }

  @Test(arguments: Between.allCases, 1...8)
  func undoingAllGivesTheStateBefore(_ between: Between, _ round: Int) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed: \(seed)")
    let stack = try TestStack(.binary)
    let context = stack.context()
    var library = RandomLibrary(context, seed: seed)
    for _ in 0..<20 { try library.step() }
    try context.save()
    let undoManager = GraphUndoManager()
    context.undoManager = undoManager
    var states = [try GraphState(context)]
    for _ in 0..<40 {
      for _ in 0..<Int.random(in: 1...4, using: &library.generator) { try library.step() }
      context.processPendingChanges()
      try pause(between, &library, stack)
      let state = try GraphState(context)
      if undoManager.undoCount == states.count { states.append(state) }
      #expect(state == states.last)
    }
    // To the start, to the end, and back and forth.
    var place = states.count - 1
    for target in [0, place, place / 2, place / 3, place, 0] {
      while place != target {
        if target < place { context.undo() } else { context.redo() }
        place += target < place ? -1 : 1
        try #require(undoManager.undoCount == place, "seed \(seed), place \(place) on the way to \(target)")
        let difference = try GraphState(context).difference(from: states[place])
        try #require(difference.isEmpty, "seed \(seed), place \(place) on the way to \(target): \(difference)")
        try pause(between, &library, stack)
      }
      try expectBothEndsAgree(context)
    }
    #expect(!undoManager.canUndo)
  }

  private func pause(_ between: Between, _ library: inout RandomLibrary, _ stack: TestStack) throws {
    guard between != .nothing, library.generator.chance(oneIn: 3) else { return }
    // Some changes have been saved then and others have not.
    if between == .conversion, stack.coordinator.persistentStores.first === stack.store,
      library.generator.chance(oneIn: 6)
    {
      return try stack.convertToNumbers()
    }
    try library.context.save()
    #expect(!library.context.hasChanges)
    guard between == .savesAndFaults else { return }
    for object in library.context.registeredObjects where library.generator.chance(oneIn: 2) {
      library.context.refresh(object, mergeChanges: false)
    }
  }
}
