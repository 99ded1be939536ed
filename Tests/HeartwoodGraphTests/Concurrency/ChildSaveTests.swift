import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// What becomes of a child's save of objects that the parent has changed too.
@MainActor
@Suite struct ChildSaveTests {
  /// A view context with an employee that is saved, and that employee in a child of another isolation.
  private struct Chain {
    let stack: TestStack
    let view: ViewContext
    let child: ManagedObjectContext
    let ann: Employee
    let inChild: Employee

    @MainActor
    init(_ kind: TestStoreKind) throws {
      stack = try TestStack(kind)
      view = ViewContext(stack.coordinator)
      ann = try view.context.insert(Employee.self)
      ann.name = "Ann"
      try view.context.save()
      child = ManagedObjectContext(parent: view)
      inChild = try #require(try child.existingObject(with: ann.objectID) as? Employee)
      #expect(inChild.name == "Ann")
    }

    var saved: [String] {
      get throws {
        try stack.context().fetch(Employee.self).map { "\($0.name) \($0.salary ?? 0)" }
      }
    }
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatAChildHasSeenItMayChange(_ kind: TestStoreKind) throws {
    let chain = try Chain(kind)
    chain.ann.salary = 5
    chain.view.context.publishChanges()
    chain.ann.name = "Anna"
    chain.child.refresh(chain.inChild, mergeChanges: false)
    #expect(chain.inChild.salary == 5)
    chain.inChild.salary = 6
    try chain.child.save()
    try chain.view.context.save()
    #expect(chain.ann.salary == 6)
    #expect(try chain.saved == ["Anna 6"])
  }

  @Test(arguments: TestStoreKind.allCases)
  func theLastSaveOfAChildCounts(_ kind: TestStoreKind) throws {
    let chain = try Chain(kind)
    chain.ann.name = "Anna"
    for salary in [1, 2] as [Int32] {
      chain.inChild.salary = salary
      try chain.child.save()
    }
    try chain.view.context.save()
    #expect(try chain.saved == ["Anna 2"])
  }

  @Test(arguments: TestStoreKind.allCases)
  func whatAChildHasNotSeenStays(_ kind: TestStoreKind) throws {
    let chain = try Chain(kind)
    chain.ann.name = "Anna"
    chain.inChild.name = "Child's"
    chain.inChild.salary = 1
    try chain.child.save()
    let error = persistenceError { try chain.view.context.save() }
    #expect(error?.code == .saveConflict)
    #expect(error?.context.objectIDs == [chain.ann.objectID])
    try chain.view.context.save()
    #expect(try chain.saved == ["Anna 1"])
    chain.child.refresh(chain.inChild, mergeChanges: false)
    chain.ann.name = "Annabel"
    chain.child.delete(chain.inChild)
    try chain.child.save()
    #expect(persistenceError { try chain.view.context.save() }?.code == .saveConflict)
    #expect(!chain.ann.isDeleted)
    try chain.view.context.save()
    #expect(try chain.saved == ["Annabel 1"])
  }

  @Test func whatIsAgainAsAChildHasSeenItTheChildMayChange() throws {
    let chain = try Chain(.inMemory)
    chain.ann.salary = 5
    chain.view.context.publishChanges()
    chain.child.refresh(chain.inChild, mergeChanges: false)
    chain.ann.salary = 7
    chain.ann.salary = 5
    chain.inChild.salary = 6
    try chain.child.save()
    try chain.view.context.save()
    #expect(try chain.saved == ["Ann 6"])
  }

  @Test func whatTheParentHasTakenBackStaysSo() throws {
    let chain = try Chain(.inMemory)
    chain.ann.name = "Anna"
    chain.view.context.publishChanges()
    chain.child.refresh(chain.inChild, mergeChanges: false)
    chain.inChild.name = "Child's"
    chain.ann.name = "Ann"
    try chain.child.save()
    let error = persistenceError { try chain.view.context.save() }
    #expect(error?.code == .saveConflict)
    #expect(error?.context.objectIDs == [chain.ann.objectID])
    #expect(chain.ann.name == "Ann")
    try chain.view.context.save()
    #expect(try chain.saved == ["Ann 0"])
  }

  @Test func whatWasPublishedOfAnObjectAChildMayDelete() throws {
    let chain = try Chain(.inMemory)
    chain.ann.name = "Anna"
    chain.view.context.publishChanges()
    chain.child.refresh(chain.inChild, mergeChanges: false)
    chain.child.delete(chain.inChild)
    try chain.child.save()
    try chain.view.context.save()
    #expect(try chain.saved.isEmpty)
  }

  @Test func whatWaitsWhileItsStoreIsConvertedIsNotLost() throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    let (ann, bob) = (try view.context.person("Ann"), try view.context.person("Bob"))
    ann.students = [bob]
    try view.context.save()
    let child = ManagedObjectContext(parent: view)
    let inChild = try #require(try child.existingObject(with: ann.objectID) as? Person)
    inChild.name = "Anna"
    child.delete(try child.existingObject(with: bob.objectID))
    inChild.students = [try child.person("Cid")]
    try child.save()
    try stack.convertToNumbers()
    try view.context.save()
    #expect(ann.name == "Anna" && bob.isDeleted)
    #expect(ann.students.map(\.name) == ["Cid"])
    let context = stack.context()
    #expect(Set(try context.fetch(Person.self).map(\.name)) == ["Anna", "Cid"])
    try expectBothEndsAgree(context)
  }

  @Test func whatAParentKnowsByAChildAloneGetsTheNamesOfAConvertedStore() throws {
    let stack = try TestStack()
    let view = ViewContext(stack.coordinator)
    let child = ManagedObjectContext(parent: view)
    _ = try child.person("Ann")
    try child.save()
    view.context.publishChanges()
    try stack.convertToNumbers()
    try view.context.save()
    #expect(try stack.context().fetch(Person.self).map(\.name) == ["Ann"])
  }
}
