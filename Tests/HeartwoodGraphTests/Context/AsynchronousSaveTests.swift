import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

/// Saves that stores write while the main actor goes on.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct AsynchronousSaveTests {
  private let stack: TestStack
  private let view: ViewContext
  private var context: ManagedObjectContext { view.context }

  init() throws {
    stack = try TestStack(.binary)
    view = ViewContext(stack.coordinator)
  }

  private func names(_ stack: TestStack? = nil) throws -> [String] {
    try (stack ?? self.stack).context().fetch(Person.self).map(\.name).sorted()
  }

  private func saveAway() async throws { try await context.saveAsynchronously() }

  /// Saves the view context; `meanwhile` runs on the main actor while the disk stalls.
  private func save(_ meanwhile: () throws -> Void) async throws {
    stack.files.stall()
    defer { stack.files.endStall() }
    async let saved: Void = saveAway()
    while stack.files.stalledCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    try meanwhile()
    stack.files.endStall()
    try await saved
  }

  @Test(arguments: TestStoreKind.allCases)
  func aSaveIsOneToEveryStore(_ kind: TestStoreKind) async throws {
    let stack = try TestStack(kind)
    let view = ViewContext(stack.coordinator)
    let (ann, bob) = (try view.context.person("Ann"), try view.context.person("Bob"))
    ann.spouse = bob
    ann.students = [bob]
    try await view.context.saveAsynchronously()
    #expect(!view.context.hasChanges && !ann.objectID.isTemporaryID)
    #expect(try names(stack) == ["Ann", "Bob"])
    #expect(try view.context.fetch(Person.self).sorted { $0.name < $1.name } == [ann, bob])
    ann.name = "Anna"
    view.context.delete(bob)
    try await view.context.saveAsynchronously()
    #expect(try names(stack) == ["Anna"])
    #expect(ann.spouse == nil && !view.context.hasChanges && bob.managedObjectContext == nil)
    try await view.context.saveAsynchronously()
    let other = stack.context()
    #expect(try other.existingObject(with: ann.objectID)[Person.nameKey] == "Anna")
  }

  @Test func changesThatAreMadeMeanwhileStayUnsaved() async throws {
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    try context.save()
    ann.name = "Anna"
    bob.name = "Bobby"
    var cid: Person?
    try await save {
      ann.name = "Annabel"
      bob.name = "Bob"
      cid = try context.person("Cid")
      cid?.spouse = ann
      #expect(try context.fetch(Person.self).map(\.name).sorted() == ["Annabel", "Bob", "Cid"])
      #expect(try context.count(entityName: "Person") == 3)
    }
    #expect(try names() == ["Anna", "Bobby"])
    #expect(ann.changedValues().keys.sorted() == ["name", "spouse"])
    #expect(bob.changedValues().keys.sorted() == ["name"] && bob.name == "Bob")
    #expect(cid?.isInserted == true && ann.spouse === cid)
    #expect(try context.fetch(Person.self).map(\.name).sorted() == ["Annabel", "Bob", "Cid"])
    try context.save()
    #expect(try names() == ["Annabel", "Bob", "Cid"])
    let other = stack.context()
    let saved = try #require(try other.existingObject(with: ann.objectID) as? Person)
    #expect(saved.spouse?.name == "Cid")
  }

  @Test func whatIsUndoneMeanwhileIsNoChangeAfterwards() async throws {
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    try await save {
      ann.name = "Annabel"
      ann.name = "Anna"
    }
    #expect(!context.hasChanges && !ann.isUpdated)
    #expect(try names() == ["Anna"])
  }

  @Test func newObjectsMayChangeAndGoMeanwhile() async throws {
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    let shelf = try context.insert(Shelf.self)
    let book = try context.book("Emma", on: shelf)
    try await save {
      ann.name = "Anna"
      ann.friends = [bob]
      context.delete(bob)
      #expect(try context.fetch(Person.self) == [ann])
      shelf.books = [try context.book("Dune", on: nil), book]
      #expect(try context.count(entityName: "Book") == 2)
    }
    #expect(try names() == ["Ann", "Bob"])
    #expect(ann.isUpdated && ann.name == "Anna" && ann.friends.isEmpty)
    #expect(bob.isDeleted && context.deletedObjects == [bob])
    #expect(shelf.isUpdated && shelf.books.map(\.title) == ["Dune", "Emma"])
    #expect(try context.fetch(Person.self) == [ann])
    try await view.context.saveAsynchronously()
    #expect(try names() == ["Anna"])
    let other = stack.context()
    #expect(try other.fetch(Shelf.self).first?.books.map(\.title) == ["Dune", "Emma"])
    #expect(!context.hasChanges)
  }

  @Test func objectsMayBeDeletedThatAreWritten() async throws {
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    try context.save()
    ann.name = "Anna"
    context.delete(bob)
    try await save { context.delete(ann) }
    #expect(try names() == ["Anna"])
    #expect(context.deletedObjects == [ann] && bob.managedObjectContext == nil)
    try await view.context.saveAsynchronously()
    #expect(try names() == [])
  }

  @Test func undoingGoesOn() async throws {
    context.undoManager = GraphUndoManager()
    let ann = try context.person("Ann")
    context.processPendingChanges()
    try await save {
      ann.name = "Anna"
      context.processPendingChanges()
      context.delete(ann)
      context.processPendingChanges()
    }
    context.undo()
    #expect(!ann.isDeleted && ann.name == "Anna" && ann.isUpdated)
    context.undo()
    #expect(ann.name == "Ann" && !ann.hasChanges)
    context.undo()
    #expect(ann.isDeleted)
    try await view.context.saveAsynchronously()
    #expect(try names() == [])
  }

  @Test func rollingBackWaitsForTheSave() async throws {
    let ann = try context.person("Ann")
    stack.files.stall()
    async let saved: Void = saveAway()
    while stack.files.stalledCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    ann.name = "Anna"
    let files = stack.files
    Thread { files.endStall() }.start()
    context.rollback()
    #expect(ann.name == "Ann" && !ann.isInserted && !context.hasChanges)
    try await saved
    #expect(try names() == ["Ann"])
    #expect(try context.fetch(Person.self) == [ann])
  }

  @Test func aSaveOnTheThreadWaitsForTheOther() async throws {
    let ann = try context.person("Ann")
    stack.files.stall()
    async let saved: Void = saveAway()
    while stack.files.stalledCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    ann.name = "Anna"
    let files = stack.files
    Thread { files.endStall() }.start()
    try context.save()
    #expect(!context.hasChanges)
    #expect(try names() == ["Anna"])
    try await saved
  }

  @Test func twoSavesAtOnceFollowEachOther() async throws {
    let ann = try context.person("Ann")
    var second: Task<Void, any Error>?
    try await save {
      ann.name = "Anna"
      second = Task { [view] in try await view.context.saveAsynchronously() }
    }
    try await second?.value
    #expect(try names() == ["Anna"] && !context.hasChanges)
  }

  @Test func aFailureLeavesAllChanges() async throws {
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    let bob = try context.person("Bob")
    stack.files.limitWrites(toByteCount: 10)
    await #expect(throws: PersistenceError.self) { try await view.context.saveAsynchronously() }
    #expect(ann.isUpdated && bob.isInserted && ann.name == "Anna")
    #expect(try context.fetch(Person.self).count == 2)
    stack.files.restart()
    #expect(try names() == ["Ann"])
    try await view.context.saveAsynchronously()
    #expect(try names() == ["Anna", "Bob"] && !context.hasChanges)
  }

  @Test(arguments: TestStoreKind.allCases)
  func conflictsAreResolved(_ kind: TestStoreKind) async throws {
    let stack = try TestStack(kind)
    let view = ViewContext(stack.coordinator)
    let ann = try view.context.person("Ann")
    try await view.context.saveAsynchronously()
    let other = stack.context()
    (try other.existingObject(with: ann.objectID) as? Person)?.name = "Other"
    try other.save()
    ann.name = "Anna"
    let error = await #expect(throws: PersistenceError.self) { try await view.context.saveAsynchronously() }
    #expect(error?.code == .saveConflict)
    #expect(ann.isUpdated)
    view.context.mergePolicy = .mergeByPropertyObjectTrump
    try await view.context.saveAsynchronously()
    #expect(try names(stack) == ["Anna"] && !view.context.hasChanges)
  }

  @Test func listenersLearnOfItWhenItIsDone() async throws {
    let saves = Mutex(0)
    let observation = context.observe(.didSave) { _ in saves.withLock { $0 += 1 } }
    _ = try context.person("Ann")
    try await save { #expect(saves.withLock { $0 } == 0) }
    #expect(saves.withLock { $0 } == 1)
    withExtendedLifetime(observation) {}
  }

  @Test func whatChildrenSaveMeanwhileArrivesAfterwards() async throws {
    let ann = try context.person("Ann")
    try context.save()
    let child = BackgroundContext(parent: view)
    let id = ann.objectID
    ann.name = "Anna"
    stack.files.stall()
    async let saved: Void = saveAway()
    while stack.files.stalledCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
    try await child.perform { context in
      _ = try context.existingObject(with: id)
      _ = try context.person("Bob")
      try context.save()
    }
    stack.files.endStall()
    try await saved
    #expect(try context.fetch(Person.self).map(\.name).sorted() == ["Anna", "Bob"])
    try await view.context.saveAsynchronously()
    #expect(try names() == ["Anna", "Bob"])
  }
}
