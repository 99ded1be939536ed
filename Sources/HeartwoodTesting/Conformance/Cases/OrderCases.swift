import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// Records stay in the order in which they were saved, new ones last.
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
