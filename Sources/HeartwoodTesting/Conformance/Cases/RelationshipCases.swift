import Heartwood
import HeartwoodFoundation
import HeartwoodStore

extension StoreConformance {
  /// Objects keep their relationships.
  var relationshipCases: [ConformanceCase] {
    [
      makeCase("keeps to-one relationships", needs: .relationships) { conformance in
        try conformance.keepsLinks { objects in
          try objects[1].link("parent", to: objects[0])
          try objects[2].link("parent", to: objects[0])
          try objects[3].link("parent", to: objects[3])
        } check: { objects in
          try objects[0].expectLinks("children", lead: [objects[1], objects[2]], inOrder: false)
          try objects[1].expectLinks("parent", lead: [objects[0]])
          try objects[3].expectLinks("parent", lead: [objects[3]])
          try objects[4].expectLinks("parent", lead: [])
        }
      },
      makeCase("keeps to-many relationships", needs: .relationships) { conformance in
        try conformance.keepsLinks { objects in
          try objects[0].link("children", to: objects[4], objects[2], objects[1])
        } check: { objects in
          try objects[0].expectLinks("children", lead: [objects[1], objects[2], objects[4]], inOrder: false)
          try objects[4].expectLinks("parent", lead: [objects[0]])
          try objects[3].expectLinks("children", lead: [])
        }
      },
      makeCase("keeps the order of ordered relationships", needs: .relationships) { conformance in
        try conformance.keepsLinks { objects in
          try objects[0].link("steps", to: objects[3], objects[1], objects[4], objects[0], objects[2])
          try objects[1].link("steps", to: objects[2], objects[3])
        } check: { objects in
          try objects[0].expectLinks("steps", lead: [objects[3], objects[1], objects[4], objects[0], objects[2]])
          try objects[1].expectLinks("steps", lead: [objects[2], objects[3]])
          try objects[3].expectLinks("stepOf", lead: [objects[0], objects[1]], inOrder: false)
        }
      },
      makeCase("keeps one-to-one relationships", needs: .relationships) { conformance in
        try conformance.keepsLinks { objects in
          for index in objects.indices { try objects[index].link("leader", to: objects[(index + 2) % objects.count]) }
        } check: { objects in
          for (index, object) in objects.enumerated() {
            try object.expectLinks("leader", lead: [objects[(index + 2) % objects.count]])
            try objects[(index + 2) % objects.count].expectLinks("follower", lead: [object])
          }
        }
      },
      makeCase(
        "keeps relationships to several entities",
        needs: .relationships,
        .entities(ModelMaker.severalEntityCount)
      ) {
        try $0.keepsLinksBetweenEntities()
      },
      makeCase("forgets relationships to what is deleted", needs: .relationships) { try $0.forgetsDeleted() },
    ]
  }

  /// Saves five objects that `link` has related, and checks them with `check` after reopening the store.
  private func keepsLinks(
    _ link: ([ManagedObject]) throws -> Void,
    check: ([ManagedObject]) throws -> Void
  ) throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).leadingToItself())
    let open = try bench.open()
    let context = open.makeContext()
    let objects = try (0..<5).map { _ in try context.insert(entityName: ModelMaker.entity) }
    try link(objects)
    try check(objects)
    try context.save()
    let reopened = try bench.expectReopensSame(open)
    try check(try reopened.makeContext().fetch(entityName: ModelMaker.entity))
  }

  private func keepsLinksBetweenEntities() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).severalEntities())
    let open = try bench.open()
    let context = open.makeContext()
    let person = try context.insert(entityName: "Person")
    let engineer = try context.insert(entityName: "Engineer")
    let team = try context.insert(entityName: "Team")
    try person.link("favourites", to: team, engineer, person)
    try engineer.link("manager", to: person)
    try team.link("members", to: engineer, person)
    try context.save()
    let reopened = try bench.expectReopensSame(open).makeContext()
    let found = try reopened.fetch(entityName: "Thing")
    try expect("the number of objects", is: 3, found: found.count)
    let names = Dictionary(uniqueKeysWithValues: found.map { ($0.entity.name, $0) })
    let (p, e) = (try unwrap(names["Person"], "the person"), try unwrap(names["Engineer"], "the engineer"))
    let t = try unwrap(names["Team"], "the team")
    try p.expectLinks("favourites", lead: [t, e, p])
    try p.expectLinks("reports", lead: [e])
    try t.expectLinks("members", lead: [e, p])
    try t.expectLinks("admirers", lead: [p])
    try e.expectLinks("teams", lead: [t])
  }

  private func forgetsDeleted() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).leadingToItself())
    var open = try bench.open()
    let context = open.makeContext()
    let objects = try (0..<4).map { _ in try context.insert(entityName: ModelMaker.entity) }
    try objects[0].link("children", to: objects[1], objects[2])
    try objects[0].link("steps", to: objects[2], objects[1], objects[3])
    try context.save()
    open = try bench.expectReopensSame(open)
    let other = open.makeContext()
    other.delete(try other.fetch(entityName: ModelMaker.entity)[1])
    try other.save()
    open = try bench.expectReopensSame(open)
    let left = try open.makeContext().fetch(entityName: ModelMaker.entity)
    try left[0].expectLinks("children", lead: [left[1]])
    try left[0].expectLinks("steps", lead: [left[1], left[2]])
  }
}

extension ManagedObject {
  /// Sets a relationship to `objects`.
  fileprivate func link(_ name: String, to objects: ManagedObject...) throws {
    let ids = objects.map(\.objectID)
    let isToMany = entity.property(named: name)?.relationship?.isToMany == true
    try setPropertyValue(isToMany ? .toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null, forKey: name)
  }

  fileprivate func expectLinks(_ name: String, lead objects: [ManagedObject], inOrder: Bool = true) throws {
    let found = try propertyValue(forKey: name).objectIDs
    let expected = objects.map(\.objectID)
    if inOrder {
      try expect("where \(entity.name).\(name) leads", is: expected, found: found)
    } else {
      try expect("how many objects \(entity.name).\(name) leads to", is: expected.count, found: found.count)
      try expect("where \(entity.name).\(name) leads", is: Set(expected), found: Set(found))
    }
  }
}

// MARK: ReferenceCases

extension StoreConformance {
  /// Records keep their references.
  var referenceCases: [ConformanceCase] {
    StoreCapabilities.ReferenceKind.allCases.map { kind in
      makeCase("keeps references of kind \(kind.rawValue)", needs: .references(kind)) {
        try $0.keeps(ReferenceNames.samples(of: kind))
      }
    } + [
      makeCase("keeps references of all its kinds side by side") { conformance in
        try conformance.keeps(
          conformance.capabilities.referenceKinds.flatMap { ReferenceNames.samples(of: $0).prefix(5) }
        )
      },
      makeCase("gives new records names of their own") { try $0.namesNewRecords() },
      makeCase("gives no reference of a deleted record again") { try $0.givesReferencesOnce() },
    ]
  }

  private func keeps(_ references: [ReferenceID]) throws {
    let bench = try smallBench()
    let source = try bench.openInMemory()
    try source.insert(references, seed: 1)
    let expected = try source.contents()
    let found = try bench.reopened(try bench.convert(source)).contents()
    try expectConverted(found, as: expected, "a store whose records are called by \(references.count) names")
  }

  private func namesNewRecords() throws {
    let bench = try smallBench()
    var open = try bench.open()
    var seen: Set<ReferenceID> = []
    let preferred = try unwrap(capabilities.referenceKinds.first, "a kind of reference")
    for round in 1...3 {
      try open.insertRandom(4, seed: UInt64(round))
      open = try bench.reopened(open)
      let ids = try open.makeContext().fetch(entityName: ModelMaker.entity).map(\.objectID)
      seen.formUnion(ids.map(\.reference))
      try expect("the number of names after \(round) saves", is: round * 4, found: seen.count)
      let kinds = Set(ids.map(\.reference.kind))
      try expect("the kinds of new records' names", is: [preferred], found: kinds)
    }
  }

  private func givesReferencesOnce() throws {
    let bench = try smallBench()
    var open = try bench.open()
    var seen: Set<ReferenceID> = []
    for _ in 1...3 {
      let context = open.makeContext()
      let object = try context.insert(entityName: ModelMaker.entity)
      try context.save()
      let reference = object.objectID.reference
      try expect(
        seen.insert(reference).inserted,
        "expected a new record to get a reference that none had before, found \(reference.text) again"
      )
      context.delete(object)
      try context.save()
      open = try bench.reopened(open)
    }
  }
}
