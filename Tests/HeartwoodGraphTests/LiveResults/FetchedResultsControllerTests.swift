import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

@Suite struct FetchedResultsControllerTests {
  @Test(arguments: TestStoreKind.allCases)
  func everyKindOfChangeIsTold(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    let (ann, cid) = (try context.person("ann"), try context.person("cid"))
    try context.save()
    let (controller, mirror) = try context.livePeople()
    #expect(controller.names == ["ann", "cid"])
    func expect(_ told: [String], _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) {
      context.processPendingChanges()
      #expect(mirror.takeTold() == told, sourceLocation: sourceLocation)
      #expect(controller.names == expected, sourceLocation: sourceLocation)
      mirror.check(controller, sourceLocation: sourceLocation)
    }
    let bob = try context.person("bob")
    expect([], ["ann", "cid"])
    let al = try context.person("al")
    expect(["+0.0"], ["al", "ann", "cid"])
    // Objects begin and cease to match.
    bob.name = "pop"
    expect(["+0.3"], ["al", "ann", "cid", "pop"])
    bob.name = "bo"
    expect(["-0.3"], ["al", "ann", "cid"])
    // One moves, and one changes where it is.
    ann.name = "zoe"
    expect(["0.1>0.2"], ["al", "cid", "zoe"])
    cid.name = "cyd"
    expect(["0.1~0.1"], ["al", "cyd", "zoe"])
    al.mentor = cid
    expect(["0.0~0.0", "0.1~0.1"], ["al", "cyd", "zoe"])
    // Several at once: the others need not move.
    al.name = "dan"
    _ = try context.person("aaa")
    context.delete(ann)
    expect(["-0.2", "+0.0", "0.0>0.2"], ["aaa", "cyd", "dan"])
    try context.save()
    expect([], ["aaa", "cyd", "dan"])
    context.delete(cid)
    // Who had a mentor has none.
    expect(["-0.1", "0.2~0.1"], ["aaa", "dan"])
    context.rollback()
    expect(["+0.1", "0.1~0.2"], ["aaa", "cyd", "dan"])
    // An event that changes nothing in the end tells of an object at most.
    let passer = try context.person("passer")
    context.delete(passer)
    expect([], ["aaa", "cyd", "dan"])
    context.reset()
    #expect(mirror.takeTold() == ["-0.0", "-0.1", "-0.2"])
    #expect(controller.fetchedObjects == nil)
    try controller.performFetch()
    #expect(controller.names == ["aaa", "cyd", "dan"])
  }

  @Test func sectionsComeAndGo() throws {
    let context = try TestStack().context()
    for name in ["ann", "al", "cid"] { _ = try context.person(name) }
    let (controller, mirror) = try context.livePeople(.computed { $0.name.first.map { String($0) } })
    func expect(_ told: [String], _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) {
      context.processPendingChanges()
      #expect(mirror.takeTold() == told, sourceLocation: sourceLocation)
      let sections = controller.sections.map { "\($0.name): \($0.objects.map(\.name).joined(separator: " "))" }
      #expect(sections == expected, sourceLocation: sourceLocation)
      mirror.check(controller, sourceLocation: sourceLocation)
    }
    expect([], ["a: al ann", "c: cid"])
    #expect(controller.sectionIndexTitles == ["A", "C"])
    #expect(controller.section(forSectionIndexTitle: "C") == 1)
    #expect(controller.section(forSectionIndexTitle: "X") == nil)
    #expect(controller.sections.map(\.indexTitle) == ["A", "C"])
    #expect(controller.sections.map(\.numberOfObjects) == [2, 1])
    let person = try #require(controller.object(at: .init(section: 1, item: 0)))
    person.name = "zed"
    expect(["-[c] 1", "+[z] 1", "1.0>1.0"], ["a: al ann", "z: zed"])
    person.name = "aa"
    expect(["-[z] 1", "1.0>0.0"], ["a: aa al ann"])
    let dan = try context.person("dan")
    expect(["+[d] 1", "+1.0"], ["a: aa al ann", "d: dan"])
    // All leave a section, and another comes into it: it stays.
    (dan.name, person.name) = ("ac", "dora")
    expect(["1.0>0.0", "0.0>1.0"], ["a: ac al ann", "d: dora"])
  }

  @Test func sectionsFollowRelationships() throws {
    let context = try TestStack().context()
    let (low, high) = (try context.insert(Shelf.self), try context.insert(Shelf.self))
    (low.title, high.title) = ("low", "high")
    let books = try ["A", "B", "C"].map { try context.book($0, on: $0 == "C" ? high : low) }
    try context.save()
    let controller = FetchedResultsController<Book>(
      FetchRequest(sortedBy: [FetchSortDescriptor("title")]),
      in: context,
      sectionNameKeyPath: "shelf.title"
    )
    try controller.performFetch()
    let mirror = LiveMirror(controller)
    func expect(_ told: [String], _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) {
      context.processPendingChanges()
      #expect(mirror.takeTold() == told, sourceLocation: sourceLocation)
      let sections = controller.sections.map { "\($0.name): \($0.objects.map { $0.title ?? "" }.joined())" }
      #expect(sections == expected, sourceLocation: sourceLocation)
      mirror.check(controller, sourceLocation: sourceLocation)
    }
    expect([], ["high: C", "low: AB"])
    books[1].shelf = high
    expect(["1.1>0.0"], ["high: BC", "low: A"])
    // The books themselves do not change.
    high.title = "zenith"
    expect(["-[high] 0", "+[zenith] 1", "0.0>1.0", "0.1>1.1"], ["low: A", "zenith: BC"])
    // What the results do not look at is no change of them.
    high.books = [books[2], books[1]]
    expect([], ["low: A", "zenith: BC"])
    context.delete(low)
    expect(["-[low] 0", "-0.0"], ["zenith: BC"])
    books[2].shelf = nil
    expect(["+[] 0", "0.1>0.0"], [": C", "zenith: B"])
    context.rollback()
    expect(["-[] 0", "-[zenith] 1", "+[high] 0", "+[low] 1", "+1.0", "0.0>0.0", "1.0>1.1"], ["high: C", "low: AB"])
  }

  @Test func whatHasNoInverseIsFetchedAgain() throws {
    let context = try TestStack().context()
    let notes = try ["a", "b", "c"].map { text in
      let note = try context.insert(Note.self)
      note.text = text
      return note
    }
    notes[0].about = notes[2]
    try context.save()
    let request = FetchRequest<Note>(where: try FetchPredicate(format: "about.text == 'x'"))
    let controller = FetchedResultsController(request, in: context)
    try controller.performFetch()
    let mirror = LiveMirror(controller)
    #expect(controller.sections.count == 1)
    notes[2].text = "x"
    context.processPendingChanges()
    #expect(mirror.takeTold() == ["+0.0"])
    #expect(try context.fetch(request) == [notes[0]])
    notes[1].text = "y"
    context.processPendingChanges()
    #expect(mirror.takeTold() == [])
    notes[2].text = "y"
    context.processPendingChanges()
    #expect(mirror.takeTold() == ["-0.0"])
    #expect(controller.sections.map(\.numberOfObjects) == [0])
  }

  @Test(arguments: [false, true], [false, true])
  func aDeletionThatIsTakenBackIsFollowed(_ isUndone: Bool, _ isFetchedBefore: Bool) throws {
    let context = try TestStack().context()
    context.undoManager = GraphUndoManager()
    let (ann, emma) = (try context.person("Ann"), try context.book("Emma"))
    emma.readers = [ann]
    try context.save()
    let request = FetchRequest<Person>(where: try FetchPredicate(format: "ANY books.title == 'Emma'"))
    let controller = FetchedResultsController(request, in: context)
    if isFetchedBefore { try controller.performFetch() }
    context.delete(emma)
    context.processPendingChanges()
    if !isFetchedBefore { try controller.performFetch() }
    // Ann goes on leading to the book, which denies its deletion.
    #expect(controller.names == [])
    #expect(persistenceError { try context.save() }?.context.validationFaults.map(\.kind) == [.deletionDenied])
    if isUndone { context.undo() } else { context.rollback() }
    context.processPendingChanges()
    #expect(try context.fetch(request) == [ann])
    #expect(controller.names == ["Ann"])
  }

  @Test func aLimitHolds() throws {
    let context = try TestStack().context()
    let people = try ["b", "c", "d", "e"].map { try context.person($0) }
    let controller = FetchedResultsController<Person>(
      FetchRequest(sortedBy: [Person.nameKey.ascending], offset: 1, limit: 2),
      in: context
    )
    try controller.performFetch()
    let mirror = LiveMirror(controller)
    #expect(controller.names == ["c", "d"])
    _ = try context.person("a")
    context.processPendingChanges()
    #expect(mirror.takeTold() == ["-0.1", "+0.0"])
    #expect(controller.names == ["b", "c"])
    context.delete(people[1])
    context.processPendingChanges()
    #expect(controller.names == ["b", "d"])
    mirror.check(controller)
  }

  @Test func aChangedRequestCountsFromTheNextFetchOn() throws {
    let context = try TestStack().context()
    for name in ["b", "b", "c"] { _ = try context.person(name) }
    try context.save()
    let controller = FetchedResultsController<Person>(
      FetchRequest(sortedBy: [Person.nameKey.ascending, Person.nameKey.descending], limit: 3),
      in: context
    )
    try controller.performFetch()
    let mirror = LiveMirror(controller)
    _ = try context.person("b")
    controller.fetchRequest.sortDescriptors = [Person.nameKey.ascending]
    context.processPendingChanges()
    #expect(controller.names == ["b", "b", "b"])
    _ = try context.person("a")
    controller.fetchRequest.fetchLimit = nil
    context.processPendingChanges()
    #expect(controller.names == ["a", "b", "b"])
    mirror.check(controller)
    _ = try context.person("b")
    controller.fetchRequest.sortDescriptors = [Person.nameKey.descending]
    try controller.performFetch()
    #expect(controller.names == ["c", "b", "b", "b", "b", "a"])
    mirror.copy(controller)
    _ = try context.person("d")
    context.processPendingChanges()
    #expect(controller.names == ["d", "c", "b", "b", "b", "b", "a"])
    mirror.check(controller)
  }

  @Test(arguments: TestStoreKind.allCases)
  func savesOfOthersComeWithTheMerge(_ kind: TestStoreKind) throws {
    let stack = try TestStack(kind)
    let context = stack.context()
    for name in ["ann", "cid", "dan"] { _ = try context.person(name) }
    try context.save()
    let reader = stack.context()
    let (controller, mirror) = try reader.livePeople()
    let saves = reader.observe(.objectsDidChange) { _ in }
    let other = stack.context()
    let found = try other.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    found[0].name = "zoe"
    other.delete(found[1])
    _ = try other.person("eve")
    _ = try other.person("bob")
    var told: ContextChanges?
    let observation = other.observe(.didSave) { told = $0 }
    try other.save()
    #expect(controller.names.count == 3)
    reader.mergeChanges(from: try #require(told))
    #expect(controller.names == ["dan", "eve", "zoe"])
    #expect(mirror.takeTold() == ["-0.1", "+0.1", "0.0>0.2"])
    mirror.check(controller)
    _ = (saves, observation)
  }

  @Test func refreshesAndChildrenAndUndoAreFollowed() throws {
    let stack = try TestStack()
    let context = stack.context()
    context.undoManager = GraphUndoManager()
    let (ann, cid) = (try context.person("ann"), try context.person("cid"))
    try context.save()
    let (controller, mirror) = try context.livePeople()
    context.undo()
    context.processPendingChanges()
    #expect(controller.names == [])
    context.redo()
    context.processPendingChanges()
    #expect(controller.names == ["ann", "cid"])
    mirror.check(controller)
    try context.save()
    let other = stack.context()
    let same = try #require(try other.fetch(Person.self, where: Person.nameKey == "ann").first)
    same.name = "dora"
    try other.save()
    #expect(controller.names == ["ann", "cid"])
    context.refreshAllObjects()
    #expect(controller.names == ["cid", "dora"])
    mirror.check(controller)
    let child = ManagedObjectContext(parent: context)
    let people = try child.fetch(Person.self, sortedBy: Person.nameKey.ascending)
    people[0].name = "bob"
    _ = try child.person("eve")
    try child.save()
    context.processPendingChanges()
    #expect(controller.names == ["dora", "eve"])
    mirror.check(controller)
    _ = (ann, cid)
  }

  @Test func mistakesAreToldBeforeAnythingIsFetched() throws {
    let context = try TestStack().context()
    _ = try context.insert(Tag.self)
    let controller = FetchedResultsController(FetchRequest<Person>(entityName: "Tag"), in: context)
    #expect(controller.fetchedObjects == nil && controller.sections.isEmpty)
    #expect(throws: PersistenceError.self) { try controller.performFetch() }
    let sections = FetchedResultsController<Person>(
      FetchRequest(sortedBy: [Person.nameKey.ascending]),
      in: context,
      sectionNameKeyPath: "friends"
    )
    #expect(throws: FetchPredicateError.self) { try sections.performFetch() }
    #expect(controller.fetchedObjects == nil)
  }

  @Test func controllersAreNotHeld() throws {
    let context = try TestStack().context()
    weak var gone: FetchedResultsController<Person>?
    do {
      let (controller, _) = try context.livePeople()
      gone = controller
    }
    #expect(gone == nil)
    _ = try context.person("ann")
    context.processPendingChanges()
  }
}
