import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Which objects a to-one relationship has to lead to.
struct ReferenceTest: Sendable {
  /// The references by the ordinal of their entities.
  let references: [Int: Set<ReferenceID>]

  /// - Parameter ids: those of other stores are left out, as nothing leads to them.
  init(_ ids: [ManagedObjectID], in tables: QueryTables) {
    var references: [Int: Set<ReferenceID>] = [:]
    for id in ids {
      let place = tables.scopes.firstIndex {
        $0.storeIdentifier == id.storeIdentifier && $0.entity.name == id.entity.name
      }
      if let place { references[place, default: []].insert(id.reference) }
    }
    self.references = references
  }

  /// How many objects there are.
  var count: Int { references.values.reduce(0) { $0 + $1.count } }

  /// The places of the rows that lead to one of the objects in the order of a column.
  func places(in order: OrderedRows, _ column: Column) -> [Range<Int>] {
    guard let targets = column.references else { return [] }
    return references.flatMap { ordinal, names in
      names.compactMap { name in
        targets.nameBytes(of: name).map { bytes in
          func compare(_ row: Int) -> Int {
            let difference = ByteOrder.compare(targets.unsafeName(row), bytes)
            return difference != 0 ? difference : targets.entityOrdinal(row) - ordinal
          }
          return order.places({ compare($0) < 0 }, { compare($0) > 0 })
        }
      }
    }
  }

  /// Keeps the rows that lead to one of the objects.
  func apply(to rows: inout RowBitmap, _ column: Column) {
    guard let targets = column.references, !references.isEmpty else { return rows.removeAll() }
    if case .same(let ordinal) = targets.entities {
      guard let names = references[Int(ordinal)] else { return rows.removeAll() }
      if names.count == 1, let name = names.first { return apply(name, to: &rows, column, targets) }
    }
    rows.filter { row in
      guard column.validity?[row] ?? true, let names = references[targets.entityOrdinal(row)] else { return false }
      return names.contains(targets[row])
    }
  }

  /// One reference of one entity, without making one for each row.
  private func apply(_ name: ReferenceID, to rows: inout RowBitmap, _ column: Column, _ targets: ReferenceColumn) {
    let bytes = targets.values.unsafeBase
    switch (name, targets.layout) {
    case (.integer(let number), .integer):
      rows.filter { row in
        (column.validity?[row] ?? true) && bytes.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self) == number
      }
    case (.uuid(let uuid), .uuid):
      let wanted = withUnsafeBytes(of: uuid.uuid) { $0.loadUnaligned(as: UInt128.self) }
      rows.filter { row in
        (column.validity?[row] ?? true) && bytes.loadUnaligned(fromByteOffset: row &* 16, as: UInt128.self) == wanted
      }
    default: rows.filter { row in (column.validity?[row] ?? true) && targets[row] == name }
    }
  }
}
