import Heartwood
import HeartwoodGraph
import HeartwoodStore
import Testing

@Suite struct SavedVersionTests {
  @Test(arguments: TestStoreKind.allCases) func countsTheSavesOfARecord(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let ann = try context.person("Ann")
    #expect(ann.savedVersion == nil)
    try context.save()
    #expect(ann.savedVersion == 1)
    ann.name = "Anna"
    #expect(ann.savedVersion == 1, "changes that are not saved make no difference")
    try context.save()
    #expect(ann.savedVersion == 2)
    let bob = try context.person("Bob")
    try context.save()
    #expect(ann.savedVersion == 2, "a save of others makes none either")
    #expect(bob.savedVersion == 1)
  }

  @Test(arguments: TestStoreKind.allCases) func isThatOfTheValuesThatAreShown(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let (context, other) = (stack.context(), stack.context())
    let ann = try context.person("Ann")
    try context.save()
    let same = try #require(try other.fetch(FetchRequest<Person>()).first)
    other.refresh(same, mergeChanges: false)
    #expect(same.isFault)
    #expect(same.savedVersion == 1)
    #expect(!same.isFault)
    ann.name = "Anna"
    try context.save()
    #expect(same.savedVersion == 1)
    same.name = "Annie"
    #expect(throws: PersistenceError.self) { try other.save() }
    other.refresh(same, mergeChanges: true)
    #expect(same.savedVersion == 2)
    try other.save()
    #expect(same.savedVersion == 3)
  }

  @Test(arguments: TestStoreKind.allCases) func aRecordThatIsGoneHasNone(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let (context, other) = (stack.context(), stack.context())
    let ann = try context.person("Ann")
    try context.save()
    let same = try #require(try other.fetch(FetchRequest<Person>()).first)
    other.refresh(same, mergeChanges: false)
    context.delete(ann)
    try context.save()
    #expect(same.savedVersion == nil)
  }
}
