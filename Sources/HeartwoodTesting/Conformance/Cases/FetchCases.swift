import Heartwood
import HeartwoodFoundation
import HeartwoodStore

extension StoreConformance {
  /// On any store, and after any changes, a fetch finds the same objects as a check of every object.
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
  /// The number of fetches that each open a store.
  private static let unreadFetchCount = 25

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
    if reachesFilesItself, capabilities.supports(.persistence) {
      // A copy, so that the fetches below are the same for all stores.
      var unread = examination
      let read = open
      try unread.examineUnread(context, count: Self.unreadFetchCount) { try bench.reopened(read) }
    }
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
  /// Saves a record for each value that the store can hold, and counts the records that conditions find.
  ///
  /// - Parameter expected: for each condition, the positions of the values that it finds.
  private func expectCounts(
    _ type: AttributeType,
    _ values: [PropertyValue],
    _ expected: [(format: String, positions: [Int])]
  ) throws {
    let bench = try Workbench(self, model: try ModelMaker.model(attribute: type))
    let open = try bench.open()
    let writer = open.makeContext()
    let held = values.indices.filter { values[$0].isNull || !refuses(values[$0], type) }
    for position in held {
      try writer.insert(entityName: ModelMaker.entity).setPropertyValue(values[position], forKey: ModelMaker.value)
    }
    for isSaved in [false, true] {
      let context = isSaved ? try bench.reopened(open).makeContext() : writer
      for (format, positions) in expected {
        let predicate = try FetchPredicate(format: format)
        let request = FetchRequest<ManagedObject>(entityName: ModelMaker.entity, where: predicate)
        let count = Set(positions).intersection(held).count
        try expect("the count of \(format)", is: count, found: try context.count(for: request))
      }
      if !isSaved { try writer.save() }
    }
  }

  private func findsOddNumbers() throws {
    let numbers: [Double] = [0, -0.0, 1.5, -1.5, .infinity, -.infinity, .nan]
    // The first two have no value.
    try expectCounts(
      .double,
      [.null, .null] + numbers.map(PropertyValue.double),
      [
        ("value == nil", [0, 1]), ("value != nil", Array(2...8)), ("value == 0", [2, 3]),
        ("value != 0", [0, 1] + Array(4...8)), ("value > 0", [4, 6]), ("value >= 0", [2, 3, 4, 6]),
        ("value < 0", [5, 7]), ("NOT value < 0", [0, 1, 2, 3, 4, 6, 8]), ("value <= nil", []),
        ("value BETWEEN {-2, 2}", [2, 3, 4, 5]), ("value IN {0, nil}", [0, 1, 2, 3]), ("value IN {}", []),
        ("NOT value IN {}", Array(0...8)), ("value == 1.5 OR value == -1.5", [4, 5]), ("value + 1 == 1", [2, 3]),
        ("abs(value) == 1.5", [4, 5]),
      ]
    )
  }

  private func findsTexts() throws {
    let texts = ["", "é", "e\u{301}", "É", "Straße", "STRASSE", "ab\"c", "日本語", "😀 smile", "a, b"]
    // The first one has no value.
    try expectCounts(
      .string,
      [.null] + texts.map(PropertyValue.string),
      [
        ("value == nil", [0]), ("value == ''", [1]), ("value != ''", [0] + Array(2...10)), ("value == 'é'", [2]),
        ("value ==[c] 'é'", [2, 4]), ("value ==[d] 'é'", [2, 3]), ("value ==[cd] 'e'", [2, 3, 4]),
        ("value ==[c] 'strasse'", [5, 6]), ("value CONTAINS '本'", [8]), ("value BEGINSWITH '😀'", [9]),
        ("value CONTAINS ''", Array(1...10)), ("value ENDSWITH[c] 'SSE'", [5, 6]), ("value ENDSWITH 'SSE'", [6]),
        ("value LIKE '*\"?'", [7]), ("value LIKE[c] 'a*'", [7, 10]), ("value MATCHES '.{3}'", [8]),
        ("value < 'a'", [1, 5, 6]), ("value >= '日'", [8, 9]), ("value IN {'', nil, 'a, b'}", [0, 1, 10]),
      ]
    )
  }

  private func findsThroughRelationships() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).leadingToItself())
    let open = try bench.open()
    let context = open.makeContext()
    let records = try (0..<4).map { _ in try context.insert(entityName: ModelMaker.entity) }
    // 0 refers to 1, 2 and 3, and 1 refers to 2.
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
