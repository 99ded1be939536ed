import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

extension PostgreSQLStore {
  /// Finds records in SQL; returns nil if SQL would not find exactly what the predicate means.
  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    guard let query = FetchTranslator.keys(fetch, in: schema, of: try identifier()) else {
      return nil
    }
    return try withConnection { connection in
      try naming(fetch.entity) {
        var references: [ReferenceID] = []
        try connection.run(query.text, query.parameters).forEachRow { row in
          references.append(.uuid(try row.required(0, row.uuid)))
        }
        return references
      }
    }
  }

  /// Returns whether SQL finds exactly what the predicate means, in the order of the fetch.
  func canAnswer(_ fetch: RecordFetch) throws -> Bool {
    FetchTranslator.keys(fetch, in: schema, of: try identifier()) != nil
  }

  /// Counts records in SQL; returns nil if SQL would not find exactly what the predicate means.
  func count(_ fetch: RecordFetch) throws -> Int? {
    guard let query = FetchTranslator.count(fetch, in: schema, of: try identifier()) else {
      return nil
    }
    return try withConnection { connection in
      try naming(fetch.entity) {
        let count = try connection.run(query.text, query.parameters).first { row in
          try row.required(0, row.bigint)
        }
        return Int(clamping: count ?? 0)
      }
    }
  }

  /// Returns the statement that finds the records, and the server's plan for it.
  func queryPlan(_ fetch: RecordFetch) throws -> [String]? {
    guard let query = FetchTranslator.keys(fetch, in: schema, of: try identifier()) else {
      return nil
    }
    return try withConnection { try query.plan($0) }
  }
}

extension FetchStatement {
  /// Returns the statement, and the server's plan for it.
  func plan(_ connection: PostgreSQLConnection) throws -> [String] {
    var lines = [text]
    try connection.runOnce("EXPLAIN \(text)", parameters).forEachRow { row in lines.append(try row.text(0) ?? "") }
    return lines
  }
}

// MARK: Groups

extension PostgreSQLStore {
  /// Groups records in SQL; returns nil if SQL would not make exactly the same groups.
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? {
    guard let statement = FetchTranslator.groups(fetch, in: schema, of: try identifier()) else { return nil }
    do {
      return try withConnection { connection in
        try naming(fetch.records.entity) {
          try statement.groups(try connection.run(statement.query.text, statement.query.parameters), fetch)
        }
      }
    } catch let error as PersistenceError where error.isOfRange && !isInTransaction {
      // A sum that is too large is infinite in memory, but an error in PostgreSQL.
      return nil
    }
  }

  private var isInTransaction: Bool { state.withLock { $0.transaction != nil } }

  /// Returns the statement that makes the groups, and the server's plan for it.
  func queryPlan(_ fetch: GroupFetch) throws -> [String]? {
    guard let statement = FetchTranslator.groups(fetch, in: schema, of: try identifier()) else { return nil }
    let lines = try withConnection { try statement.query.plan($0) }
    return fetch.grouping.having == nil ? lines : lines + ["then test the condition on groups"]
  }
}

extension PersistenceError {
  /// Whether a computed number is out of range for its type.
  fileprivate var isOfRange: Bool { (underlyingError as? PostgreSQLError)?.sqlState == "22003" }
}

// MARK: Batches

extension PostgreSQLStore {
  /// Updates or deletes records in SQL; returns nil if SQL would not do exactly the same.
  func execute(_ batch: RecordBatch) throws -> RecordBatchResult? {
    let translations: [BatchTranslation]
    do throws(Untranslatable) {
      translations = try BatchTranslation.translations(of: batch, in: schema, of: storeIdentifier())
    } catch {
      return nil
    }
    let done = try writing { connection in
      var done = RecordBatchResult()
      for translation in translations {
        try naming(translation.entity) {
          try translation.run(needingReferences: batch.needsReferences, connection, into: &done)
        }
      }
      return done
    }
    try logging { try $0.note(batch, done, in: schema) }
    return done
  }

  /// Returns the identifier of the store if it is already known, as it is when the store is open.
  private func storeIdentifier() -> UUID? { state.withLock { $0.identifier } }
}
