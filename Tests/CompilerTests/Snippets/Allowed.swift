import Heartwood
import HeartwoodGraph
import HeartwoodModel

final class Note: ManagedObject {}

struct Refusal: Error {}

func valuesAndIDsTravel(_ background: BackgroundContext) async throws {
  let id = try await background.perform { context in
    let note = try context.insert(Note.self)
    try context.save()
    return note.objectID
  }
  let count = try await background.perform { context in
    context.delete(try context.existingObject(with: id))
    return try context.count(entityName: "Note")
  }
  print(count)
}

func errorsAreTyped(_ background: BackgroundContext) async throws(Refusal) {
  try await background.perform { (_) throws(Refusal) in throw Refusal() }
}

final class Box {
  var count = 0
}

func whatIsNewMayLeave(_ background: BackgroundContext) async {
  let box = await background.perform { _ in Box() }
  box.count += 1
}

@MainActor
func theMainActorHasTheViewContext(_ view: ViewContext, _ background: BackgroundContext) async throws {
  let note = try view.context.insert(Note.self)
  try view.context.save()
  let id = note.objectID
  await background.perform { context in print(context.registeredObject(for: id) as Any) }
  view.context.delete(note)
  try await view.saveToPersistentStore()
}

func aContextOfOnesOwn(_ parent: BackgroundContext) async throws {
  let context = ManagedObjectContext(parent: parent)
  let note = try context.insert(Note.self)
  try await context.saveToPersistentStore()
  context.delete(note)
}

@MainActor
func aContainerIsForEveryone(_ container: PersistentContainer) async throws {
  let id = try await container.write { context in try context.insert(Note.self).objectID }
  print(container.viewContext.registeredObject(for: id) as Any)
  let box = try await container.write(to: .viewContext) { _ in Box() }
  box.count += try container.writeAndWait { context in try context.count(entityName: "Note") }
  await errorsOfTasksAreTyped(container)
}

func errorsOfTasksAreTyped(_ container: PersistentContainer) async {
  do throws(Refusal) {
    try await container.performBackgroundTask { (_) throws(Refusal) in throw Refusal() }
  } catch {
    let refusal: Refusal = error
    print(refusal)
  }
  do {
    try await container.loadPersistentStores()
  } catch {
    let code: PersistenceError.Code = error.code
    print(code)
  }
}
