import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct AsynchronousFetchTests {
  @MainActor
  @Test func findsWhatAFetchFinds() async throws {
    let stack = try TestStack(.binary)
    let view = ViewContext(stack.coordinator)
    for name in ["Cid", "Ann", "Bob"] { _ = try view.context.person(name) }
    try view.context.save()
    let all = try view.context.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    all[0].name = "Zoe"
    _ = try view.context.person("Al")
    view.context.delete(all[1])
    let progress = FetchProgress()
    let request = FetchRequest<Person>(where: Person.nameKey > "A", sortedBy: [Person.nameKey.ascending])
    let found = try await view.context.fetchAsynchronously(request, progress: progress)
    #expect(found.map(\.name) == ["Al", "Cid", "Zoe"])
    #expect(try found == view.context.fetch(request))
    #expect(progress.totalUnitCount == 1 && progress.fractionCompleted == 1)
    let ids = try await view.context.fetchObjectIDsAsynchronously(request)
    #expect(ids == found.map(\.objectID))
  }

  @Test func aBackgroundContextGivesIDs() async throws {
    let stack = try TestStack()
    let background = BackgroundContext(stack.coordinator)
    let names = ["Bob", "Ann"]
    let ids = try await background.perform { context in
      let people = try names.map { try context.person($0) }
      try context.save()
      return people.map(\.objectID)
    }
    let found = try await background.fetchObjectIDs(FetchRequest<Person>(sortedBy: [Person.nameKey.ascending]))
    #expect(found == ids.reversed())
    let mistake = FetchRequest<Person>(sortedBy: [FetchSortDescriptor("nobody")])
    await #expect(throws: FetchPredicateError.self) { try await background.fetchObjectIDs(mistake) }
  }

  @Test func cancellingStopsIt() async throws {
    let stack = try TestStack()
    let writer = stack.context()
    _ = try writer.person("Ann")
    try writer.save()
    let background = BackgroundContext(stack.coordinator)
    let progress = FetchProgress()
    progress.cancel()
    await #expect(throws: CancellationError.self) {
      try await background.fetchObjectIDs(FetchRequest<Person>(where: Person.nameKey > "A"), progress: progress)
    }
    #expect(progress.completedUnitCount == 0)
    let coordinator = stack.coordinator
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await BackgroundContext(coordinator).fetchObjectIDs(FetchRequest<Person>(where: Person.nameKey > "A"))
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}

@Suite struct FetchedBatchTests {
  @Test func objectsAreMadeWhenTheyAreLookedAt() throws {
    let stack = try TestStack()
    let writer = stack.context()
    for name in ["Cid", "Ann", "Bob"] { _ = try writer.person(name) }
    try writer.save()
    let context = stack.context()
    let fresh = try context.person("Dora")
    let batch = try context.fetchBatch(FetchRequest<Person>(sortedBy: [Person.nameKey.ascending]))
    #expect(batch.count == 4)
    #expect(context.registeredObjects == [fresh])
    let bob = batch[1]
    #expect(bob.name == "Bob" && batch[1] === bob)
    #expect(context.registeredObjects.count == 2)
    #expect(batch.map(\.name) == ["Ann", "Bob", "Cid", "Dora"])
    #expect(throws: PersistenceError.self) { try context.fetchBatch(FetchRequest<Employee>(entityName: "Person")) }
    // In a child, and when the record is gone.
    let child = try ManagedObjectContext(parent: context).fetchBatch(FetchRequest<Person>())
    #expect(Set(child.map(\.name)) == ["Ann", "Bob", "Cid", "Dora"])
    let other = try #require(try writer.fetch(Person.self, where: Person.nameKey == "Ann").first)
    writer.delete(other)
    try writer.save()
    let gone = batch[0]
    #expect(try gone.propertyValue(forKey: "name") == .null)
    #expect(gone.isDeleted)
  }

  @Test(arguments: TestStoreKind.withHistory)
  func whatAnOlderVersionLacksCountsAsDeleted(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let writer = stack.context()
    _ = try writer.person("Ann")
    try writer.save()
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    let old = try #require(context.queryGenerationToken)
    try context.setQueryGeneration(from: nil)
    let bob = try writer.person("Bob")
    try writer.save()
    let batch = try context.fetchBatch(FetchRequest<Person>(sortedBy: [Person.nameKey.ascending]))
    try context.setQueryGeneration(from: old)
    #expect(batch.map(\.isDeleted) == [false, true])
    let gone = batch[1]
    #expect(gone.objectID == bob.objectID && batch[1] === gone)
    #expect(try gone.propertyValue(forKey: "name") == .null)
    #expect(batch[0].name == "Ann")
    try context.setQueryGeneration(from: nil)
    #expect(!gone.isDeleted && gone.name == "Bob" && batch[1] === gone)
  }

  @Test func aRequestTellsHowObjectsAreRead() throws {
    let stack = try TestStack()
    let writer = stack.context()
    let ann = try writer.person("Ann")
    ann.friends = [try writer.person("Bob")]
    try writer.save()
    let context = stack.context()
    var request = FetchRequest<Person>(where: Person.nameKey == "Ann")
    let found = try #require(try context.fetch(request).first)
    #expect(found.isFault)
    request.returnsObjectsAsFaults = false
    #expect(try context.fetch(request).first?.isFault == false)
    ann.mentor = ann.friends.first
    try writer.save()
    #expect(try context.fetch(request).first?.mentor == nil)
    request.refreshesRefetchedObjects = true
    #expect(try context.fetch(request).first?.mentor?.name == "Bob")
    request.relationshipKeyPathsForPrefetching = ["friends.books", "mentor"]
    #expect(try context.fetch(request).count == 1)
    request.relationshipKeyPathsForPrefetching = ["fiends"]
    #expect(throws: FetchPredicateError.self) { try context.fetch(request) }
  }
}
