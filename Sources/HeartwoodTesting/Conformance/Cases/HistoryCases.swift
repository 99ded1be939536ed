import Heartwood
import HeartwoodStore

extension StoreConformance {
  /// A store that declares a history keeps one.
  var historyCases: [ConformanceCase] {
    [
      makeCase("tells what each save did", needs: .history) { try $0.tellsChanges() },
      makeCase("keeps its history", needs: .history) { try $0.keepsHistory() },
      makeCase("keeps what it is told to of deleted records", needs: .history) { try $0.keepsTombstones() },
      makeCase("goes on with its history", needs: .history) { try $0.continuesHistory() },
      makeCase("keeps a history of many saves", needs: .history) { try $0.keepsManySaves() },
      makeCase("purges its history", needs: .history) { try $0.purges() },
      makeCase("has no gaps in its history", needs: .history, .place) { try $0.hasNoGaps() },
      makeCase("takes a history along where it is converted to", needs: .history) { try $0.takesHistoryAlong() },
      makeCase("hands a history over where it is converted from", needs: .history) { try $0.handsHistoryOver() },
      makeCase("tells what batch requests did", needs: .history) { try $0.tellsBatches() },
      makeCase("tells both sides of relationships", needs: .history, .relationships) { try $0.tellsBothSides() },
    ]
  }

  private func tellsChanges() throws {
    let bench = try smallBench()
    let open = try bench.open(tracksHistory: true)
    try expect("the history of a new store", is: [], found: try open.history())
    let before = try open.token()
    let updated = try open.saveHistory(seed: 1)
    let history = try open.history()
    try expect("the numbers of the transactions", is: [1, 2, 3], found: history.map(\.number))
    try expect("the authors", is: ["first", "second, ä😀", "second, ä😀"], found: history.map(\.author))
    try expect("the names of the contexts", is: ["kit", "kit", "kit"], found: history.map(\.contextName))
    try expect(
      "the kinds of the changes",
      is: [[.insert, .insert, .insert], [.update], [.delete]],
      found: history.map { $0.changes.map(\.changeType) }
    )
    let inserted = history[0].changes.map(\.changedObjectID)
    try expect("the record that was updated", is: inserted[0], found: history[1].changes[0].changedObjectID)
    try expect("the record that was deleted", is: inserted[1], found: history[2].changes[0].changedObjectID)
    try expect(
      "the properties that were updated",
      is: updated,
      found: Set(history[1].changes[0].updatedProperties)
    )
    try expect("the history after a token", is: history, found: try open.history(after: before))
    let reopened = try bench.reopened(open)
    try expect("what the reopened store tells after it", is: history, found: try reopened.history(after: before))
  }

  private func keepsHistory() throws {
    let bench = try smallBench()
    let open = try bench.open(tracksHistory: true)
    try open.saveHistory(seed: 2)
    let expected = try open.history()
    let reopened = try bench.reopened(open)
    try expect("the history of the reopened store", is: expected, found: try reopened.history())
    try expect("the token of the reopened store", is: try open.token(), found: try reopened.token())
  }

  private func keepsTombstones() throws {
    let model = try ModelMaker(capabilities).withPreservedAttributes()
    let bench = try Workbench(self, model: model)
    let open = try bench.open(tracksHistory: true)
    var generator = SeededGenerator(seed: 3)
    let context = open.makeContext()
    let objects = try (0..<20).map { _ in try context.insert(entityName: ModelMaker.entity) }
    for object in objects { try open.setRandomAttributes(of: object, &generator) }
    try context.save()
    let preserved = model.entities[0].attributes.filter(\.preservesValueInHistoryOnDeletion).map(\.name)
    let expected = try objects.map { object in
      Dictionary(uniqueKeysWithValues: try preserved.map { ($0, try object.propertyValue(forKey: $0)) })
    }
    for object in objects { context.delete(object) }
    try context.save()
    let found = try unwrap(try bench.reopened(open).history().last, "a transaction").changes.map(\.tombstone)
    try expect("the tombstones", is: expected, found: found)
  }

  private func continuesHistory() throws {
    let bench = try smallBench()
    var open = try bench.open(tracksHistory: true)
    try open.saveHistory(seed: 4)
    var expected = try open.history()
    for round in 1...3 {
      if capabilities.supports(.persistence) { open = try bench.open(tracksHistory: true) }
      let token = try open.token()
      try open.insertRandom(round, seed: UInt64(round))
      let new = try open.history(after: token)
      try expect("the number of transactions after one save", is: 1, found: new.count)
      try expect("the number of changes", is: round, found: new[0].changes.count)
      expected += new
    }
    try expect("the numbers", is: Array(1...6), found: expected.map(\.number))
    try expect("the history of the reopened store", is: expected, found: try bench.reopened(open).history())
  }

  private func keepsManySaves() throws {
    let bench = try smallBench()
    let open = try bench.open(tracksHistory: true)
    // More than one page of the history can hold.
    for round in 0..<20 { try open.insertRandom(300, seed: UInt64(round)) }
    let expected = try open.history()
    try expect("the number of changes", is: 6000, found: expected.reduce(0) { $0 + $1.changes.count })
    try expect("the history of the reopened store", is: expected, found: try bench.reopened(open).history())
  }

  private func purges() throws {
    let bench = try smallBench()
    let open = try bench.open(tracksHistory: true)
    let start = try unwrap(try open.token(), "a token")
    try open.saveHistory(seed: 5)
    let expected = try open.history().suffix(1)
    let second = PersistentHistoryToken([open.store.identifier: 2])
    try open.coordinator.deleteHistory(before: second)
    let reopened = try bench.reopened(open)
    for store in [open, reopened] {
      try expect("the history that was not purged", is: Array(expected), found: try store.history())
      try expect("the history after the purge's token", is: Array(expected), found: try store.history(after: second))
      try expectError(.historyTokenExpired, when: "what was purged is asked for") {
        _ = try store.history(after: start)
      }
    }
    try open.coordinator.deleteHistory(before: try unwrap(try open.token(), "a token"))
    try expect(
      "the history of a store all of whose history was purged",
      is: [],
      found: try bench.reopened(open).history()
    )
    try open.insertRandom(1, seed: 6)
    try expect("the number after the purge", is: [4], found: try bench.reopened(open).history().map(\.number))
  }

  private func hasNoGaps() throws {
    let bench = try smallBench()
    let open = try bench.open(tracksHistory: true)
    try open.saveHistory(seed: 7)
    let (expected, before) = (try open.history(), try bench.bytes())
    let untracked = try bench.open()
    // An incremental store continues its history; a store that writes the whole file refuses.
    if capabilities.kind == .incremental {
      try untracked.insertRandom(1, seed: 8)
      let found = try untracked.history()
      try expect("the history before the save", is: expected, found: Array(found.dropLast()))
      try expect("the numbers", is: [1, 2, 3, 4], found: found.map(\.number))
      return try expect("the kinds of the changes", is: [.insert], found: found[3].changes.map(\.changeType))
    }
    try expectError(.storeReadOnly, when: "a store with a history is saved without keeping it") {
      try untracked.insertRandom(1, seed: 8)
    }
    try expect(try bench.bytes() == before, "expected the file to stay as it was")
    try expect("the history", is: expected, found: try untracked.history())
  }

  private func takesHistoryAlong() throws {
    let bench = try smallBench()
    let source = try bench.openInMemory(tracksHistory: true)
    try source.saveHistory(seed: 9)
    let expected = try source.history()
    let open = try bench.convert(source)
    let found = try bench.reopened(open).history()
    if open.store.engine.hasRenamedRecords {
      try expectSameUnderOtherNames(found, as: expected, recordsOf: open)
    } else {
      try expect("the history of what was converted", is: expected, found: found)
    }
    try open.insertRandom(1, seed: 10)
    try expect("the numbers", is: [1, 2, 3, 4], found: try bench.reopened(open).history().map(\.number))
  }

  private func handsHistoryOver() throws {
    let bench = try smallBench()
    let open = try bench.open(tracksHistory: true)
    try open.saveHistory(seed: 11)
    let expected = try open.history()
    let source = try bench.reopened(open)
    let store = try source.coordinator.convert(source.store, to: nil, type: .inMemory)
    let found = try source.coordinator.execute(.fetchHistory(after: nil), in: [store]).map(HistoryRecord.init)
    try expect("the history of what it was converted to", is: expected, found: found)
  }

  /// Fails unless the histories are the same in a store that assigns references itself. Each deleted record must have a
  /// reference that no other record has.
  private func expectSameUnderOtherNames(
    _ found: [HistoryRecord],
    as expected: [HistoryRecord],
    recordsOf open: OpenStore
  ) throws {
    var names: [ManagedObjectID: ManagedObjectID] = [:]
    let renamed = expected.map { record in
      let ids = found.first { $0.number == record.number }?.changes.map(\.changedObjectID) ?? []
      let changes = zip(record.changes, ids).map { change, id in
        PersistentHistoryChange(
          changeID: change.changeID,
          changedObjectID: names[change.changedObjectID, setTo: id],
          changeType: change.changeType,
          updatedProperties: change.updatedProperties,
          tombstone: change.tombstone
        )
      }
      return HistoryRecord(record, changes: changes)
    }
    try expect("the history of what was converted", is: renamed, found: found)
    try expect("how many records it names", is: names.count, found: Set(names.values).count)
    let records = Set(try open.contents().nodes.map(\.objectID))
    let deleted = Set(found.flatMap(\.changes).filter { $0.changeType == .delete }.map(\.changedObjectID))
    try expect("the records that are left", is: records, found: Set(names.values).subtracting(deleted))
  }

  private func tellsBatches() throws {
    let bench = try smallBench()
    let open = try bench.open(tracksHistory: true)
    try open.insertRandom(5, seed: 12)
    // A store changes the records itself if the framework has not read them.
    let fresh = capabilities.supports(.persistence) ? try bench.openUnread(tracksHistory: true) : open
    let attribute = try unwrap(
      fresh.concreteEntities.first?.attributes.first { $0.isOptional && !$0.isTransient },
      "an attribute"
    )
    let update = BatchUpdateRequest(
      entityName: ModelMaker.entity,
      propertiesToUpdate: [attribute.name: FetchExpression.constant(.null)]
    )
    let updated = try fresh.coordinator.execute(update, author: "batch").count
    let removed = try fresh.coordinator.execute(BatchDeleteRequest(entityName: ModelMaker.entity), author: "batch")
      .count
    try expect("how many records the batches were about", is: [5, 5], found: [updated, removed])
    let history = try bench.reopened(fresh).history()
    try expect("the numbers", is: [1, 2, 3], found: history.map(\.number))
    try expect("the authors", is: ["batch", "batch"], found: history.dropFirst().map(\.author))
    let inserted = Set(history[0].changes.map(\.changedObjectID))
    for (record, kind) in zip(history.dropFirst(), [PersistentHistoryChange.ChangeType.update, .delete]) {
      try expect("the records of a batch", is: inserted, found: Set(record.changes.map(\.changedObjectID)))
      try expect("the kinds of its changes", is: [kind], found: Set(record.changes.map(\.changeType)))
    }
    let names = Set(history[1].changes.map(\.updatedProperties))
    try expect("the properties that a batch has updated", is: [[attribute.name]], found: names)
  }

  private func tellsBothSides() throws {
    let bench = try Workbench(self, model: try ModelMaker(capabilities).richest())
    let open = try bench.open(tracksHistory: true)
    let context = open.makeContext()
    let (person, team) = (try context.insert(entityName: "Person"), try context.insert(entityName: "Team"))
    try context.save()
    try team.setPropertyValue(.toOne(person.objectID), forKey: "occupant")
    try context.save()
    let change = try unwrap(try bench.reopened(open).history().last, "a transaction")
    let found = Dictionary(
      change.changes.map { ($0.changedObjectID, $0.updatedProperties) },
      uniquingKeysWith: { first, _ in first }
    )
    try expect(
      "the properties of both sides of a relationship",
      is: [person.objectID: ["office"], team.objectID: ["occupant"]],
      found: found
    )
  }
}

extension [ManagedObjectID: ManagedObjectID] {
  /// Returns the name of a record, which is the first one that was set for it.
  fileprivate subscript(id: ManagedObjectID, setTo name: ManagedObjectID) -> ManagedObjectID {
    mutating get {
      if let known = self[id] { return known }
      self[id] = name
      return name
    }
  }
}
