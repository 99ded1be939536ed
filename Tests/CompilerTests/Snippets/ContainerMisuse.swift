import Heartwood
import HeartwoodGraph
import HeartwoodModel

func viewContextIsTouched(_ container: PersistentContainer) throws {
  try container.viewContext.save()  // error: can not be referenced from a nonisolated context
}

func viewContextIsTouchedInAWrite(_ container: PersistentContainer) async throws {
  try await container.write { _ in
    print(container.viewContext.hasChanges)  // error: can not be referenced from a nonisolated context
  }
}
