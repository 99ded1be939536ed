import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@Suite struct EngineUniquenessTests {
  private let model: ManagedObjectModel
  private let person: EntityDescription
  private let employee: EntityDescription
  private let engine: AtomicStoreEngine

  init() throws {
    model = try ManagedObjectModel(entities: [
      .entity(
        "Person",
        unique: [["email"], ["country", "number"]],
        .attribute("email", .string, optional: true),
        .attribute("country", .string, optional: true),
        .attribute("number", .integer64, optional: true)
      ),
      .entity("Employee", parent: "Person", unique: [["badge"]], .attribute("badge", .uuid, optional: true)),
    ])
    person = try #require(model.entity(named: "Person"))
    employee = try #require(model.entity(named: "Employee"))
    let setup = StoreSetup(
      model: model,
      configurationName: nil,
      entities: model.entities,
      path: nil,
      options: StoreOptions()
    )
    engine = try AtomicStoreEngine.open(
      AtomicClassFormat(InMemoryStore.self),
      setup: setup,
      fileSystem: InMemoryFileSystem()
    )
  }

  private func snapshot(_ entity: EntityDescription, _ named: [String: PropertyValue]) -> ObjectSnapshot {
    let id = ManagedObjectID.temporary(in: ObjectIDScope(storeIdentifier: nil, entity: entity))
    return ObjectSnapshot(objectID: id, version: 0, values: entity.properties.map { named[$0.name] ?? .null })
  }

  private func insert(_ entity: EntityDescription, _ named: [String: PropertyValue]...) throws {
    _ = try engine.save(ChangeSet(inserted: named.map { snapshot(entity, $0) }), origin: SaveOrigin())
  }

  private func update(_ node: AtomicStoreCacheNode, _ name: String, _ value: PropertyValue) throws -> RecordUpdate {
    let ordinal = try #require(node.entity.ordinal(ofProperty: name))
    return RecordUpdate(objectID: node.objectID, baseVersion: node.version, values: [(ordinal, value)])
  }

  private func save(_ changes: ChangeSet) throws {
    _ = try engine.save(changes, origin: SaveOrigin())
  }

  private func node(email: PropertyValue) throws -> AtomicStoreCacheNode {
    try #require(try engine.contents().nodes.first { $0["email"] == email })
  }

  @Test func collisionsAreToldWithBothIDsAndTheConstraint() throws {
    try insert(person, ["email": "a"], ["email": "b"])
    let a = try node(email: "a")
    let error = #expect(throws: PersistenceError.self) { try insert(person, ["email": "c"], ["email": "a"]) }
    #expect(error?.code == .constraintConflict)
    #expect(error?.cocoaErrorCode == 133_021)
    let conflict = try #require(error?.context.constraintConflicts.first)
    #expect(error?.context.constraintConflicts.count == 1)
    #expect(conflict.constraint == ["email"] && conflict.isStored && conflict.conflictingID == a.objectID)
    #expect(error?.context.property == "email" && error?.context.entity == "Person")
    #expect(error?.message.contains("email") == true)
    #expect(try engine.count(of: person) == 2)
  }

  @Test func collisionsWithinOneSaveAreTold() throws {
    let error = #expect(throws: PersistenceError.self) { try insert(person, ["email": "x"], ["email": "x"]) }
    #expect(error?.context.constraintConflicts.map(\.isStored) == [false])
    #expect(try engine.count(of: person) == 0)
    try insert(person, ["email": "x"])
  }

  @Test func aMissingValueCollidesWithNone() throws {
    try insert(person, [:], [:], ["country": "CH"], ["country": "CH"], ["country": "CH", "number": .integer(1)])
    #expect(errorCode { try insert(person, ["country": "CH", "number": .integer(1)]) } == .constraintConflict)
    try insert(person, ["country": "DE", "number": .integer(1)])
  }

  @Test func subentitiesShareInheritedConstraintsAndKeepTheirOwn() throws {
    let badge = PropertyValue.uuid(UUID())
    try insert(person, ["email": "a"])
    #expect(errorCode { try insert(employee, ["email": "a"]) } == .constraintConflict)
    try insert(employee, ["email": "b", "badge": badge])
    #expect(errorCode { try insert(person, ["email": "b"]) } == .constraintConflict)
    #expect(errorCode { try insert(employee, ["email": "c", "badge": badge]) } == .constraintConflict)
  }

  @Test func valuesThatAreGivenUpCanBeTaken() throws {
    try insert(person, ["email": "a"], ["email": "b"])
    try save(ChangeSet(deleted: [.init(objectID: try node(email: "a").objectID, baseVersion: 1)]))
    try insert(person, ["email": "a"])
    let (a, b) = (try node(email: "a"), try node(email: "b"))
    #expect(errorCode { try save(ChangeSet(updated: [try update(b, "email", "a")])) } == .constraintConflict)
    // Both change places in one save.
    try save(ChangeSet(updated: [try update(a, "email", "b"), try update(b, "email", "a")]))
    #expect(try node(email: "a").objectID == b.objectID)
    #expect(errorCode { try insert(person, ["email": "b"]) } == .constraintConflict)
  }

  @Test func aSaveThatFailsClaimsNothing() throws {
    try insert(person, ["email": "a"])
    #expect(errorCode { try insert(person, ["email": "a"], ["email": "new"]) } == .constraintConflict)
    try insert(person, ["email": "new"])
  }

  @Test(arguments: [1, 2, UInt64.random(in: 3 ... .max)])
  func randomSavesAreHeldAgainstAPlainSearch(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<150 {
      let changes = try randomChanges(&generator)
      let isUnique = try isUnique(after: changes)
      let code = errorCode { try save(changes) }
      try #require(code == (isUnique ? nil : .constraintConflict), "seed \(seed)")
    }
  }

  private func randomChanges(_ generator: inout SeededGenerator) throws -> ChangeSet {
    var changes = ChangeSet()
    let email = { (generator: inout SeededGenerator) -> PropertyValue in
      .string("\(Int.random(in: 0..<60, using: &generator))")
    }
    for node in try engine.contents().nodes {
      switch Int.random(in: 0..<14, using: &generator) {
      case 0: changes.updated.append(try update(node, "email", email(&generator)))
      case 1: changes.deleted.append(.init(objectID: node.objectID, baseVersion: node.version))
      default: break
      }
    }
    for _ in 0..<Int.random(in: 0...2, using: &generator) {
      let entity = generator.chance(oneIn: 2) ? person : employee
      changes.inserted.append(snapshot(entity, ["email": email(&generator)]))
    }
    return changes
  }

  private func isUnique(after changes: ChangeSet) throws -> Bool {
    let deleted = Set(changes.deleted.map(\.objectID))
    let updated = Dictionary(uniqueKeysWithValues: changes.updated.map { ($0.objectID, $0.values[0].value) })
    var emails = try engine.contents().nodes.filter { !deleted.contains($0.objectID) }.map {
      updated[$0.objectID] ?? $0["email"]
    }
    emails += changes.inserted.map { $0.values[0] }
    return Set(emails).count == emails.count
  }
}
