import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import Testing

/// An object that notes its life, and counts its saves.
private final class Member: ManagedObject {
  static let nameKey = AttributeKey<String?>("name")
  static let savesKey = AttributeKey<Int>("saves")
  static let friendKey = ToOneKey<Member>("friend")

  var events: [String] = []
  /// What the object does when it is told that it will be saved.
  var beforeSave: ((Member) -> Void)?

  var name: String? {
    get { self[Self.nameKey] }
    set { self[Self.nameKey] = newValue }
  }
  var saves: Int {
    get { self[Self.savesKey] }
    set { self[Self.savesKey] = newValue }
  }
  var friend: Member? {
    get { self[Self.friendKey] }
    set { self[Self.friendKey] = newValue }
  }

  override func awakeFromInsert() { events.append("awakeFromInsert") }
  override func awakeFromFetch() { events.append("awakeFromFetch") }
  override func awake(fromSnapshotEvents snapshotEvents: SnapshotEventType) {
    events.append("awake \(snapshotEvents.rawValue)")
  }
  override func prepareForDeletion() { events.append("prepareForDeletion") }
  override func willSave() {
    events.append("willSave")
    beforeSave?(self)
  }
  override func didSave() { events.append("didSave \(hasChanges)") }
  override func validateForInsert() throws { events.append("validateForInsert") }
  override func validateForUpdate() throws { events.append("validateForUpdate") }
  override func validateForDelete() throws { events.append("validateForDelete") }
  override func willTurnIntoFault() { events.append("willTurnIntoFault \(isFault)") }
  override func didTurnIntoFault() { events.append("didTurnIntoFault \(isFault)") }

  func takeEvents() -> [String] {
    defer { events = [] }
    return events
  }
}

@Suite struct SaveHookTests {
  private static func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Member",
        .attribute("name", .string, optional: true),
        .attribute("saves", .integer32, default: .integer(0)),
        .toOne("friend", "Member", inverse: "friend")
      )
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: .default,
      objectClasses: [Member.self]
    )
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return ManagedObjectContext(coordinator)
  }

  @Test func theHooksOfALifeComeInOrder() throws {
    let context = try Self.context()
    let member = try context.insert(Member.self)
    try context.save()
    #expect(member.takeEvents() == ["awakeFromInsert", "willSave", "validateForInsert", "didSave false"])
    context.refresh(member, mergeChanges: false)
    #expect(member.takeEvents() == ["willTurnIntoFault false", "didTurnIntoFault true"])
    context.refresh(member, mergeChanges: false)
    #expect(member.takeEvents().isEmpty)
    member.name = "Ann"
    try context.save()
    #expect(member.takeEvents() == ["awakeFromFetch", "willSave", "validateForUpdate", "didSave false"])
    member.name = "Anna"
    context.rollback()
    #expect(member.takeEvents() == ["awake \(SnapshotEventType.rollback.rawValue)"])
    context.delete(member)
    try context.save()
    #expect(member.takeEvents() == ["prepareForDeletion", "willSave", "validateForDelete", "didSave false"])
    try context.save()
    #expect(member.takeEvents().isEmpty)
  }

  @Test func undoTellsWhatItDid() throws {
    let context = try Self.context()
    let member = try context.insert(Member.self)
    try context.save()
    context.undoManager = GraphUndoManager()
    member.name = "Ann"
    context.undo()
    context.delete(member)
    context.undo()
    _ = member.takeEvents()
    context.redo()
    context.undo()
    #expect(
      member.takeEvents()
        == [SnapshotEventType.undoInsertion, .undoDeletion].map { "awake \($0.rawValue)" }
    )
  }

  @Test func whatWillSaveChangesIsSavedToo() throws {
    let context = try Self.context()
    let (ann, bob, cid) = (
      try context.insert(Member.self), try context.insert(Member.self), try context.insert(Member.self)
    )
    try context.save()
    for member in [ann, bob, cid] { _ = member.takeEvents() }
    // Ann changes herself once, and Bob, who makes somebody new.
    ann.beforeSave = { ann in
      if ann.saves == 0 { ann.saves = 1 }
      if bob.name == nil { bob.name = "Bob" }
    }
    var new: Member?
    bob.beforeSave = { bob in
      if new == nil { new = try? bob.managedObjectContext?.insert(Member.self) }
    }
    ann.name = "Ann"
    try context.save()
    #expect(ann.takeEvents() == ["willSave", "willSave", "validateForUpdate", "didSave false"])
    #expect(bob.takeEvents().filter { $0 == "willSave" }.count == 1)
    #expect(new?.takeEvents() == ["awakeFromInsert", "willSave", "validateForInsert", "didSave false"])
    #expect(cid.takeEvents().isEmpty)
    #expect(!context.hasChanges)
    context.refresh(ann, mergeChanges: false)
    #expect(ann.saves == 1)
  }

  @MainActor
  @Test func whatAChildHasJustSavedIsToldToo() throws {
    let view = ViewContext(try Self.context().persistentStoreCoordinator)
    let own = try view.context.insert(Member.self)
    let child = ManagedObjectContext(parent: view)
    let new = try child.insert(Member.self)
    try child.save()
    var saved: [Member] = []
    let observation = view.context.observe(.willSave) { changes in
      saved = changes.insertedObjectIDs.compactMap { view.context.registeredObject(for: $0) as? Member }
    }
    try withExtendedLifetime(observation) { try view.context.save() }
    #expect(saved.count == 2)
    let arrived = try #require(saved.first { $0 !== own })
    #expect(arrived.objectID == new.objectID)
    #expect(arrived.takeEvents() == ["willSave", "validateForInsert", "didSave false"])
  }

  @Test func primitiveValuesDoNotDisturb() throws {
    let context = try Self.context()
    let ann = try context.insert(Member.self)
    ann.beforeSave = { $0[primitive: Member.savesKey] += 1 }
    try context.save()
    #expect(ann.takeEvents() == ["awakeFromInsert", "willSave", "validateForInsert", "didSave false"])
    #expect(try ann.committedValues(forKeys: ["saves"]) == ["saves": .integer(1)])
  }

  @Test func whatNeverSettlesIsAnError() throws {
    let context = try Self.context()
    let ann = try context.insert(Member.self)
    ann.beforeSave = { $0.saves += 1 }
    let error = try #require(persistenceError { try context.save() })
    #expect(error.code == .saveNeverSettles)
    #expect(error.context.objectIDs == [ann.objectID])
    #expect(ann.isInserted && ann.saves == 1000)
    ann.beforeSave = nil
    try context.save()
  }

  @Test func didSaveIsNotToldOfASaveThatFailed() throws {
    let members = try Self.context()
    let ann = try members.insert(Member.self)
    let coordinator = members.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    #expect(persistenceError { try members.save() }?.code == .storeNotOpen)
    #expect(!ann.events.contains { $0.hasPrefix("didSave") })
  }

  @Test func mistakesStop() async {
    let stop1 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try Self.context()
      try context.insert(Member.self).beforeSave = { try? $0.managedObjectContext?.save() }
      try context.save()
    }
    expect(stop1, says: "An object saves its context in its willSave()")
  }
}
