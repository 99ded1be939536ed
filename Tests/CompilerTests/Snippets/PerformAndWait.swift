import HeartwoodGraph

/// A thread that waits for an actor may be the one that the actor needs, so there is nothing that blocks it.
func aThreadDoesNotWait(_ background: BackgroundContext) throws {
  let count = try background.performAndWait { context in  // error: has no member 'performAndWait'
    try context.count(entityName: "Note")
  }
  print(count)
}

func aContextDoesNotWait(_ context: ManagedObjectContext) throws {
  let count = try context.performAndWait {  // error: has no member 'performAndWait'
    try context.count(entityName: "Note")
  }
  print(count)
}

func performIsWaitedForOnlyWithoutBlocking(_ background: BackgroundContext) {
  background.perform { context in context.reset() }  // error: call to actor-isolated instance method 'perform'
}
