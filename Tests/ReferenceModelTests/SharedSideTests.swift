import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Several contexts, some of which read old versions, change relationships that a database keeps as one thing with their inverses. After each
/// save what the store has in memory must be what is in the file.
@Suite struct SharedSideTests {
  /// The same runs each time, so that a change that has nothing to do with them does not fail; the last one once ended otherwise.
  @Test(arguments: [1, 2, 3, 20_261_121, 619_466_909_027_165_297] as [UInt64], [false, true])
  func whatIsInMemoryIsWhatIsInTheFile(seed: UInt64, forgets: Bool) throws {
    var session = try SharedSideSession(seed: seed)
    for step in 0..<400 {
      try session.step()
      if forgets, step.isMultiple(of: 3) { session.forgetRecords() }
    }
    #expect(session.saveCount > 20, "many saves go well")
  }

  /// For as long as `Scripts/soak` has time.
  @Test(.enabled(if: SoakSettings().isAsked)) func randomOperations() throws {
    let settings = SoakSettings()
    let start = ContinuousClock.now
    repeat {
      let seed = settings.seed ?? UInt64.random(in: .min ... .max)
      print("Shared sides: seed \(seed)")
      try whatIsInMemoryIsWhatIsInTheFile(seed: seed, forgets: seed.isMultiple(of: 2))
    } while settings.seed == nil && ContinuousClock.now - start < settings.duration ?? .zero
  }

  /// The case that the random ones are made of: the other side was read long ago.
  @Test func aMoveTakesBothSidesAlong() throws {
    let session = try SharedSideSession(seed: 1)
    let (first, second) = (session.contexts[0], session.contexts[1])
    let parents = try (0..<3).map { _ in try first.insert(entityName: "Node") }
    let child = try first.insert(entityName: "Node")
    try child.setValue(parents[0], forKey: "parent")
    try first.save()
    // The second context knows the second parent as one without children.
    let theirs = try parents.map { try second.existingObject(with: $0.objectID) }
    for parent in theirs { _ = try parent.value(forKey: "children") }
    try child.setValue(parents[1], forKey: "parent")
    try first.save()
    let theirChild = try second.existingObject(with: child.objectID)
    second.refresh(theirChild, mergeChanges: false)
    second.refresh(theirs[2], mergeChanges: false)
    try theirChild.setValue(theirs[2], forKey: "parent")
    try second.save()
    try session.compare()
    second.refreshAllObjects()
    #expect(try (theirs[1].value(forKey: "children") as? [ManagedObject])?.isEmpty == true)
    #expect(try theirs[2].value(forKey: "children") as? [ManagedObject] == [theirChild])
  }

  @Test("Who saves an old list over a new one leaves what went elsewhere in its place there")
  func whatWentElsewhereKeepsItsPlace() throws {
    let session = try SharedSideSession(seed: 1)
    let (first, overwriting) = (session.contexts[0], session.contexts[2])
    let nodes = try (0..<4).map { _ in try first.insert(entityName: "Node") }
    let (old, new) = (nodes[0], nodes[1])
    try old.setValue([nodes[2]], forKey: "children")
    try new.setValue([nodes[3]], forKey: "children")
    try first.save()
    let theirs = try overwriting.existingObject(with: old.objectID)
    _ = try theirs.value(forKey: "children")
    try new.setValue([nodes[3], nodes[2]], forKey: "children")
    try first.save()
    try theirs.setValue("old", forKey: "name")
    try overwriting.save()
    try session.compare()
  }
}

/// Contexts over one SQLite store, and random operations on them.
struct SharedSideSession {
  let contexts: [ManagedObjectContext]
  private(set) var saveCount = 0
  private let scratch: ScratchFolder
  private let model: ManagedObjectModel
  private let store: PersistentStore
  private let url: URL
  private let readsAll: Bool
  private var random: SeededGenerator

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    scratch = try ScratchFolder()
    url = scratch.url.appending(path: "Nodes.sqlite")
    model = try Self.model()
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([SQLiteStore.self])
    )
    var options = StoreOptions()
    options[.sqliteSynchronization] = .normal
    store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    let roots = (0..<4).map { _ in ManagedObjectContext(coordinator) }
    // Children, and contexts that stay at a version, read all records; otherwise only some are known.
    readsAll = random.chance(oneIn: 2)
    contexts = roots + (readsAll ? [ManagedObjectContext(parent: roots[0])] : [])
    for (context, policy) in zip(roots, [MergePolicy.error, .mergeByPropertyObjectTrump, .overwrite, .error]) {
      context.mergePolicy = policy
    }
  }

  /// Relationships of each kind that a file keeps once: in a column of one side, or as pairs.
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Node",
        .attribute("name", .string, optional: true),
        .toOne("parent", "Node", inverse: "children"),
        .toMany("children", "Node", inverse: "parent", ordered: true),
        .toOne("owner", "Tag", inverse: "owned"),
        .toMany("friends", "Node", inverse: "friends"),
        .toMany("tags", "Tag", inverse: "nodes")
      ),
      .entity("Leaf", parent: "Node", .attribute("size", .integer16, optional: true)),
      .entity(
        "Tag",
        .attribute("name", .string, optional: true),
        .toMany("nodes", "Node", inverse: "tags", ordered: true),
        .toMany("owned", "Node", inverse: "owner")
      ),
    ])
  }
}

// MARK: Operations

extension SharedSideSession {
  mutating func step() throws {
    let context = contexts[random.number(below: contexts.count)]
    switch random.number(below: 20) {
    case 0..<3: _ = try context.insert(entityName: ["Node", "Leaf", "Tag"][random.number(below: 3)])
    case 3..<11: try relate(context)
    case 11: if let object = try object(context, "Node") { context.delete(object) }
    case 12:
      if let object = try object(context, "Node") { context.refresh(object, mergeChanges: random.chance(oneIn: 2)) }
    case 13: try pin(context)
    case 14: try read(context)
    default: try save(context)
    }
    for context in contexts { #expect(context.relationshipDisagreements.isEmpty) }
  }

  /// Lets the store forget what it has read.
  func forgetRecords() { store.engine.forgetRecords(evenHeld: true) }

  private mutating func object(_ context: ManagedObjectContext, _ entity: String) throws -> ManagedObject? {
    let objects = try context.fetch(FetchRequest<ManagedObject>(entityName: entity, limit: 12))
    return objects.randomElement(using: &random)
  }

  private mutating func relate(_ context: ManagedObjectContext) throws {
    guard let object = try object(context, random.chance(oneIn: 3) ? "Tag" : "Node"),
      let relationship = object.entity.relationships.randomElement(using: &random)
    else { return }
    let destination = relationship.destinationEntityName
    guard relationship.isToMany else {
      let other = random.chance(oneIn: 4) ? nil : try self.object(context, destination)
      return try object.setValue(other, forKey: relationship.name)
    }
    var others = try object.value(forKey: relationship.name) as? [ManagedObject] ?? []
    if random.chance(oneIn: 3), !others.isEmpty { others.remove(at: random.number(below: others.count)) }
    if let other = try self.object(context, destination), other !== object, !others.contains(other) {
      others.insert(other, at: random.number(below: others.count + 1))
    }
    try object.setValue(others, forKey: relationship.name)
  }

  /// Lets a context stay at a version, or go on.
  private mutating func pin(_ context: ManagedObjectContext) throws {
    if readsAll, context === contexts[3] {
      try context.setQueryGeneration(from: random.chance(oneIn: 2) ? .current : nil)
    }
  }

  /// Reads what objects have, so that it grows old.
  private mutating func read(_ context: ManagedObjectContext) throws {
    let objects = try context.fetch(entityName: "Node") + context.fetch(entityName: "Tag")
    for object in objects where random.chance(oneIn: 2) { _ = try object.value(forKey: "name") }
  }

  private mutating func save(_ context: ManagedObjectContext) throws {
    do {
      try context.save()
      if context.parent == nil {
        saveCount += 1
        try compare()
      }
    } catch let error as PersistenceError where error.code == .saveConflict {
      if random.chance(oneIn: 2) { context.rollback() } else { context.refreshAllObjects() }
    }
  }
}

// MARK: Comparing

extension SharedSideSession {
  /// Holds the records that the store has read against the file.
  func compare() throws {
    let file = try contentsOfFile()
    for entity in model.entities {
      let (table, isWhole) = try store.engine.knownTable(of: entity)
      let other = file.table(of: entity)
      if isWhole { #expect(table.count == other.count) }
      for row in table.liveRows {
        let id = file.objectID(table.reference(row), of: entity)
        let otherRow = try #require(try other.row(of: table.reference(row)), "\(id) is in the file")
        #expect(table.version(row) == other.version(otherRow), "the version of \(id)")
        for (ordinal, property) in entity.properties.enumerated() {
          let value = value(table, row, ordinal, file)
          #expect(value == self.value(other, otherRow, ordinal, file), "\(property.name) of \(id)")
        }
      }
    }
  }

  private func contentsOfFile() throws -> StoreContents {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([SQLiteStore.self])
    )
    defer { coordinator.close() }
    return try coordinator.addPersistentStore(type: .sqlite, at: url).engine.contents()
  }

  /// The value of a property; what has no order is put into one.
  private func value(_ table: NodeTable, _ row: RowID, _ ordinal: Int, _ contents: StoreContents) -> PropertyValue {
    let entity = table.entity
    let type = entity.traits[ordinal].attributeType
    let value = table.groups[row.group].value(row: row.row, ordinal: ordinal, type: type, scopes: contents.scopes)
    guard case .toMany(let ids) = value, entity.properties[ordinal].relationship?.isOrdered == false else {
      return value
    }
    return .toMany(ids.sorted { "\($0)" < "\($1)" })
  }
}

extension SeededGenerator {
  fileprivate mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}
