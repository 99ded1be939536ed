import HeartwoodModel
import HeartwoodStore
import Testing

/// The simplest thing that a table could be, to hold the real one against: records in the order of their insertion.
struct PlainTable {
  struct Record: Equatable {
    var reference: ReferenceID
    var version: UInt64
    var values: [PropertyValue]
  }

  private(set) var records: [Record] = []

  mutating func insert(_ rows: [NodeTable.NewRow]) {
    records += rows.map { Record(reference: $0.reference, version: 1, values: $0.values) }
  }

  mutating func update(_ index: Int, _ values: [(ordinal: Int, value: PropertyValue)]) {
    for (ordinal, value) in values { records[index].values[ordinal] = value }
  }

  mutating func raiseVersion(_ index: Int) {
    records[index].version += 1
  }

  mutating func delete(_ references: Set<ReferenceID>) {
    records.removeAll { references.contains($0.reference) }
  }

  /// Records an issue where `table` is not the same, row by row in order.
  func expectSame(_ table: NodeTable, _ everything: Everything, sourceLocation: SourceLocation = #_sourceLocation)
    throws
  {
    table._checkInvariants()
    let rows = Array(table.liveRows)
    try #require(table.count == records.count && rows.count == records.count, sourceLocation: sourceLocation)
    for (row, record) in zip(rows, records) {
      let node = everything.node(row, in: table)
      let found = Record(reference: node.reference, version: node.version, values: node.values)
      guard found != record else { continue }
      Issue.record("\(found) is not \(record)", sourceLocation: sourceLocation)
    }
    for (row, record) in zip(rows, records) {
      #expect(try table.row(of: record.reference) == row, sourceLocation: sourceLocation)
    }
  }
}
