import Foundation
import HeartwoodModel
import HeartwoodTesting
import TestSupport
import Testing

@testable import HeartwoodStore

/// A few hundred records of three entities in small groups, some deleted, with values that are often the same.
struct QueryFixture {
  private(set) var queries: RandomQueries
  private(set) var tables = QueryTables(tables: [], scopes: [])

  init(seed: UInt64, rowsPerGroup: Int = 60) throws {
    queries = try RandomQueries(seed: seed, indexes: Self.compoundIndexes())
    let store = UUID()
    let scopes = queries.model.entities.map { ObjectIDScope(storeIdentifier: store, entity: $0) }
    for (ordinal, count) in [41, 8, 8].enumerated() {
      queries.objectIDs[ordinal] = (0..<count).map { row in
        ManagedObjectID(scope: scopes[ordinal], reference: Self.reference(ordinal, row))
      }
    }
    let counts = [220, 7, 9]
    let built = try model.entities.map { try table($0, count: counts[$0.ordinal], rowsPerGroup: rowsPerGroup) }
    tables = QueryTables(tables: built, scopes: scopes)
  }

  var model: ManagedObjectModel { queries.model }
  var item: EntityDescription { queries.item }
  var table: NodeTable? { tables.table(item.ordinal) }
}

// MARK: Queries

extension QueryFixture {
  mutating func value(of type: AttributeType) -> PropertyValue { queries.value(of: type) }
  mutating func id(_ relationship: String) -> PropertyValue { queries.id(relationship) }
  mutating func predicate(depth: Int) -> FetchPredicate { queries.predicate(depth: depth) }
  mutating func sorts() -> [FetchSortDescriptor] { queries.sorts() }
  mutating func number(_ range: ClosedRange<Int>) -> Int { queries.number(range) }
}

// MARK: Records

extension QueryFixture {
  private mutating func table(_ entity: EntityDescription, count: Int, rowsPerGroup: Int) throws -> NodeTable {
    var groups: [RowGroup] = []
    for start in stride(from: 0, to: count, by: rowsPerGroup) {
      let builder = RowGroupBuilder(entity: entity)
      for row in start..<min(count, start + rowsPerGroup) {
        builder.append(Self.reference(entity.ordinal, row), version: 1, values: queries.values(entity))
      }
      groups.append(builder.sealed())
    }
    var table = NodeTable(entity: entity, groups: groups)
    table.delete(table.liveRows.filter { _ in queries.generator.chance(oneIn: 12) })
    return table
  }

  /// Items are named by integers, lists by UUIDs and tags by strings.
  private static func reference(_ entityOrdinal: Int, _ row: Int) -> ReferenceID {
    switch entityOrdinal {
    case 0: .integer(Int64(row))
    case 1: .uuid(UUID(uuid: (UInt8(row), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    default: .string("tag \(row)")
    }
  }
}
