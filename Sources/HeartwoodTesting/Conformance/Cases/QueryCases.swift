import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// On any store, a fetch finds the same records as a check of every record.
  var queryCases: [ConformanceCase] {
    AttributeType.allCases.map { type in
      makeCase("finds records by predicates on \(type.rawValue)", needs: .attributes(type)) {
        try $0.findsByPredicates(on: type)
      }
    } + [
      makeCase("finds records by several conditions") { try $0.findsByConditions() },
      makeCase("finds records by what they lead to", needs: .relationships) { try $0.findsByLinks() },
      makeCase("sorts records", needs: .orderedAttributes) { try $0.sortsRecords() },
      makeCase("gives parts of what is found, with changes that are not saved", needs: .orderedAttributes) {
        try $0.givesParts()
      },
    ]
  }

  // MARK: Predicates

  private static let comparators: [FetchComparison.Comparator] = [
    .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .beginsWith, .endsWith,
    .contains,
  ]

  private func comparators(for type: AttributeType) -> ArraySlice<FetchComparison.Comparator> {
    if type == .string { return Self.comparators[...] }
    return PlainOrder.orderedTypes.contains(type) ? Self.comparators[..<6] : Self.comparators[..<2]
  }

  private func findsByPredicates(on type: AttributeType) throws {
    let bench = try Workbench(self, model: try ModelMaker.model(attribute: type))
    var open = try bench.open()
    try open.insertFromPool(40, seed: 1)
    let records = try open.records()
    open = try bench.reopened(open)
    for value in try open.pool(of: type, seed: 1) {
      for comparator in comparators(for: type) where !value.isNull || comparator.isEquality {
        let condition = FetchComparison(.key(ModelMaker.value), comparator, .constant(value))
        try open.expectFinds(.comparison(condition), "\(comparator.rawValue) a value of type \(type.rawValue)") {
          PlainOrder.holds($0[ModelMaker.value], comparator, value)
        } among: {
          records
        }
      }
    }
  }

  private func findsByConditions() throws {
    let bench = try smallBench()
    var open = try bench.open()
    try open.insertFromPool(60, seed: 2)
    let records = try open.records()
    open = try bench.reopened(open)
    var generator = SeededGenerator(seed: 3)
    for trial in 1...60 {
      let condition = try open.randomCondition(depth: 3, &generator)
      try open.expectFinds(condition.predicate, "condition \(trial) of seed 3", condition.holds) { records }
    }
  }

  private func findsByLinks() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).leadingToItself())
    var open = try bench.open()
    try open.insertFromPool(30, seed: 4)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<3 { try open.linkRandomly(&generator) }
    let records = try open.records()
    open = try bench.reopened(open)
    let first = try unwrap(records.first, "a record")
    let children = { (record: AtomicStoreCacheNode) in record["children"].objectIDs }
    try open.expectFinds(try FetchPredicate(format: "parent == nil"), "no parent") {
      $0["parent"].isNull
    } among: {
      records
    }
    try open.expectFinds(try FetchPredicate(format: "children.@count > 1"), "several children") {
      children($0).count > 1
    } among: {
      records
    }
    let isParent = FetchComparison(.key("parent"), .equalTo, .value(.toOne(first.objectID)))
    try open.expectFinds(.comparison(isParent), "a parent") {
      $0["parent"].objectIDs == [first.objectID]
    } among: {
      records
    }
    let isChild = FetchComparison(.key("children"), .contains, .value(.toOne(first.objectID)))
    try open.expectFinds(.comparison(isChild), "a child") {
      children($0).contains(first.objectID)
    } among: {
      records
    }
  }

  // MARK: Order and parts

  private var orderedNames: [String] {
    AttributeType.allCases.filter {
      capabilities.attributeTypes.contains($0) && PlainOrder.orderedTypes.contains($0)
    }.map(\.rawValue)
  }

  private func sortsRecords() throws {
    let bench = try smallBench()
    var open = try bench.open()
    try open.insertFromPool(80, seed: 6)
    let records = try open.records()
    open = try bench.reopened(open)
    for (index, name) in orderedNames.enumerated() {
      let second = orderedNames[(index + 1) % orderedNames.count]
      for isAscending in [true, false] {
        let keys = [FetchSortDescriptor(name, ascending: isAscending), FetchSortDescriptor(second)]
        let request = FetchRequest<ManagedObject>(entityName: ModelMaker.entity, sortedBy: keys)
        let expected = PlainOrder.sorted(
          records,
          by: [(isAscending, { $0[name] }), (true, { $0[second] })]
        )
        try expect(
          "the order by \(name) (\(isAscending ? "up" : "down")) and \(second)",
          is: expected.map(\.reference),
          found: try open.makeContext().fetch(request).map(\.objectID.reference)
        )
      }
    }
    try expectPartsOfUnread(bench, open, records)
  }

  /// Fetches parts of sorted and unsorted results from newly opened stores, so that the store itself searches.
  private func expectPartsOfUnread(_ bench: Workbench, _ open: OpenStore, _ records: [AtomicStoreCacheNode]) throws {
    let name = try unwrap(orderedNames.first, "a type whose values have an order")
    let sorted = PlainOrder.sorted(records, by: [(true, { $0[name] })])
    let parts: [(offset: Int, limit: Int?)] = [
      (0, 5), (3, 7), (records.count - 2, 10), (records.count + 1, 3), (2, nil),
    ]
    for (offset, limit) in parts {
      for isSorted in [true, false] {
        let request = FetchRequest<ManagedObject>(
          entityName: ModelMaker.entity,
          sortedBy: isSorted ? [FetchSortDescriptor(name)] : [],
          offset: offset,
          limit: limit
        )
        let expected = (isSorted ? sorted : records).dropFirst(offset).prefix(limit ?? .max).map(\.reference)
        let context = try bench.reopened(open).makeContext()
        let what = "\(limit.map { "\($0)" } ?? "all") records from \(offset) on\(isSorted ? " by \(name)" : "")"
        try expect("the number of \(what)", is: expected.count, found: try context.count(for: request))
        try expect(what, is: expected, found: try context.fetch(request).map(\.objectID.reference))
      }
    }
  }

  private func givesParts() throws {
    let bench = try smallBench()
    var open = try bench.open()
    try open.insertFromPool(30, seed: 7)
    open = try bench.reopened(open)
    let context = open.makeContext()
    var generator = SeededGenerator(seed: 8)
    var objects = try context.fetch(entityName: ModelMaker.entity)
    for (index, object) in objects.enumerated() where index % 4 == 0 {
      try open.setFromPool(object, seed: 7, &generator)
    }
    for (index, object) in objects.enumerated() where index % 5 == 1 { context.delete(object) }
    objects = objects.filter { !$0.isDeleted }
    for _ in 0..<6 {
      objects.append(try context.insert(entityName: ModelMaker.entity))
      try open.setFromPool(objects[objects.count - 1], seed: 7, &generator)
    }
    let name = try unwrap(orderedNames.first, "a type whose values have an order")
    let values = try Dictionary(uniqueKeysWithValues: objects.map { ($0, try $0.propertyValue(forKey: name)) })
    let sorted = PlainOrder.sorted(objects, by: [(true, { values[$0] ?? .null })])
    for (offset, limit) in [(0, 5), (3, 7), (sorted.count - 2, 10), (sorted.count + 1, 3), (0, 0), (2, nil)] {
      let request = FetchRequest<ManagedObject>(
        entityName: ModelMaker.entity,
        sortedBy: [FetchSortDescriptor(name)],
        offset: offset,
        limit: limit
      )
      // The order of records with equal keys is not defined.
      let expected = sorted.dropFirst(offset).prefix(limit ?? .max).map { values[$0] ?? .null }
      let found = try context.fetch(request)
      let what = "\(limit.map { "\($0)" } ?? "all") objects from \(offset) on"
      try expect("the values of \(what)", is: expected, found: found.map { values[$0] ?? .null })
      try expect("how many differ of \(what)", is: found.count, found: Set(found).intersection(objects).count)
      try expect("the number of \(what)", is: expected.count, found: try context.count(for: request))
    }
    try context.save()
    try bench.expectReopensSame(open)
  }
}

extension FetchComparison.Comparator {
  fileprivate var isEquality: Bool { self == .equalTo || self == .notEqualTo }
}

extension OpenStore {
  /// Returns the records of the first entity, in order.
  func records() throws -> [AtomicStoreCacheNode] {
    let contents = try contents()
    return Array(contents.nodes(of: try unwrap(concreteEntities.first, "an entity")))
  }

  /// Fails unless a fetch finds those of `records` that meet the condition, in their order.
  func expectFinds(
    _ predicate: FetchPredicate,
    _ what: String,
    _ holds: (AtomicStoreCacheNode) -> Bool,
    among records: () -> [AtomicStoreCacheNode]
  ) throws {
    let request = FetchRequest<ManagedObject>(entityName: ModelMaker.entity, where: predicate)
    let context = makeContext()
    let expected = inOrder(records().filter(holds).map(\.reference))
    let found = inOrder(try context.fetch(request).map(\.objectID.reference))
    try expect("the records with \(what) (\(brief(predicate)))", is: expected, found: found)
    try expect("their number", is: expected.count, found: try context.count(for: request))
  }

  /// Returns references in a defined order, so that the results of an unsorted fetch can be compared. An incremental
  /// store returns records in the order of their numbers, or in no order if their references are not numbers.
  private func inOrder(_ references: [ReferenceID]) -> [ReferenceID] {
    let isOfNumbers = references.allSatisfy { $0.kind == .integer }
    return isOfNumbers || !store.engine.readsAsNeeded ? references : references.sorted { $0.text < $1.text }
  }

  // MARK: Repeated values

  /// Returns a few values of a type that the store can hold, and null.
  func pool(of type: AttributeType, seed: UInt64) throws -> [PropertyValue] {
    var generator = SeededGenerator(seed: seed)
    return [.null] + (0..<6).map { _ in randomValue(of: type, &generator) }.filter { !$0.isNull }
  }

  /// Gives every attribute a value that other objects have too.
  func setFromPool(_ object: ManagedObject, seed: UInt64, _ generator: inout SeededGenerator) throws {
    for attribute in object.entity.attributes {
      let value = try pool(of: attribute.type, seed: seed).randomElement(using: &generator) ?? .null
      try object.setPropertyValue(value, forKey: attribute.name)
    }
  }

  /// Saves records of the first entity with values that several of them have.
  func insertFromPool(_ count: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let context = makeContext()
    let entity = try unwrap(concreteEntities.first, "an entity")
    for _ in 0..<count {
      try setFromPool(try context.insert(entityName: entity.name), seed: seed, &generator)
    }
    try context.save()
  }

  /// Returns a random condition on the attributes of the first entity, as a predicate and as a function.
  func randomCondition(
    depth: Int,
    _ generator: inout SeededGenerator
  ) throws -> (predicate: FetchPredicate, holds: (AtomicStoreCacheNode) -> Bool) {
    if depth == 0 || generator.chance(oneIn: 4) { return try randomComparison(&generator) }
    let left = try randomCondition(depth: depth - 1, &generator)
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: return (!left.predicate, { !left.holds($0) })
    case 1:
      let right = try randomCondition(depth: depth - 1, &generator)
      return (left.predicate && right.predicate, { left.holds($0) && right.holds($0) })
    default:
      let right = try randomCondition(depth: depth - 1, &generator)
      return (left.predicate || right.predicate, { left.holds($0) || right.holds($0) })
    }
  }

  private func randomComparison(
    _ generator: inout SeededGenerator
  ) throws -> (predicate: FetchPredicate, holds: (AtomicStoreCacheNode) -> Bool) {
    let entity = try unwrap(concreteEntities.first, "an entity")
    let attribute = try unwrap(entity.attributes.randomElement(using: &generator), "an attribute")
    let value = try pool(of: attribute.type, seed: 2).randomElement(using: &generator) ?? .null
    let isOrdered = PlainOrder.orderedTypes.contains(attribute.type) && !value.isNull
    let comparators: [FetchComparison.Comparator] =
      isOrdered ? [.equalTo, .notEqualTo, .lessThan, .greaterThanOrEqualTo] : [.equalTo, .notEqualTo]
    let comparator = comparators.randomElement(using: &generator) ?? .equalTo
    let name = attribute.name
    return (
      .comparison(FetchComparison(.key(name), comparator, .constant(value))),
      { PlainOrder.holds($0[name], comparator, value) }
    )
  }
}

// MARK: OrderCases

extension StoreConformance {
  /// Records keep the order in which they were saved, with new records last.
  var orderCases: [ConformanceCase] {
    [
      makeCase("keeps the order of its records") { try $0.keepsOrder() },
      makeCase("keeps thousands of records") { conformance in
        let bench = try conformance.smallBench()
        let open = try bench.open()
        try open.insertRandom(3_000, seed: 1)
        try bench.expectReopensSame(open)
      },
    ]
  }

  private func keepsOrder() throws {
    let bench = try smallBench()
    var open = try bench.open()
    var expected: [ReferenceID] = []
    for round in UInt64(1)...4 {
      let context = open.makeContext()
      let objects = try context.fetch(entityName: ModelMaker.entity)
      try expect("the order of the records", is: expected, found: objects.map(\.objectID.reference))
      for (index, object) in objects.enumerated() where index % 3 == 1 { context.delete(object) }
      let added = try (0..<5).map { _ in try context.insert(entityName: ModelMaker.entity) }
      var generator = SeededGenerator(seed: round)
      for object in added { try open.setRandomAttributes(of: object, &generator) }
      try context.save()
      expected = expected.enumerated().filter { $0.offset % 3 != 1 }.map(\.element) + added.map(\.objectID.reference)
      open = try bench.expectReopensSame(open)
    }
  }
}
