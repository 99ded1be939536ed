import HeartwoodGraph

func objectIsSent(_ context: ManagedObjectContext) throws {
  let note = try context.insert(entityName: "Note")
  send(note)  // error: Pass its objectID, which is Sendable
}

func contextIsSent(_ context: ManagedObjectContext) {
  send(context)  // error: Make another one there
}

func send(_ value: some Sendable) {}
