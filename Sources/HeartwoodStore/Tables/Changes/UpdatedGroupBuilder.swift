package import HeartwoodModel

/// Changes of records of one group that are being put together, row by row in ascending order.
package struct UpdatedGroupBuilder {
  private let kinds: [ColumnKind]
  private var rows: [UInt16] = []
  private var baseVersions: [UInt64] = []
  private var columns: [Part?]

  private struct Part {
    let values: ColumnBuilder
    /// Nil as long as every row has a value.
    var places: [UInt16]?
  }

  package init(entity: EntityDescription) {
    kinds = entity.properties.map { ColumnKind($0) }
    columns = Array(repeating: nil, count: kinds.count)
  }

  package var isEmpty: Bool { rows.isEmpty }

  /// Begins the changes of a row, which comes after those before.
  package mutating func beginRow(_ row: Int, baseVersion: UInt64) {
    precondition(rows.last.map { $0 < row } ?? true, "Changed rows ascend.")
    rows.append(UInt16(truncatingIfNeeded: row))
    baseVersions.append(baseVersion)
  }

  /// The column that takes the new value of a property of the row that was begun: exactly one.
  package mutating func column(_ ordinal: Int) -> ColumnBuilder {
    let place = rows.count - 1
    guard let part = columns[ordinal] else {
      let values = ColumnBuilder(kind: kinds[ordinal])
      columns[ordinal] = Part(values: values, places: place == 0 ? nil : [UInt16(truncatingIfNeeded: place)])
      return values
    }
    if part.places != nil {
      columns[ordinal]?.places?.append(UInt16(truncatingIfNeeded: place))
    } else if part.values.rowCount < place {
      let earlier = (0..<part.values.rowCount) + [place]
      columns[ordinal]?.places = earlier.map { UInt16(truncatingIfNeeded: $0) }
    }
    return part.values
  }

  /// The changes; this becomes empty.
  ///
  /// - Parameters:
  ///   - group: the place of the group in its table.
  ///   - base: the group in some version that has all the rows.
  package mutating func sealed(group: Int, base: RowGroup) -> UpdatedGroup {
    defer {
      rows = []
      baseVersions = []
      columns = Array(repeating: nil, count: kinds.count)
    }
    let count = rows.count
    return UpdatedGroup(
      group: group,
      rows: rows,
      baseVersions: baseVersions,
      base: base,
      columns: columns.map { part in
        part.map { UpdatedColumn(places: Self.places(of: $0, rowCount: count), values: $0.values.sealed()) }
      }
    )
  }

  private static func places(of part: Part, rowCount: Int) -> [UInt16]? {
    if let places = part.places { return places }
    let count = part.values.rowCount
    return count == rowCount ? nil : (0..<count).map { UInt16(truncatingIfNeeded: $0) }
  }
}
