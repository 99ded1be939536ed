import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// When children of other isolations see what the view context does.
@MainActor
@Suite struct PublishingTests {
  @Test(arguments: TestStoreKind.allCases)
  func aSaveIsSeenByChildren(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let view = ViewContext(stack.coordinator)
    let ann = try view.context.person("Ann")
    view.context.publishChanges()
    let child = ManagedObjectContext(parent: view)
    let inChild = try #require(try child.existingObject(with: ann.objectID) as? Person)
    #expect(inChild.name == "Ann")
    ann.name = "Anna"
    try view.context.save()
    child.refresh(inChild, mergeChanges: false)
    #expect(inChild.name == "Anna")
    #expect(try child.fetch(Person.self) == [inChild])
    view.context.delete(ann)
    try view.context.save()
    #expect(try child.count(entityName: "Person") == 0)
    #expect(try child.fetch(Person.self).isEmpty)
  }

  @Test func whoIsToldOfASaveReadsIt() throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    let ann = try view.context.person("Ann")
    view.context.publishChanges()
    let child = ManagedObjectContext(parent: view)
    let inChild = try #require(try child.existingObject(with: ann.objectID) as? Person)
    #expect(inChild.name == "Ann")
    var names: [String] = []
    let observation = view.context.observe(.didSave) { _ in
      child.refresh(inChild, mergeChanges: false)
      names.append(inChild.name)
    }
    ann.name = "Anna"
    try view.context.save()
    #expect(names == ["Anna"])
    withExtendedLifetime(observation) {}
  }

  @Test func aFetchIsSeenByChildren() throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    let ann = try view.context.person("Ann")
    #expect(try view.context.count(entityName: "Person") == 1)
    // Without children nobody has to name it.
    #expect(ann.objectID.isTemporaryID)
    let child = ManagedObjectContext(parent: view)
    #expect(try child.count(entityName: "Person") == 0)
    #expect(try view.context.fetch(Person.self) == [ann])
    #expect(try child.fetch(Person.self).map(\.name) == ["Ann"])
    #expect(!ann.objectID.isTemporaryID)
  }
}
