import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct QueryGenerationTests {
  fileprivate func names(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(Person.self).map(\.name)
  }

  @Test(arguments: TestStoreKind.allCases)
  func aPinnedContextSeesItsVersion(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let writer = stack.context()
    let people = try ["Ann", "Bob", "Cid"].map { try writer.person($0) }
    try writer.save()
    let reader = stack.context()
    #expect(reader.queryGenerationToken == nil)
    try reader.setQueryGeneration(from: .current)
    let token = try #require(reader.queryGenerationToken)
    people[0].name = "Anna"
    writer.delete(people[1])
    _ = try writer.person("Dan")
    try writer.save()
    #expect(try names(reader) == ["Ann", "Bob", "Cid"])
    #expect(try reader.count(entityName: "Person") == 3)
    let child = ManagedObjectContext(parent: reader)
    #expect(try names(child) == ["Ann", "Bob", "Cid"])
    let second = stack.context()
    try second.setQueryGeneration(from: token)
    #expect(second.queryGenerationToken == token)
    #expect(try names(second) == ["Ann", "Bob", "Cid"])
    reader.refreshAllObjects()
    #expect(reader.queryGenerationToken != token)
    #expect(try names(reader) == ["Anna", "Cid", "Dan"])
    #expect(try names(child) == ["Anna", "Cid", "Dan"])
    try second.setQueryGeneration(from: nil)
    #expect(second.queryGenerationToken == nil)
    second.refreshAllObjects()
    #expect(try names(second) == ["Anna", "Cid", "Dan"])
  }

  @Test func aContextCanGoBack() throws {
    let stack = try TestStack()
    let writer = stack.context()
    let ann = try writer.person("Ann")
    try writer.save()
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    let old = try #require(context.queryGenerationToken)
    ann.name = "Anna"
    let bob = try writer.person("Bob")
    try writer.save()
    try context.setQueryGeneration(from: nil)
    let both = try context.fetch(Person.self)
    #expect(both.map(\.name) == ["Anna", "Bob"])
    try context.setQueryGeneration(from: old)
    #expect(try context.fetch(Person.self) == [both[0]])
    #expect(both[1].isDeleted)
    #expect(both[1].objectID == bob.objectID)
    context.refresh(both[0], mergeChanges: false)
    #expect(both[0].name == "Ann")
    #expect(persistenceError { _ = try context.existingObject(with: bob.objectID) }?.code == .objectNotFound)
    context.reset()
    #expect(try names(context) == ["Anna", "Bob"])
    #expect(context.queryGenerationToken != nil)
  }

  @Test func savesOfAPinnedContextAreChecked() throws {
    let stack = try TestStack(.binary)
    let writer = stack.context()
    let people = try ["Ann", "Bob"].map { try writer.person($0) }
    try writer.save()
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    people[0].name = "Anna"
    try writer.save()
    let mine = try context.fetch(Person.self)
    mine[0].name = "Mine"
    #expect(persistenceError { try context.save() }?.code == .saveConflict)
    #expect(mine[1].name == "Bob")
    context.rollback()
    mine[1].name = "Bobby"
    try context.save()
    #expect(mine[0].name == "Ann")
    context.refresh(mine[0], mergeChanges: false)
    #expect(try names(context) == ["Anna", "Bobby"])
    people[0].name = "Annabel"
    try writer.save()
    #expect(mine[0].name == "Anna")
    context.refresh(mine[0], mergeChanges: false)
    #expect(mine[0].name == "Anna")
  }

  @Test func mergingMovesOn() async throws {
    let stack = try TestStack()
    let writer = stack.context()
    let ann = try writer.person("Ann")
    try writer.save()
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    let mine = try #require(try context.fetch(Person.self).first)
    #expect(mine.name == "Ann")
    var saves = writer.didSaveChanges.makeAsyncIterator()
    ann.name = "Anna"
    try writer.save()
    context.refresh(mine, mergeChanges: true)
    #expect(mine.name == "Ann")
    context.mergeChanges(from: try #require(await saves.next()))
    #expect(mine.name == "Anna")
  }

  @Test func whereAContextCannotBePinnedIsSaid() throws {
    let stack = try TestStack()
    let parent = stack.context()
    let child = ManagedObjectContext(parent: parent)
    #expect(persistenceError { try child.setQueryGeneration(from: .current) }?.code == .queryGenerationUnavailable)
    try parent.setQueryGeneration(from: .current)
    let token = try #require(parent.queryGenerationToken)
    let other = try TestStack().context()
    #expect(persistenceError { try other.setQueryGeneration(from: token) }?.code == .queryGenerationUnavailable)
    try stack.coordinator.remove(stack.store)
    let late = stack.context()
    #expect(persistenceError { try late.setQueryGeneration(from: token) }?.code == .queryGenerationUnavailable)
  }

  @Test func tokensHoldTheirRowsAndReleaseThem() throws {
    let stack = try TestStack()
    let writer = stack.context()
    let ann = try writer.person("Ann")
    try writer.save()
    weak let rows = try stack.store.engine.table(of: ann.entity).groups.last
    var reader: ManagedObjectContext? = stack.context()
    try reader?.setQueryGeneration(from: .current)
    var token = reader?.queryGenerationToken
    ann.name = "Anna"
    try writer.save()
    reader = nil
    #expect(token != nil)
    #expect(rows != nil)
    token = nil
    #expect(rows == nil)
  }
}

extension QueryGenerationTests {
  @Test func changesStayChangesInAllVersions() throws {
    let stack = try TestStack()
    let writer = stack.context()
    let people = try ["Ann", "Bob"].map { try writer.person($0) }
    try writer.save()
    let context = stack.context()
    let mine = try context.fetch(Person.self)
    mine[0].name = "Mine"
    try context.setQueryGeneration(from: .current)
    mine[1].name = "Mine too"
    #expect(Set(context.updatedObjects) == Set(mine))
    mine[0].name = "Ann"
    #expect(context.updatedObjects == [mine[1]])
    try context.setQueryGeneration(from: nil)
    #expect(context.updatedObjects == [mine[1]])
    mine[0].name = "Mine again"
    try context.save()
    #expect(!context.hasChanges)
    writer.refreshAllObjects()
    #expect(people.map(\.name) == ["Mine again", "Mine too"])
  }

  @Test func changesOfWhatAnOlderVersionLacksAreConflicts() throws {
    let stack = try TestStack()
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    let old = try #require(context.queryGenerationToken)
    try context.setQueryGeneration(from: nil)
    let ann = try context.person("Ann")
    try context.save()
    ann.name = "Anna"
    try context.setQueryGeneration(from: old)
    #expect(try names(context) == [])
    #expect(persistenceError { try context.save() }?.code == .saveConflict)
    try context.setQueryGeneration(from: nil)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(try names(context) == ["Ann"])
  }

  @Test func aPinnedContextSavesToWhatItsStoreWasConvertedTo() throws {
    let stack = try TestStack()
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    let people = try ["Ann", "Bob"].map { try context.person($0) }
    try context.save()
    try stack.coordinator.convert(stack.store, to: TestStack.url, type: .binary)
    people[0].name = "Anna"
    people[1].spouse = people[0]
    try context.save()
    #expect(people.map(\.name) == ["Anna", "Bob"] && people[0].spouse == people[1])
    #expect(!context.hasChanges)
  }

  @Test func aVersionOutlivesAConversion() throws {
    let stack = try TestStack()
    let writer = stack.context()
    let ann = try writer.person("Ann")
    try writer.save()
    let context = stack.context()
    try context.setQueryGeneration(from: .current)
    ann.name = "Anna"
    try writer.save()
    try stack.coordinator.convert(stack.store, to: TestStack.url, type: .binary)
    ann.name = "Annabel"
    try writer.save()
    #expect(try names(context) == ["Ann"])
    context.refreshAllObjects()
    #expect(try names(context) == ["Annabel"])
  }
}
