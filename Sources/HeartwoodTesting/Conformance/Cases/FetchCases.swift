import Heartwood
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension StoreConformance {
  /// Fetches find on any store what a look at every object finds, whatever has been changed since.
  var fetchCases: [ConformanceCase] {
    [1, 2, 3, 4, 9_716_944_305_047_066_482].map { (seed: UInt64) in
      makeCase("finds what a look at every object finds (seed \(seed))") { try $0.examineFetches(seed: seed) }
    } + [
      makeCase("finds by nothing and by what is no number", needs: .attributes(.double)) { try $0.findsOddNumbers() },
      makeCase("finds texts by their scalars, or as people read them", needs: .attributes(.string)) {
        try $0.findsTexts()
      },
      makeCase("finds through relationships to many", needs: .relationships) { try $0.findsThroughRelationships() },
    ]
  }

  private static let objectCount = 45
  private static let fetchesPerState = 60

  private func examineFetches(seed: UInt64) throws {
    do {
      try findsWhatIsThere(seed: seed)
    } catch let failure as ConformanceFailure {
      throw ConformanceFailure("seed \(seed): \(failure.message)")
    }
  }

  private func findsWhatIsThere(seed: UInt64) throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    var open = try bench.open()
    var examination = FetchExamination(open, seed: seed)
    try examination.fill(Self.objectCount)
    open = try bench.expectReopensSame(open)
    examination.move(to: open)
    let context = open.makeContext()
    try examination.examine(context, count: Self.fetchesPerState)
    try examination.change(context)
    try examination.examine(context, count: Self.fetchesPerState)
    try examination.examine(ManagedObjectContext(parent: context), count: Self.fetchesPerState / 2)
    try context.save()
    try examination.examine(context, count: Self.fetchesPerState)
  }
}

// MARK: By hand

extension StoreConformance {
  /// Saves a record for each value, and counts what conditions find.
  private func expectCounts(
    _ type: AttributeType,
    _ values: [PropertyValue],
    _ expected: [(format: String, count: Int)]
  ) throws {
    let bench = try Workbench(self, model: try ModelMaker.model(attribute: type))
    let open = try bench.open()
    let writer = open.makeContext()
    for value in values where !refuses(value, type) {
      try writer.insert(entityName: ModelMaker.entity).setPropertyValue(value, forKey: ModelMaker.value)
    }
    try expect("the number of records", is: values.count, found: writer.insertedObjects.count)
    for isSaved in [false, true] {
      let context = isSaved ? try bench.reopened(open).makeContext() : writer
      for (format, count) in expected {
        let predicate = try FetchPredicate(format: format)
        let request = FetchRequest<ManagedObject>(entityName: ModelMaker.entity, where: predicate)
        try expect("the count of \(format)", is: count, found: try context.count(for: request))
      }
      if !isSaved { try writer.save() }
    }
  }

  private func findsOddNumbers() throws {
    // Which a store may have no place for.
    let rest: [Double] = refuses(.double(.nan), .double) ? [] : [.nan]
    let numbers: [Double] = [0, -0.0, 1.5, -1.5, .infinity, -.infinity] + rest
    let odd = rest.count
    try expectCounts(
      .double,
      [.null, .null] + numbers.map(PropertyValue.double),
      [
        ("value == nil", 2), ("value != nil", 6 + odd), ("value == 0", 2), ("value != 0", 6 + odd), ("value > 0", 2),
        ("value >= 0", 4), ("value < 0", 2), ("NOT value < 0", 6 + odd), ("value <= nil", 0),
        ("value BETWEEN {-2, 2}", 4),
        ("value IN {0, nil}", 4), ("value IN {}", 0), ("NOT value IN {}", 8 + odd),
        ("value == 1.5 OR value == -1.5", 2),
        ("value + 1 == 1", 2), ("abs(value) == 1.5", 2),
      ]
    )
  }

  private func findsTexts() throws {
    let texts = ["", "é", "e\u{301}", "É", "Straße", "STRASSE", "ab\"c", "日本語", "😀 smile", "a, b"]
    try expectCounts(
      .string,
      [.null] + texts.map(PropertyValue.string),
      [
        ("value == nil", 1), ("value == ''", 1), ("value != ''", 10), ("value == 'é'", 1), ("value ==[c] 'é'", 2),
        ("value ==[d] 'é'", 2), ("value ==[cd] 'e'", 3), ("value ==[c] 'strasse'", 2), ("value CONTAINS '本'", 1),
        ("value BEGINSWITH '😀'", 1), ("value CONTAINS ''", 10), ("value ENDSWITH[c] 'SSE'", 2),
        ("value ENDSWITH 'SSE'", 1), ("value LIKE '*\"?'", 1), ("value LIKE[c] 'a*'", 2),
        ("value MATCHES '.{3}'", 1),
        ("value < 'a'", 3), ("value >= '日'", 2), ("value IN {'', nil, 'a, b'}", 3),
      ]
    )
  }

  private func findsThroughRelationships() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).leadingToItself())
    let open = try bench.open()
    let context = open.makeContext()
    let records = try (0..<4).map { _ in try context.insert(entityName: ModelMaker.entity) }
    // 0 leads to 1, 2 and 3; 1 leads to 2.
    try records[0].setValue(Array(records[1...]), forKey: "steps")
    try records[1].setValue([records[2]], forKey: "steps")
    try records[2].setValue(records[0], forKey: "parent")
    try records[3].setValue(records[0], forKey: "parent")
    let expected: [(String, Int)] = [
      ("steps.@count == 0", 2), ("steps.@count > 1", 1), ("stepOf.@count == 2", 1),
      ("ANY steps.parent != nil", 2), ("ALL steps.parent != nil", 3), ("NONE steps.parent != nil", 2),
      ("parent.steps.@count == 3", 2), ("parent.parent == nil", 4), ("children.@count == 2", 1),

      ("SUBQUERY(steps, $s, $s.parent == SELF).@count == 2", 1), ("parent IN stepOf", 2),
      ("ANY stepOf.parent == nil", 3),
    ]
    for isSaved in [false, true] {
      let reader = isSaved ? try bench.reopened(open).makeContext() : context
      for (format, count) in expected {
        let predicate = try FetchPredicate(format: format)
        let request = FetchRequest<ManagedObject>(entityName: ModelMaker.entity, where: predicate)
        try expect("the count of \(format)", is: count, found: try reader.count(for: request))
      }
      if !isSaved { try context.save() }
    }
  }
}
