import HeartwoodGraph

func objectIsReturned(_ background: BackgroundContext) async throws {
  let note = try await background.perform { context in
    try context.insert(entityName: "Note")  // error: as a 'sending' result risks causing data races
  }
  print(note)
}

func objectsAreReturned(_ background: BackgroundContext) async throws {
  let notes = try await background.perform { context in
    try context.fetch(entityName: "Note")  // error: as a 'sending' result risks causing data races
  }
  print(notes)
}

func contextIsReturned(_ background: BackgroundContext) async {
  let context = await background.perform { context in
    context  // error: as a 'sending' result risks causing data races
  }
  print(context)
}
