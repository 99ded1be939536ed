import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

private final class Label: ManagedObject {
  static let pagesKey = ToManyKey<Page>("pages")

  var pages: RelatedSet<Page> {
    get { self[set: Self.pagesKey] }
    set { self[set: Self.pagesKey] = newValue }
  }
}

private final class Page: ManagedObject {
  static let labelsKey = ToManyKey<Label>("labels")
  static let bookKey = ToOneKey<Volume>("book")

  var labels: RelatedSet<Label> {
    get { self[set: Self.labelsKey] }
    set { self[set: Self.labelsKey] = newValue }
  }
  var book: Volume? {
    get { self[Self.bookKey] }
    set { self[Self.bookKey] = newValue }
  }
}

private final class Volume: ManagedObject {
  static let pagesKey = ToManyKey<Page>("pages")

  var pages: RelatedList<Page> {
    get { self[list: Self.pagesKey] }
    set { self[list: Self.pagesKey] = newValue }
  }
}

/// To-many relationships as sets and lists that are changed in place.
@Suite struct RelatedObjectsTests {
  private static func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel(entities: [
      .entity("Label", .attribute("title", .string, optional: true), .toMany("pages", "Page", inverse: "labels")),
      .entity("Page", .toMany("labels", "Label", inverse: "pages"), .toOne("book", "Volume", inverse: "pages")),
      .entity("Volume", .toMany("pages", "Page", inverse: "book", ordered: true)),
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: .default,
      objectClasses: [Label.self, Page.self, Volume.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  private static func pages(_ count: Int, in context: ManagedObjectContext, saved: Bool) throws -> [Page] {
    let pages = try (0..<count).map { _ in try context.insert(Page.self) }
    if saved { try context.save() }
    return pages
  }

  @Test(arguments: [false, true])
  func aSetIsChangedInPlace(_ saved: Bool) throws {
    let context = try Self.context()
    let pages = try Self.pages(3, in: context, saved: saved)
    let label = try context.insert(Label.self)
    #expect(label.pages.isEmpty)
    #expect(label.pages.insert(pages[0]).inserted)
    #expect(!label.pages.insert(pages[0]).inserted)
    #expect(pages[0].labels == [label])
    label.pages.formUnion([pages[1], pages[2]])
    #expect(label.pages.count == 3 && label.pages.contains(pages[2]))
    #expect(label.pages.remove(pages[0]) == pages[0])
    #expect(label.pages.remove(pages[0]) == nil)
    #expect(pages[0].labels.isEmpty)
    label.pages.formSymmetricDifference([pages[0], pages[1]])
    #expect(label.pages == [pages[0], pages[2]])
    label.pages.formIntersection([pages[1], pages[2]])
    #expect(Set(label.pages) == [pages[2]])
    label.pages = [pages[0], pages[1]]
    #expect(pages.map { $0.labels.contains(label) } == [true, true, false])
    let other = try context.insert(Label.self)
    other.pages = label.pages
    other.pages.subtract([pages[0]])
    #expect(label.pages == [pages[0], pages[1]])
    #expect(other.pages == [pages[1]])
    try context.save()
    context.refresh(label, mergeChanges: false)
    #expect(label.pages == [pages[0], pages[1]])
    label.pages.removeAll()
    #expect(label.pages.isEmpty && pages[0].labels.isEmpty)
  }

  @Test func setOperationsGiveSetsOfTheirOwn() throws {
    let context = try Self.context()
    let pages = try Self.pages(3, in: context, saved: false)
    let label = try context.insert(Label.self)
    label.pages = [pages[0], pages[1]]
    var union = label.pages.union([pages[2]])
    #expect(union == Set(pages))
    #expect(label.pages.intersection([pages[1], pages[2]]) == [pages[1]])
    #expect(label.pages.symmetricDifference([pages[1], pages[2]]) == [pages[0], pages[2]])
    #expect(label.pages.subtracting(label.pages) == [])
    #expect(label.pages.isSubset(of: union) && !label.pages.isSuperset(of: union))
    #expect(label.pages.isSuperset(of: [pages[1]]) && label.pages.isDisjoint(with: [pages[2]]))
    union.remove(pages[0])
    union.insert(pages[2])
    #expect(label.pages == [pages[0], pages[1]])
    union.removeAll()
    #expect(union.isEmpty)
  }

  @Test func aViewShowsAndChangesItsObject() throws {
    let context = try Self.context()
    let pages = try Self.pages(3, in: context, saved: false)
    let (label, book) = (try context.insert(Label.self), try context.insert(Volume.self))
    let (labelled, bound) = (label.pages, book.pages)
    labelled.insert(pages[0])
    bound.append(pages[1])
    #expect(label.pages == [pages[0]] && book.pages == [pages[1]])
    label.pages.insert(pages[2])
    book.pages = [pages[2], pages[1]]
    #expect(labelled == [pages[0], pages[2]] && bound.objects == [pages[2], pages[1]])
    labelled.formUnion(labelled)
    labelled.subtract(labelled)
    bound[0] = pages[0]
    #expect(label.pages.isEmpty && book.pages == [pages[0], pages[1]])
  }

  @Test func objectsOfNoRelationshipAreViewedAlike() throws {
    let context = try Self.context()
    let pages = try Self.pages(3, in: context, saved: false)
    let (label, book) = (try context.insert(Label.self), try context.insert(Volume.self))
    let (chosen, ordered): (RelatedSet<Page>, RelatedList<Page>) = ([], [pages[2], pages[2]])
    let same = chosen
    #expect(chosen.insert(pages[0]).inserted && !chosen.insert(pages[0]).inserted)
    chosen.formUnion(pages[1...])
    #expect(same.remove(pages[1]) == pages[1] && same.remove(pages[1]) == nil)
    ordered.append(pages[0])
    ordered.append(pages[0])
    ordered.insert(pages[1], at: 0)
    #expect(ordered.remove(pages[2]) && !ordered.remove(pages[2]))
    (label.pages, book.pages) = (chosen, ordered)
    #expect(label.pages == [pages[0], pages[2]] && book.pages == [pages[1], pages[0]])
    // What was assigned is taken over; the two are no one afterwards.
    chosen.removeAll()
    ordered.removeAll()
    #expect(label.pages.count == 2 && book.pages.count == 2)
  }

  @Test(arguments: [false, true])
  func aListIsChangedInPlace(_ saved: Bool) throws {
    let context = try Self.context()
    let pages = try Self.pages(4, in: context, saved: saved)
    let book = try context.insert(Volume.self)
    book.pages.append(pages[0])
    book.pages.append(pages[0])
    book.pages.insert(pages[1], at: 0)
    book.pages.insert(pages[1], at: 1)
    #expect(book.pages.objects == [pages[1], pages[0]])
    #expect(pages[1].book == book)
    book.pages.append(pages[2])
    book.pages.move(from: 0, to: 2)
    #expect(book.pages.objects == [pages[0], pages[2], pages[1]])
    book.pages[0] = pages[3]
    #expect(pages[0].book == nil && pages[3].book == book)
    book.pages[2] = pages[3]
    #expect(book.pages == [pages[2], pages[3]])
    #expect(pages[1].book == nil)
    #expect(book.pages.remove(at: 0) == pages[2])
    #expect(!book.pages.remove(pages[2]) && book.pages.remove(pages[3]))
    #expect(book.pages.isEmpty)
    book.pages = [pages[3], pages[1], pages[3]]
    #expect(Array(book.pages) == [pages[3], pages[1]] && book.pages.contains(pages[1]) && book.pages.count == 2)
    let other = try context.insert(Volume.self)
    other.pages = book.pages
    #expect(book.pages.isEmpty)
    #expect(pages[1].book == other)
    try context.save()
    context.refresh(other, mergeChanges: false)
    #expect(other.pages == [pages[3], pages[1]])
    other.pages.removeAll()
    #expect(pages[3].book == nil)
  }

  @Test func mutationsAreUndone() throws {
    let context = try Self.context()
    context.undoManager = GraphUndoManager()
    let pages = try Self.pages(3, in: context, saved: true)
    let book = try context.insert(Volume.self)
    book.pages = [pages[0], pages[1], pages[2]]
    context.processPendingChanges()
    book.pages.move(from: 2, to: 0)
    pages[1].labels.insert(try context.insert(Label.self))
    context.undo()
    #expect(book.pages == [pages[0], pages[1], pages[2]])
    #expect(pages[1].labels.isEmpty)
  }

  @Test func mistakesStop() async {
    let stop1 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Self.context()
      _ = try context.insert(Volume.self)[set: Volume.pagesKey]
    }
    expect(stop1, says: "Volume.pages has an order. Use the list subscript.")
    let stop2 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Self.context()
      _ = try context.insert(Label.self)[list: Label.pagesKey]
    }
    expect(stop2, says: "Label.pages has no order. Use the set subscript.")
    let stop3 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (context, other) = (try Self.context(), try Self.context())
      let (label, page) = (try context.insert(Label.self), try other.insert(Page.self))
      withExtendedLifetime((context, other)) { _ = label.pages.insert(page) }
    }
    expect(stop3, says: "objects of its own context")
  }
}
