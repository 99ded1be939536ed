import HeartwoodGraph

@MainActor
func objectOfTheViewContextIsCaptured(_ view: ViewContext, _ background: BackgroundContext) async throws {
  let note = try view.context.insert(entityName: "Note")
  await background.perform { context in  // error: risks causing data races between main actor-isolated code
    context.delete(note)
  }
}

func objectIsUsedOnBothSides(_ context: ManagedObjectContext, _ background: BackgroundContext) async throws {
  let note = try context.insert(entityName: "Note")
  await background.perform { other in  // error: risks causing data races between code in the current task
    other.delete(note)
  }
}

func objectIsPutOut(_ background: BackgroundContext) async throws {
  var note: ManagedObject?
  try await background.perform { context in  // error: risks causing data races
    note = try context.insert(entityName: "Note")
  }
  print(note as Any)
}
