import Heartwood
import HeartwoodStore

/// Compares random fetches with a check of every object.
struct FetchExamination {
  private var open: OpenStore
  private let pools: [AttributeType: [PropertyValue]]
  private var generator: SeededGenerator

  init(_ open: OpenStore, seed: UInt64) {
    self.open = open
    var generator = SeededGenerator(seed: seed)
    var pools: [AttributeType: [PropertyValue]] = [:]
    for type in AttributeType.allCases {
      let edges = EdgeValues.values(of: type).filter {
        !open.refuses($0, type) && NearDates.contain($0) && !Self.isLong($0)
      }
      let few = edges.shuffled(using: &generator).prefix(5)
      pools[type] = few + (0..<3).map { _ in open.randomValue(of: type, &generator) }.filter { !$0.isNull }
    }
    self.pools = pools
    self.generator = generator
  }

  /// Returns whether a value is a text that would slow down hundreds of fetches.
  private static func isLong(_ value: PropertyValue) -> Bool {
    if case .string(let text) = value { text.utf8.count > 1_000 } else { false }
  }

  /// Continues with the store as another coordinator has opened it.
  mutating func move(to open: OpenStore) {
    self.open = open
  }
}

// MARK: Data

extension FetchExamination {
  /// Saves objects of all entities.
  mutating func fill(_ count: Int) throws {
    let context = open.makeContext()
    let entities = open.concreteEntities
    for index in 0..<count { try setValues(of: try context.insert(entityName: entities[index % entities.count].name)) }
    try link(in: context)
    try link(in: context)
    try context.save()
  }

  /// Inserts, changes, relates and deletes objects, without saving.
  mutating func change(_ context: ManagedObjectContext) throws {
    for object in try open.allObjects(in: context) {
      if generator.chance(oneIn: 8) {
        context.delete(object)
      } else if generator.chance(oneIn: 3) {
        try setValues(of: object)
      }
    }
    for entity in open.concreteEntities where generator.chance(oneIn: 2) {
      try setValues(of: try context.insert(entityName: entity.name))
    }
    try link(in: context)
  }

  private mutating func setValues(of object: ManagedObject) throws {
    for attribute in object.entity.attributes {
      let value = generator.chance(oneIn: 6) ? nil : pools[attribute.type]?.randomElement(using: &generator)
      try object.setPropertyValue(value ?? .null, forKey: attribute.name)
    }
  }

  private mutating func link(in context: ManagedObjectContext) throws {
    let objects = try open.allObjects(in: context)
    for object in objects where !object.entity.relationships.isEmpty && generator.chance(oneIn: 2) {
      try object.linkRandomly(among: objects, &generator)
    }
  }
}

// MARK: Fetching from newly opened stores

extension FetchExamination {
  /// Performs `count` random fetches, each from a newly opened store, so that the store itself searches, and not the
  /// framework among records that it has already read.
  ///
  /// - Parameters:
  ///   - context: a context without changes, in which the expected objects are found.
  ///   - reopen: opens the store again.
  mutating func examineUnread(
    _ context: ManagedObjectContext,
    count: Int,
    reopen: () throws -> OpenStore
  ) throws {
    let model = context.persistentStoreCoordinator.managedObjectModel
    let all = try open.allObjects(in: context)
    let names = Dictionary(uniqueKeysWithValues: all.map { (Self.name($0.objectID), $0) })
    for _ in 0..<count {
      guard let entity = open.store.entities.randomElement(using: &generator) else { return }
      var maker = ConditionMaker(model, entity, pools, all.map(\.objectID), seed: generator.next())
      let condition = maker.condition(depth: Int.random(in: 0...2, using: &generator))
      let request = makeRequest(condition, maker.sorts(), entity)
      let matching = try context.fetch(entityName: entity.name).filter(condition.holds)
      let part = matching.dropFirst(request.fetchOffset).prefix(request.fetchLimit ?? .max)
      let unread = try reopen().makeContext()
      try expect("the count of \(words(request))", is: part.count, found: try unread.count(for: request))
      let found = try unread.fetchObjectIDs(request).map { id in
        try unwrap(names[Self.name(id)], "no objects by \(words(request)) but those that were saved")
      }
      try expectPart(found, request, among: matching)
    }
  }

  /// Returns a name of an object that does not depend on its coordinator.
  private static func name(_ id: ManagedObjectID) -> String { "\(id.entity.name) \(id.reference.text)" }
}

// MARK: Fetching

extension FetchExamination {
  /// Performs `count` random fetches.
  mutating func examine(_ context: ManagedObjectContext, count: Int) throws {
    let model = context.persistentStoreCoordinator.managedObjectModel
    let ids = try open.allObjects(in: context).map(\.objectID)
    for _ in 0..<count {
      guard let entity = open.store.entities.randomElement(using: &generator) else { return }
      var maker = ConditionMaker(model, entity, pools, ids, seed: generator.next())
      let condition = maker.condition(depth: Int.random(in: 0...2, using: &generator))
      let objects = try context.fetch(entityName: entity.name)
      if try finds(condition, objects, entity, context) != nil {
        throw try failure(smallest(condition, objects, entity, context), objects, entity, context)
      }
      try examineOrder(condition, maker.sorts(), objects, entity, context)
    }
  }

  /// Returns the difference between the results of a fetch and of a check of every object; nil if they are the same.
  private func finds(
    _ condition: PlainCondition,
    _ objects: [ManagedObject],
    _ entity: EntityDescription,
    _ context: ManagedObjectContext
  ) throws -> Set<ManagedObject>? {
    let request = FetchRequest<ManagedObject>(entityName: entity.name, where: condition.predicate)
    let found = try context.fetch(request)
    let expected = Set(try objects.filter(condition.holds))
    try expect("the count of \(condition.predicate)", is: found.count, found: try context.count(for: request))
    let ids = try context.fetchObjectIDs(request)
    try expect("the ids found by \(condition.predicate)", is: found.map(\.objectID), found: ids)
    let difference = expected.symmetricDifference(found)
    return difference.isEmpty && found.count == expected.count ? nil : difference
  }

  /// Returns the smallest part of a condition for which the results differ.
  private func smallest(
    _ condition: PlainCondition,
    _ objects: [ManagedObject],
    _ entity: EntityDescription,
    _ context: ManagedObjectContext
  ) throws -> PlainCondition {
    for part in condition.parts where try finds(part, objects, entity, context) != nil {
      return try smallest(part, objects, entity, context)
    }
    return condition
  }

  private func failure(
    _ condition: PlainCondition,
    _ objects: [ManagedObject],
    _ entity: EntityDescription,
    _ context: ManagedObjectContext
  ) throws -> ConformanceFailure {
    let difference = try finds(condition, objects, entity, context) ?? []
    let examples = try difference.prefix(2).map { object in
      let values = try object.entity.properties.map { "\($0.name) \(brief(try object.propertyValue(forKey: $0.name)))" }
      let state = object.isInserted ? "new" : object.isUpdated ? "changed" : "saved"
      return "\(state), expected \(try condition.holds(object)): \(values.joined(separator: ", "))"
    }
    return ConformanceFailure(
      "expected \(entity.name) where \(condition.predicate) to find what holds; \(difference.count) objects differ, "
        + "such as \(examples.joined(separator: "; "))"
    )
  }

  private mutating func examineOrder(
    _ condition: PlainCondition,
    _ sorts: [FetchSortDescriptor],
    _ objects: [ManagedObject],
    _ entity: EntityDescription,
    _ context: ManagedObjectContext
  ) throws {
    let request = makeRequest(condition, sorts, entity)
    try expectPart(try context.fetch(request), request, among: try objects.filter(condition.holds))
  }

  /// Returns a request for all results or a part of them.
  private mutating func makeRequest(
    _ condition: PlainCondition,
    _ sorts: [FetchSortDescriptor],
    _ entity: EntityDescription
  ) -> FetchRequest<ManagedObject> {
    let offset = generator.chance(oneIn: 2) ? 0 : Int.random(in: 0...9, using: &generator)
    let limit = generator.chance(oneIn: 2) ? nil : Int.random(in: 0...12, using: &generator)
    return FetchRequest(
      entityName: entity.name,
      where: condition.predicate,
      sortedBy: sorts,
      offset: offset,
      limit: limit
    )
  }

  /// Fails unless `found` is the part of `matching` that the request asks for.
  private func expectPart(
    _ found: [ManagedObject],
    _ request: FetchRequest<ManagedObject>,
    among matching: [ManagedObject]
  ) throws {
    let sorts = request.sortDescriptors
    let expected = try matching.map { try keys($0, sorts) }.sorted { comes($0, before: $1, sorts) }
      .dropFirst(request.fetchOffset).prefix(request.fetchLimit ?? .max)
    let what = "the keys of \(words(request))"
    try expect(what, is: "\(Array(expected))", found: "\(try found.map { try keys($0, sorts) })")
    try expect(
      Set(found).isSubset(of: matching) && Set(found).count == found.count,
      "\(what): expected each at most once"
    )
  }

  private func words(_ request: FetchRequest<ManagedObject>) -> String {
    let condition = request.predicate.map { "\($0)" } ?? "anything"
    return "\(request.entityName) where \(condition) by \(request.sortDescriptors) from \(request.fetchOffset), "
      + "\(request.fetchLimit ?? -1)"
  }

  private func keys(_ object: ManagedObject, _ sorts: [FetchSortDescriptor]) throws -> [PropertyValue] {
    try sorts.map { sort in
      let path = sort.keyPath.split(separator: ".").map(String.init)
      if path.last != "@count" { return PlainOrder.withoutSignOfZero(try object.plainValue(path)) }
      return .integer(Int64(try object.plainObjects(path[0]).count))
    }
  }

  private func comes(_ left: [PropertyValue], before right: [PropertyValue], _ sorts: [FetchSortDescriptor]) -> Bool {
    for (index, sort) in sorts.enumerated() {
      let (first, second) = sort.isAscending ? (left[index], right[index]) : (right[index], left[index])
      if PlainOrder.comes(first, before: second) { return true }
      if PlainOrder.comes(second, before: first) { return false }
    }
    return false
  }
}
