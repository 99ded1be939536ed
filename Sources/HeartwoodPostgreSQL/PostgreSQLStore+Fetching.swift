import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

extension PostgreSQLStore {
  /// Finds records in SQL; nil where SQL would not find just what the predicate means.
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

  /// Counts records in SQL.
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

  /// The statement that finds the records, and the server's plan for it.
  func queryPlan(_ fetch: RecordFetch) throws -> [String]? {
    guard let query = FetchTranslator.keys(fetch, in: schema, of: try identifier()) else {
      return nil
    }
    return try withConnection { connection in
      var lines = [query.text]
      try connection.runOnce("EXPLAIN \(query.text)", query.parameters).forEachRow { row in
        lines.append(try row.text(0) ?? "")
      }
      return lines
    }
  }
}
