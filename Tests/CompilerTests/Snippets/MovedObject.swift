import HeartwoodGraph

func objectIsMoved(_ first: BackgroundContext, _ second: BackgroundContext) async throws {
  try await first.perform { context in
    let note = try context.insert(entityName: "Note")
    Task {  // error: risks causing data races between code in the current task
      await second.perform { other in  // error: risks causing data races between code in the current task
        other.delete(note)
      }
    }
  }
}
