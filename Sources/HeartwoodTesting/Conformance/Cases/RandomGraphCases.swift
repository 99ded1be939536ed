import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// Random work on a graph, saved and reopened now and then.
  var randomGraphCases: [ConformanceCase] {
    (UInt64(1)...8).map { seed in
      makeCase("keeps a random graph (seed \(seed))") { try $0.keepsRandomGraph(seed: seed) }
    }
  }

  private static let roundCount = 12
  private static let stepsPerRound = 15

  private func keepsRandomGraph(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    var open = try bench.open()
    for round in 1...Self.roundCount {
      let context = open.makeContext()
      for _ in 0..<Self.stepsPerRound { try open.takeRandomStep(in: context, &generator) }
      if generator.chance(oneIn: 8) { context.rollback() }
      try context.save()
      let findings = try ContentsValidation.findings(in: try open.contents(), limit: 5)
      try expect(findings.isEmpty, "expected a sound graph in round \(round) of seed \(seed), found \(findings)")
      if generator.chance(oneIn: 2) { open = try bench.expectReopensSame(open) }
    }
    try bench.expectReopensSame(open)
  }
}

extension OpenStore {
  /// Inserts, changes, links or deletes an object.
  func takeRandomStep(in context: ManagedObjectContext, _ generator: inout SeededGenerator) throws {
    let objects = try allObjects(in: context)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<4:
      guard let entity = concreteEntities.randomElement(using: &generator) else { return }
      try setRandomAttributes(of: try context.insert(entityName: entity.name), &generator)
    case 4..<6:
      guard let object = objects.randomElement(using: &generator) else { return }
      try setRandomAttributes(of: object, &generator)
    case 6..<9:
      guard let object = objects.randomElement(using: &generator) else { return }
      try object.linkRandomly(among: objects, &generator)
    default:
      objects.randomElement(using: &generator).map(context.delete)
    }
  }

  /// Saves random relationships between all objects.
  func linkRandomly(_ generator: inout SeededGenerator) throws {
    let context = makeContext()
    let objects = try allObjects(in: context)
    for object in objects { try object.linkRandomly(among: objects, &generator) }
    try context.save()
  }

  func allObjects(in context: ManagedObjectContext) throws -> [ManagedObject] {
    try store.entities.filter { $0.superentity == nil }.flatMap { root in
      try context.fetch(entityName: root.name).filter { !$0.isDeleted }
    }
  }
}

extension ManagedObject {
  /// Lets a random relationship lead to some of `objects`, or nowhere.
  func linkRandomly(among objects: [ManagedObject], _ generator: inout SeededGenerator) throws {
    guard let relationship = entity.relationships.randomElement(using: &generator) else { return }
    let candidates = objects.filter { $0.isOf(relationship.destinationEntityName) }
    let chosen = (0..<Int.random(in: 0...3, using: &generator)).compactMap { _ in
      candidates.randomElement(using: &generator)?.objectID
    }
    let value: PropertyValue =
      relationship.isToMany ? .toMany(chosen) : chosen.first.map(PropertyValue.toOne) ?? .null
    try setPropertyValue(value, forKey: relationship.name)
  }

  private func isOf(_ entityName: String) -> Bool {
    var ancestor: EntityDescription? = entity
    while let current = ancestor, current.name != entityName { ancestor = current.superentity }
    return ancestor != nil
  }
}
