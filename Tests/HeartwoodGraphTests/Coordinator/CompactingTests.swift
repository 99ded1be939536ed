import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Stores are rebuilt without what earlier saves have left in their files.
@Suite struct CompactingTests {
  @Test(arguments: TestStoreKind.allCases)
  func theRecordsStayAsTheyAre(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let people = try (0..<40).map { try context.person("person \($0)") }
    for pair in zip(people, people.dropFirst()) { pair.0.friends = [pair.1] }
    try context.save()
    for person in people.prefix(20) { context.delete(person) }
    people[30].name = "unsaved"
    let before = try stack.context().fetch(Person.self).map(\.objectID)
    let isDone = try stack.coordinator.compact(stack.store)
    #expect(isDone == (kind == .binary || kind == .sqlite))
    #expect(try stack.context().fetch(Person.self).map(\.objectID) == before)
    // Nothing of the context was written, and it saves on top of the rebuilt file.
    #expect(try stack.context().fetch(Person.self).map(\.name).contains("unsaved") == false)
    try context.save()
    let after = stack.context()
    #expect(try after.count(entityName: "Person") == 20)
    try expectBothEndsAgree(after)
  }

  @Test func aBinaryFileHasTheBytesOfACopy() throws {
    let memory = InMemoryFileSystem()
    let stack = try TestStack(.binary, files: FaultInjectingFileSystem(wrapping: memory))
    let context = stack.context()
    // Saves are added to files of some length.
    try context.insert(Note.self).text = String(repeating: "long", count: 150_000)
    let people = try (0..<100).map { try context.person("person \($0)") }
    try context.save()
    for person in people {
      person.name += "!"
      try context.save()
    }
    let path = TestStack.url.path
    let grown = try #require(memory.contents(ofFileAtPath: path))
    #expect(try stack.coordinator.compact(stack.store))
    let compact = try #require(memory.contents(ofFileAtPath: path))
    #expect(compact.count < grown.count)
    let copy = URL(filePath: "/folder/copy.heartwood")
    try stack.coordinator.copyPersistentStore(stack.store, to: copy)
    #expect(memory.contents(ofFileAtPath: copy.path) == compact)
    #expect(try stack.context().fetch(Person.self).allSatisfy { $0.name.hasSuffix("!") })
  }

  @Test func aFailureLeavesTheRecords() throws {
    let memory = InMemoryFileSystem()
    let stack = try TestStack(.binary, files: FaultInjectingFileSystem(wrapping: memory))
    let context = stack.context()
    _ = try context.person("Ann")
    try context.save()
    let before = memory.contents(ofFileAtPath: TestStack.url.path)
    var failures = 0
    for step in 1... {
      stack.files.failOperation(stack.files.operations.count + step)
      do {
        try stack.coordinator.compact(stack.store)
        break
      } catch {
        failures += 1
        #expect(memory.contents(ofFileAtPath: TestStack.url.path) == before)
      }
    }
    #expect(failures >= 3)
    let later = try TestStack(.binary, files: FaultInjectingFileSystem(wrapping: memory))
    #expect(try later.context().fetch(Person.self).map(\.name) == ["Ann"])
  }

  @Test func aStoreThatIsReadOnlyIsRefused() throws {
    let stack = try TestStack(.binary)
    let context = stack.context()
    _ = try context.person("Ann")
    try context.save()
    try stack.coordinator.remove(stack.store)
    #expect(persistenceError { try stack.coordinator.compact(stack.store) }?.code == .storeNotOpen)
    var options = StoreOptions()
    options[.isReadOnly] = true
    let store = try stack.coordinator.addPersistentStore(type: .binary, at: TestStack.url, options: options)
    #expect(persistenceError { try stack.coordinator.compact(store) }?.code == .storeReadOnly)
  }
}
