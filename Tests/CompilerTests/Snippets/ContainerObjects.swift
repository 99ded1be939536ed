import Heartwood
import HeartwoodGraph
import HeartwoodModel

final class Note: ManagedObject {}

func anObjectIsReturned(_ container: PersistentContainer) async throws {
  _ = try await container.write { context in
    try context.insert(Note.self)  // error: as a 'sending' result risks causing data races
  }
}

@MainActor
func anObjectIsTakenIn(_ container: PersistentContainer) async throws {
  let note = try container.viewContext.insert(Note.self)
  try await container.write { context in  // error: risks causing data races between main actor-isolated code
    context.delete(note)
  }
}
