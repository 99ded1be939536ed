import Foundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

// What a store over a database may do itself. `RecordDatabase.answers` switches it on.

/// A condition that the database can test.
private enum DatabaseCondition {
  case all([DatabaseCondition])
  case equal(String, PropertyValue)

  /// Returns nil if the predicate says more than the database can test.
  init?(_ predicate: CompiledPredicate?, of entity: EntityDescription) {
    switch predicate {
    case nil: self = .all([])
    case .and(let terms)?:
      let conditions = terms.compactMap { DatabaseCondition($0, of: entity) }
      if conditions.count < terms.count { return nil }
      self = .all(conditions)
    case .comparison(let comparison)?:
      guard comparison.comparator == .equalTo, comparison.modifier == .direct,
        let property = comparison.left.ownProperty, let type = property.attributeType,
        [.integer32, .integer64, .boolean].contains(type),
        let value = comparison.right.constant?.scalar.converted(to: type)
      else { return nil }
      self = .equal(entity.properties[property.ordinal].name, value)
    default: return nil
    }
  }

  func holds(_ record: RecordDatabase.Record) -> Bool {
    switch self {
    case .all(let conditions): conditions.allSatisfy { $0.holds(record) }
    case .equal(let name, let value): record.values[name] == .attribute(value)
    }
  }
}

extension RecordStore {
  /// The records that meet the condition of a fetch, in the order of their numbers; nil if the database cannot find just those.
  private func records(_ fetch: RecordFetch) throws -> [(number: Int64, record: RecordDatabase.Record)]? {
    guard let database = try answeringDatabase, fetch.compiledSorts.isEmpty,
      let condition = DatabaseCondition(fetch.compiledPredicate, of: fetch.entity)
    else { return nil }
    database.answerCount.withLock { $0 += 1 }
    return try content.records[fetch.entity.name, default: [:]]
      .filter { condition.holds($0.value) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    try records(fetch)?.dropFirst(fetch.offset).prefix(fetch.limit ?? .max).map { .integer($0.number) }
  }

  func canAnswer(_ fetch: RecordFetch) throws -> Bool {
    guard try answeringDatabase != nil, fetch.compiledSorts.isEmpty else { return false }
    return DatabaseCondition(fetch.compiledPredicate, of: fetch.entity) != nil
  }

  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? {
    guard fetch.grouping.keys.count == 1, let key = fetch.grouping.keys[0].ownProperty,
      key.attributeType == .integer32, fetch.grouping.aggregates.allSatisfy(\.countsRecords),
      let records = try records(fetch.records)
    else { return nil }
    let name = fetch.records.entity.properties[key.ordinal].name
    let excluded = Set(fetch.excluded)
    var keys: [PropertyValue] = []
    var counts: [PropertyValue: Int64] = [:]
    for (number, record) in records where !excluded.contains(.integer(number)) {
      guard case .attribute(let value)? = record.values[name] else { return nil }
      if counts[value] == nil { keys.append(value) }
      counts[value, default: 0] += 1
    }
    return keys.map { key in
      RecordGroup(keys: [key], accumulators: fetch.grouping.aggregates.map { _ in .count(counts[key] ?? 0) })
    }
  }

  func execute(_ batch: RecordBatch) throws -> RecordBatchResult? {
    guard case .update(let assignments) = batch.action else { return nil }
    var result = RecordBatchResult()
    for fetch in batch.records {
      let unique = Set(fetch.entity.uniquenessConstraints.joined())
      guard !assignments.contains(where: { unique.contains($0.ordinal) }), let found = try records(fetch) else {
        return nil
      }
      for (number, record) in found {
        var record = record
        record.version += 1
        for assignment in assignments {
          guard let value = assignment.expression.constant?.scalar.converted(to: assignment.type) else { return nil }
          record.values[fetch.entity.properties[assignment.ordinal].name] = .attribute(value)
        }
        put(record, number, of: fetch.entity)
      }
      result.count += found.count
      if batch.needsReferences { result.references[fetch.entity.ordinal] = found.map { .integer($0.number) } }
    }
    return result
  }

  func changes(since version: UInt64) throws -> [ChangedRecords]? {
    guard try answeringDatabase != nil else { return nil }
    let changes = try content.changes.drop { $0.changeCount <= version }
    return changes.map { ChangedRecords(entity: $0.entity, references: [.integer($0.number)]) }
  }

  private var answeringDatabase: RecordDatabase? {
    get throws {
      let database = try database
      return database.answers.withLock { $0 } ? database : nil
    }
  }
}
