import Heartwood
import HeartwoodFoundation
import HeartwoodStore

extension StoreConformance {
  /// No save overwrites another one unnoticed.
  var conflictCases: [ConformanceCase] {
    [
      makeCase("does not overwrite what somebody else has saved", needs: .place) { try $0.noticesOtherSave() },
      makeCase("does not overwrite a file that has come meanwhile", needs: .file) { conformance in
        try conformance.withEachDisk { try conformance.noticesNewFile($0) }
      },
      makeCase("notices that its file is gone", needs: .file) { conformance in
        try conformance.withEachDisk { try conformance.noticesRemoval($0) }
      },
      makeCase("notices that another context has saved the same record") { try $0.noticesOtherContext() },
    ]
  }

  private func noticesOtherSave() throws {
    let bench = try smallBench()
    try bench.open().insertRandom(5, seed: 1)
    let (mine, theirs) = (try bench.open(), try bench.open())
    try theirs.insertRandom(2, seed: 2)
    if reachesFilesItself { return try joinsOtherSave(bench, mine, theirs) }
    let expected = try theirs.contents()
    try expectError(.fileChangedOnDisk, when: "somebody else has saved meanwhile") { try mine.insertRandom(1, seed: 3) }
    try expectSame(try bench.open().contents(), as: expected, "the file that somebody else has saved")
  }

  /// In incremental stores, both saves are kept, unless they change the same record.
  private func joinsOtherSave(_ bench: Workbench, _ mine: OpenStore, _ theirs: OpenStore) throws {
    try mine.insertRandom(1, seed: 3)
    try expect("the records that two have saved", is: 8, found: try bench.open().contents().count)
    let (context, other) = (mine.makeContext(), theirs.makeContext())
    try mine.editRecords(in: context, seed: 4)
    try theirs.editRecords(in: other, seed: 5)
    try other.save()
    let expected = try theirs.contents()
    try expectError(.saveConflict, when: "somebody else has saved the same records") { try context.save() }
    try expectSame(try bench.open().contents(), as: expected, "the store after the conflict")
  }

  private func noticesNewFile(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    let (mine, theirs) = (try bench.open(), try bench.open())
    try theirs.insertRandom(2, seed: 2)
    if reachesFilesItself {
      try mine.insertRandom(1, seed: 3)
      return try expect("the records that two have saved", is: 3, found: try bench.open().contents().count)
    }
    let before = try bench.bytes()
    try expectError(.fileExists, .fileChangedOnDisk, when: "somebody else has made the file meanwhile") {
      try mine.insertRandom(1, seed: 3)
    }
    try expect(try bench.bytes() == before, "expected the file that somebody else has made to stand")
  }

  private func noticesRemoval(_ disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    try bench.open().insertRandom(5, seed: 1)
    let open = try bench.open()
    try bench.disk.fileSystem.removeFile(atPath: bench.path())
    try expectError(.fileChangedOnDisk, when: "the file has been removed meanwhile") {
      try open.insertRandom(1, seed: 2)
    }
    try expect(
      try bench.disk.fileSystem.status(atPath: bench.path()) == nil,
      "expected no file where one was removed, found one"
    )
  }

  private func noticesOtherContext() throws {
    let bench = try smallBench()
    let open = try bench.open()
    try open.insertRandom(3, seed: 1)
    let (mine, theirs) = (open.makeContext(), open.makeContext())
    try open.editRecords(in: mine, seed: 2)
    try open.editRecords(in: theirs, seed: 3)
    try theirs.save()
    let expected = try open.contents()
    try expectError(.saveConflict, when: "another context has saved the same records") { try mine.save() }
    try expectSame(try bench.reopened(open).contents(), as: expected, "the store after the conflict")
  }
}

// MARK: ConcurrencyCases

extension StoreConformance {
  /// Many use a store at once, and no change is lost or seen in part.
  var concurrencyCases: [ConformanceCase] {
    [
      makeCase("takes saves of many contexts at once") { try $0.takesConcurrentSaves() },
      makeCase("shows each save as a whole while others read") { try $0.showsWholeSaves() },
      makeCase("loses no save of several that open its file", needs: .place) { conformance in
        try conformance.withEachDisk { try conformance.losesNoSave(on: $0) }
      },
    ]
  }

  private static let workerCount = 4

  private func takesConcurrentSaves() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    let open = try bench.open()
    let rounds = 6
    _ = try Parallel.tryMap(Self.workerCount) { worker in
      for round in 0..<rounds { try open.insertRandom(5, seed: UInt64(worker * rounds + round)) }
    }
    try expect("the number of records", is: Self.workerCount * rounds * 5, found: try open.contents().count)
    try bench.expectReopensSameAfterRaces(open)
  }

  private func showsWholeSaves() throws {
    let bench = try smallBench()
    let open = try bench.open()
    let (batch, rounds) = (7, 12)
    _ = try Parallel.tryMap(Self.workerCount) { worker in
      for round in 0..<rounds {
        if worker == 0 {
          try open.insertRandom(batch, seed: UInt64(round))
        } else {
          let objects = try open.makeContext().fetch(entityName: ModelMaker.entity)
          try expect(
            objects.count % batch == 0,
            "expected whole saves of \(batch) records to be seen, found \(objects.count) records"
          )
          for object in objects { _ = try object.attributeValues() }
        }
      }
    }
    let reopened = try bench.expectReopensSameAfterRaces(open)
    try expect("the number of records", is: batch * rounds, found: try reopened.contents().count)
  }

  private func losesNoSave(on disk: ConformanceDisk) throws {
    let bench = try smallBench(disk)
    let rounds = 5
    _ = try Parallel.tryMap(Self.workerCount) { worker in
      for round in 0..<rounds { try bench.insertUntilItIsSaved(seed: UInt64(worker * rounds + round)) }
    }
    try expect(
      "the number of records that were saved",
      is: Self.workerCount * rounds,
      found: try bench.open().contents().count
    )
    try bench.expectFiles()
  }
}

extension Workbench {
  private static let mostAttempts = 500

  /// Opens the store and saves a record, and repeats that until no other save came first.
  fileprivate func insertUntilItIsSaved(seed: UInt64) throws {
    for _ in 0..<Self.mostAttempts {
      do {
        return try open().insertRandom(1, seed: seed)
      } catch let error as PersistenceError where error.code == .fileChangedOnDisk || error.code == .fileExists {
        continue
      }
    }
    throw ConformanceFailure("expected a save to succeed among \(Self.mostAttempts) that others may be faster than")
  }
}

// MARK: UniquenessCases

extension StoreConformance {
  /// Values that must be unique are unique in every store.
  var uniquenessCases: [ConformanceCase] {
    [makeCase("keeps values that must be unique apart") { try $0.keepsUniqueValuesApart() }]
  }

  private func keepsUniqueValuesApart() throws {
    for type in AttributeType.allCases where capabilities.attributeTypes.contains(type) {
      let values = Self.differingValues(of: type).filter { !refuses($0, type) }
      if values.count == 3 { try keepsApart(values, of: type) }
    }
  }

  private func keepsApart(_ values: [PropertyValue], of type: AttributeType) throws {
    let bench = try Workbench(self, model: try ModelMaker.model(uniqueAttribute: type))
    let open = try bench.open()
    // Null values do not conflict.
    try open.insertUnique([.null, .null, values[0], values[1]])
    try expectError(.constraintConflict, when: "two records of one save have the same \(type)") {
      try open.insertUnique([values[2], values[2]])
    }
    let reopened = try bench.expectReopensSame(open)
    for value in values.prefix(2) {
      try expectError(.constraintConflict, when: "a record has the same \(type) as one that is there") {
        try reopened.insertUnique([values[2], value])
      }
    }
    try reopened.insertUnique([values[2]])
    let context = reopened.makeContext()
    let object = try context.fetch(entityName: ModelMaker.entity).first { object in
      try object.propertyValue(forKey: ModelMaker.value) == values[1]
    }
    try unwrap(object, "the record with the second \(type)").setPropertyValue(values[0], forKey: ModelMaker.value)
    try expectError(.constraintConflict, when: "a record is given the \(type) of another") { try context.save() }
    try expect("the records", is: 5, found: try bench.reopened(reopened).contents().count)
  }

  /// Returns three values of a type, or none if it does not have three.
  private static func differingValues(of type: AttributeType) -> [PropertyValue] {
    switch type {
    case .string: ["", "a", "A"].map { .string($0) }
    case .integer16, .integer32, .integer64: [.integer(0), .integer(1), .integer(-1)]
    case .double: [.double(0), .double(0.5), .double(-1)]
    case .date: [0, 1, 86_400].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .uuid: (0..<3).map { _ in .uuid(UUID()) }
    default: []
    }
  }
}

extension OpenStore {
  /// Saves records with these values.
  fileprivate func insertUnique(_ values: [PropertyValue]) throws {
    let context = makeContext()
    for value in values {
      try context.insert(entityName: ModelMaker.entity).setPropertyValue(value, forKey: ModelMaker.value)
    }
    try context.save()
  }
}
