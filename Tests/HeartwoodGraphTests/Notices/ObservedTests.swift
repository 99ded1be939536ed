import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Observation
import Synchronization
import Testing

/// Objects that the Observation framework tells of.
@Suite struct ObservedTests {
  private final class Counter: Sendable {
    let count = Mutex(0)
  }

  /// How often what `read` has read is changed by `change`; the framework tells once at most.
  private func changes(_ read: () -> Void, _ change: () throws -> Void) rethrows -> Int {
    let counter = Counter()
    withObservationTracking(read) { counter.count.withLock { $0 += 1 } }
    try change()
    return counter.count.withLock { $0 }
  }

  @Test func changesOfTheObjectAreTold() throws {
    let stack = try TestStack()
    let context = stack.context()
    let (ann, bob) = (try context.person("Ann"), try context.person("Bob"))
    try context.save()
    let observed = Observed(ann)
    let read = { _ = observed.name }
    let end = { context.processPendingChanges() }
    #expect(
      changes(read) {
        ann.name = "Anna"; end()
      } == 1
    )
    #expect(observed.name == "Anna" && observed.object === ann && observed.id == ann.objectID)
    #expect(
      changes(read) {
        bob.name = "Bobby"; end()
      } == 0
    )
    #expect(
      changes(read) {
        context.rollback(); end()
      } == 1
    )
    #expect(observed.name == "Ann")
    #expect(
      changes(read) {
        context.delete(ann); end()
      } == 1
    )
  }

  @Test func whatIsSetThroughItIsToldAtOnce() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    let observed = Observed(ann)
    #expect(changes({ _ = observed.name }) { observed.name = "Anna" } == 1)
    #expect(ann.name == "Anna")
    try context.save()
    #expect(observed.id == ann.objectID && !observed.id.isTemporaryID)
  }

  @Test func savesOfOthersAreTold() throws {
    let stack = try TestStack()
    let (context, other) = (stack.context(), stack.context())
    let ann = try context.person("Ann")
    try context.save()
    let observed = Observed(ann)
    let count = try changes({ _ = observed.name }) {
      try #require(try other.existingObject(with: ann.objectID) as? Person).name = "Anna"
      try other.save()
      context.refresh(ann, mergeChanges: true)
      context.processPendingChanges()
    }
    #expect(count == 1 && observed.name == "Anna")
  }

  @Test func anObservationEndsWithItsOwner() throws {
    let context = try TestStack().context()
    let ann = try context.person("Ann")
    weak var observed: Observed<Person>?
    do {
      let strong = Observed(ann)
      observed = strong
      #expect(strong.name == "Ann")
    }
    #expect(observed == nil)
    ann.name = "Anna"
    context.processPendingChanges()
  }
}
