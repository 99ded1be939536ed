import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting

/// Random queries of stores that are opened together, and of contexts with unsaved changes over them; all of it follows from a seed.
struct QueryRun {
  let stack: QueryStack
  var maker: PredicateMaker
  private var lastTag: Int64 = 0
  /// The store of each object, by its tag: relationships do not lead from one to another.
  private var stores: [Int64: PersistentStore] = [:]
  private(set) var questionCount = 0

  init(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    stack = try QueryStack(&generator)
    maker = PredicateMaker(QueryModel.model, generator)
    let context = ManagedObjectContext(stack.coordinator)
    for _ in 0..<maker.number(20...60) { try insert(context) }
    try relink(try PlainObjects(context).objects)
    try context.save()
  }

  /// - Throws: ``Mismatch``, or what should not be thrown.
  mutating func run(rounds: Int) throws {
    for _ in 0..<rounds {
      if !maker.chance(4) { try reopen() }
      try ask()
      try runBatch()
    }
  }

  private mutating func reopen() throws {
    let identifiers = stores.mapValues(\.identifier)
    try stack.reopen()
    stores = identifiers.compactMapValues { identifier in stack.stores.first { $0.identifier == identifier } }
  }

  // MARK: Questions

  private mutating func ask() throws {
    try noteObjects()
    let root = ManagedObjectContext(stack.coordinator)
    if maker.chance(3) { _ = try root.fetch(entityName: entityName()) }
    if !maker.chance(3) { try change(root) }
    var context = root
    if maker.chance(3) {
      context = ManagedObjectContext(parent: root)
      if !maker.chance(3) { try change(context) }
    }
    let questions = try (0..<6).map { _ in
      let question = Question(&maker, stack.stores, isChild: context !== root)
      return try question.asked(context)
    }
    let (plain, saved) = (try PlainObjects(context), try PlainObjects(ManagedObjectContext(stack.coordinator)))
    for question in questions {
      questionCount += 1
      try question.check(question.request.includesPendingChanges ? plain : saved)
    }
    guard maker.chance(2) else { return }
    try context.save()
    try root.save()
  }

  /// Remembers some objects, of any store, for conditions; without reading anything in the coordinator that is asked then.
  private mutating func noteObjects() throws {
    guard maker.objectIDs.isEmpty || maker.chance(3) else { return }
    let context = ManagedObjectContext(stack.coordinator)
    maker.objectIDs = try PlainObjects(context).objects.map(\.objectID).shuffled(using: &maker.generator).suffix(12)
    try reopen()
  }

  private mutating func entityName() -> String { maker.pick(QueryModel.model.entities)?.name ?? "Thing" }

  // MARK: Batches

  private mutating func runBatch() throws {
    guard maker.chance(2) else { return }
    if maker.chance(2) { try reopen() }
    let batch = RandomBatch(&maker, stack.stores)
    let expected: (count: Int, texts: [Int64: [String: String]])
    do {
      let other = ManagedObjectContext(stack.coordinator)
      expected = try batch.expected(try PlainObjects(other))
    }
    if maker.chance(2) { try reopen() }
    try batch.run(on: stack.coordinator, stack.stores, expected.count)
    for isReopened in [false, true] {
      if isReopened { try reopen() }
      let texts = try PlainObjects(ManagedObjectContext(stack.coordinator)).texts()
      if let difference = Self.difference(texts, expected.texts) {
        throw Mismatch("after \(batch)\(isReopened ? ", read again" : ""): \(difference)")
      }
    }
  }

  private static func difference(_ found: [Int64: [String: String]], _ expected: [Int64: [String: String]]) -> String? {
    for tag in Set(found.keys).union(expected.keys).sorted() where found[tag] != expected[tag] {
      guard let mine = found[tag], let other = expected[tag] else {
        return "\(tag) is \(found[tag] == nil ? "gone" : "there")"
      }
      let names = mine.keys.filter { mine[$0] != other[$0] }.sorted()
      return names.map { "\($0) of \(tag) is \(mine[$0] ?? ""), and should be \(other[$0] ?? "")" }.joined(
        separator: "; "
      )
    }
    return nil
  }
}

// MARK: Changes

extension QueryRun {
  private mutating func insert(_ context: ManagedObjectContext) throws {
    let object = try context.insert(entityName: entityName())
    if let store = maker.pick(stack.stores) {
      try context.assign(object, to: store)
      stores[lastTag + 1] = store
    }
    lastTag += 1
    try object.setPropertyValue(.integer(lastTag), forKey: QueryModel.tag)
    try setAttributes(object)
  }

  private mutating func setAttributes(_ object: ManagedObject) throws {
    for attribute in object.entity.attributes where attribute.name != QueryModel.tag && !maker.chance(3) {
      let isNull = attribute.isOptional && maker.chance(4)
      let value = isNull ? .null : QueryModel.value(of: attribute.type, &maker.generator)
      try object.setPropertyValue(value, forKey: attribute.name)
    }
  }

  /// Lets objects lead to others of their stores.
  private mutating func relink(_ objects: [ManagedObject]) throws {
    for object in objects {
      let store = stores[try PlainObjects.tag(object)]
      for relationship in object.entity.relationships where maker.chance(2) {
        guard let destination = QueryModel.model.entity(named: relationship.destinationEntityName) else { continue }
        let others = try objects.filter { other in
          let tag = try PlainObjects.tag(other)
          return other.entity.isKind(of: destination) && stores[tag] === store
        }
        let ids = others.shuffled(using: &maker.generator).prefix(maker.number(0...3)).map(\.objectID)
        let one = ids.first.map(PropertyValue.toOne) ?? .null
        try object.setPropertyValue(relationship.isToMany ? .toMany(ids) : one, forKey: relationship.name)
      }
    }
  }

  /// Changes, deletes and inserts some objects, without a save.
  private mutating func change(_ context: ManagedObjectContext) throws {
    let tags = (0..<12).map { _ in FetchExpression.constant(.integer(Int64(maker.number(1...Int(lastTag))))) }
    let isOne = FetchPredicate.comparison(FetchComparison(.key(QueryModel.tag), .in, .aggregate(tags)))
    var objects = try ["Thing", "Person", "Note"].flatMap {
      try context.fetch(FetchRequest<ManagedObject>(entityName: $0, where: isOne))
    }
    for object in objects where maker.chance(5) { context.delete(object) }
    objects.removeAll(where: \.isDeleted)
    for _ in 0..<maker.number(0...5) { try insert(context) }
    objects += context.insertedObjects
    for object in objects where maker.chance(2) { try setAttributes(object) }
    try relink(objects.filter { _ in maker.chance(2) })
  }
}
