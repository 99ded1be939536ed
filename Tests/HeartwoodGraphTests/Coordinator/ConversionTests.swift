import Heartwood
import HeartwoodGraph
import HeartwoodStore
import Testing

/// Stores that are converted while contexts use them.
@Suite struct ConversionTests {
  @Test func aFaultReadsFromTheNewStore() throws {
    let stack = try TestStack()
    let first = stack.context()
    let ann = try first.person("Ann")
    try first.save()
    first.refresh(ann, mergeChanges: false)
    try stack.coordinator.migratePersistentStore(stack.store, to: TestStack.url, type: .binary)
    let second = stack.context()
    try #require(try second.fetch(Person.self).first).name = "Anna"
    try second.save()
    #expect(ann.isFault)
    #expect(ann.name == "Anna")
    ann.name = "Annabel"
    try first.save()
    second.reset()
    #expect(try second.fetch(Person.self).map(\.name) == ["Annabel"])
  }
}
