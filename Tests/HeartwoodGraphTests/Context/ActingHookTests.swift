import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// An object whose hooks do what a test says.
private final class Member: ManagedObject {
  static let nameKey = AttributeKey<String>("name")
  static let partnerKey = ToOneKey<Member>("partner")
  static let bossKey = ToOneKey<Member>("boss")
  static let staffKey = ToManyKey<Member>("staff")

  /// What is to be done by name of the hook and of the object.
  typealias Deeds = [String: (Member) throws -> Void]

  var events: [String] = []

  var name: String {
    get { self[Self.nameKey] }
    set { self[Self.nameKey] = newValue }
  }
  var partner: Member? {
    get { self[Self.partnerKey] }
    set { self[Self.partnerKey] = newValue }
  }
  var boss: Member? {
    get { self[Self.bossKey] }
    set { self[Self.bossKey] = newValue }
  }
  var staff: [Member] {
    get { self[Self.staffKey] }
    set { self[Self.staffKey] = newValue }
  }

  override func awakeFromInsert() { act("insert") }
  override func prepareForDeletion() { act("delete \(name)") }
  override func willSave() { act("save \(name)") }
  override func didSave() { act("saved \(name)") }

  private func act(_ hook: String) {
    events.append(hook)
    let deeds = managedObjectContext?.userInfo["deeds"] as? Deeds
    do { try deeds?[hook]?(self) } catch { Issue.record(error) }
  }
}

extension ManagedObjectContext {
  fileprivate func member(_ name: String) throws -> Member {
    let member = try insert(Member.self)
    member.name = name
    return member
  }

  fileprivate func named(_ name: String) throws -> Member {
    try #require(try fetch(Member.self).first { $0.name == name })
  }

  fileprivate func deed(_ hook: String, _ body: @escaping (Member) throws -> Void) {
    var deeds = userInfo["deeds"] as? Member.Deeds ?? [:]
    deeds[hook] = body
    userInfo["deeds"] = deeds
  }
}

/// Hooks of objects' lives that insert, change and delete other objects.
@Suite struct ActingHookTests {
  private let coordinator: PersistentStoreCoordinator

  /// What has Ann, the boss of Bob and Cid, and Dan, saved.
  init() throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Member",
        .attribute("name", .string, default: .string("new")),
        .toOne("partner", "Member", inverse: "partner", deleteRule: .cascade),
        .toOne("boss", "Member", inverse: "staff"),
        .toMany("staff", "Member", inverse: "boss", ordered: true, deleteRule: .cascade)
      )
    ])
    coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: .default,
      objectClasses: [Member.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let ann = try context.member("Ann")
    ann.staff = [try context.member("Bob"), try context.member("Cid")]
    _ = try context.member("Dan")
    try context.save()
  }

  private func context(_ isChild: Bool) -> ManagedObjectContext {
    let context = ManagedObjectContext(coordinator)
    return isChild ? ManagedObjectContext(parent: context) : context
  }

  /// The names of all that is saved, sorted.
  private func stored() throws -> [String] {
    try ManagedObjectContext(coordinator).fetch(Member.self).map(\.name).sorted()
  }

  // MARK: willSave

  @Test(arguments: [false, true])
  func willSaveDeletesOthers(_ isChild: Bool) throws {
    let context = context(isChild)
    let (ann, bob, dan) = (try context.named("Ann"), try context.named("Bob"), try context.named("Dan"))
    let (eve, fay) = (try context.member("Eve"), try context.member("Fay"))
    // New objects, one of which was told already, and a changed one with all that its deletion cascades to.
    context.deed("save Eve") { _ in context.delete(fay) }
    context.deed("save Daniel") { _ in for other in [eve, ann] where !other.isDeleted { context.delete(other) } }
    ann.name = "Anna"
    bob.name = "Bobby"
    dan.name = "Daniel"
    try context.saveToPersistentStore()
    #expect(try stored() == ["Daniel"])
    #expect(!context.hasChanges && context.registeredObjects.allSatisfy { !$0.hasChanges })
    #expect(eve.managedObjectContext == nil && fay.managedObjectContext == nil && ann.managedObjectContext == nil)
    #expect(!eve.events.contains("saved Eve") && !fay.events.contains("save Fay"))
  }

  @Test(arguments: [false, true])
  func willSaveDeletesItsOwnObject(_ isChild: Bool) throws {
    let context = context(isChild)
    let (dan, eve) = (try context.named("Dan"), try context.member("Eve"))
    dan.partner = try context.named("Cid")
    for name in ["Dan", "Eve"] { context.deed("save \(name)") { if !$0.isDeleted { context.delete($0) } } }
    try context.saveToPersistentStore()
    #expect(try stored() == ["Ann", "Bob"], "the deletion goes on to the partner")
    #expect(eve.isDeleted && dan.isDeleted && !context.hasChanges)
    #expect(eve.managedObjectContext == nil)
  }

  @Test(arguments: [false, true])
  func willSaveOfADeletedObjectLeavesAnother(_ isChild: Bool) throws {
    let context = context(isChild)
    let dan = try context.named("Dan")
    var new: Member?
    context.deed("save Dan") { dan in
      #expect(dan.isDeleted)
      if new == nil { new = try context.member("Was Dan") }
      new?.boss = try context.named("Ann")
    }
    context.delete(dan)
    try context.saveToPersistentStore()
    #expect(try stored() == ["Ann", "Bob", "Cid", "Was Dan"])
    let found = try #require(new)
    #expect(found.events == ["insert", "save Was Dan", "saved Was Dan"])
    #expect(found.boss?.staff.map(\.name) == ["Bob", "Cid", "Was Dan"])
  }

  @Test func whatDidSaveChangesIsForTheNextSave() throws {
    let context = context(false)
    let dan = try context.named("Dan")
    context.deed("saved Daniel") { _ in
      _ = try context.member("Eve")
      context.delete(try context.named("Cid"))
    }
    dan.name = "Daniel"
    try context.save()
    #expect(try stored() == ["Ann", "Bob", "Cid", "Daniel"])
    #expect(context.insertedObjects.count == 1 && context.deletedObjects.count == 1)
    try context.save()
    #expect(try stored() == ["Ann", "Bob", "Daniel", "Eve"])
  }

  // MARK: prepareForDeletion

  @Test(arguments: [false, true])
  func deletionsThatLeadToEachOtherEnd(_ isNew: Bool) throws {
    let context = context(false)
    let (first, second) = (try context.member("First"), try context.member("Second"))
    first.partner = second
    if !isNew { try context.save() }
    context.deed("delete First") { _ in context.delete(second) }
    context.deed("delete Second") { _ in context.delete(first) }
    context.delete(first)
    #expect(first.isDeleted && second.isDeleted)
    #expect(first.events.count { $0.hasPrefix("delete") } == 1 && second.events.count { $0.hasPrefix("delete") } == 1)
    try context.save()
    #expect(try stored() == ["Ann", "Bob", "Cid", "Dan"])
  }

  @Test func anObjectMayDeleteItselfAsItIsDeleted() throws {
    let context = context(false)
    let dan = try context.named("Dan")
    context.deed("delete Dan") { context.delete($0) }
    context.delete(dan)
    #expect(dan.isDeleted && dan.events == ["delete Dan"])
    context.rollback()
    context.delete(dan)
    #expect(dan.events == ["delete Dan", "delete Dan"], "a deletion that was taken back can be made again")
    try context.save()
    #expect(try stored() == ["Ann", "Bob", "Cid"])
  }

  @Test func prepareForDeletionChangesWhatTheRulesApplyTo() throws {
    let context = context(false)
    let ann = try context.named("Ann")
    let heir = try context.named("Dan")
    context.undoManager = GraphUndoManager()
    context.deed("delete Ann") { ann in
      // Without their boss, they would go with her.
      heir.staff = ann.staff
      ann.partner = try context.member("Widower")
      context.deed("delete Widower") { _ in _ = try context.member("Grave") }
    }
    context.delete(ann)
    context.processPendingChanges()
    #expect(context.insertedObjects.compactMap { ($0 as? Member)?.name } == ["Grave"])
    #expect(heir.staff.map(\.name) == ["Bob", "Cid"])
    context.undo()
    #expect(ann.staff.map(\.name) == ["Bob", "Cid"] && heir.staff.isEmpty && !context.hasChanges)
    context.redo()
    try context.save()
    #expect(try stored() == ["Bob", "Cid", "Dan", "Grave"])
  }

  // MARK: awakeFromInsert

  @Test func awakeFromInsertDeletesAndInserts() throws {
    let context = context(false)
    context.deed("insert") { new in
      if new.managedObjectContext?.insertedObjects.count == 1 {
        context.delete(try context.named("Ann"))
        new.partner = try context.member("Partner")
      }
    }
    let eve = try context.member("Eve")
    #expect(eve.partner?.name == "Partner")
    try context.save()
    #expect(try stored() == ["Dan", "Eve", "Partner"])
    context.deed("insert") { context.delete($0) }
    let nobody = try context.insert(Member.self)
    #expect(nobody.isDeleted && nobody.managedObjectContext == nil && !context.hasChanges)
  }

  // MARK: Validation

  @Test func aParentValidatesWhatAChildHasDeleted() throws {
    let model = try ManagedObjectModel(entities: [.entity("Anchor", .attribute("weight", .integer32))])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: .default,
      objectClasses: [Anchor.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let parent = ManagedObjectContext(coordinator)
    let (light, heavy) = (try parent.insert(Anchor.self), try parent.insert(Anchor.self))
    light[Anchor.weightKey] = 1
    heavy[Anchor.weightKey] = 1000
    try parent.save()
    parent.refresh(heavy, mergeChanges: false)
    let child = ManagedObjectContext(parent: parent)
    for anchor in try child.fetch(Anchor.self) { child.delete(anchor) }
    try child.save()
    let error = try #require(persistenceError { try parent.save() })
    #expect(error.code == .validationFailed && error.context.objectIDs == [heavy.objectID])
    #expect(parent.deletedObjects.count == 2)
    #expect(try ManagedObjectContext(coordinator).count(entityName: "Anchor") == 2)
    parent.rollback()
    #expect(try child.fetch(Anchor.self).count == 2)
    child.delete(try child.existingObject(with: light.objectID))
    try child.saveToPersistentStore()
    #expect(try ManagedObjectContext(coordinator).fetch(Anchor.self).map { $0[Anchor.weightKey] } == [1000])
  }
}

/// An object that only a context over the stores holds fast.
private final class Anchor: ManagedObject {
  static let weightKey = AttributeKey<Int>("weight")

  override func validateForDelete() throws {
    if managedObjectContext?.parent == nil, self[Self.weightKey] > 100 { throw validationFault("is too heavy.") }
  }
}
