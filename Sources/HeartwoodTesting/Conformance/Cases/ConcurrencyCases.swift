import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// Many use a store at once, and nothing is lost or seen by halves.
  var concurrencyCases: [ConformanceCase] {
    [
      makeCase("takes saves of many contexts at once") { try $0.takesConcurrentSaves() },
      makeCase("shows each save as a whole while others read") { try $0.showsWholeSaves() },
      makeCase("loses no save of several that open its file", needs: .file) { conformance in
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

  /// Opens the store and saves a record, again and again until nobody else was faster.
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
