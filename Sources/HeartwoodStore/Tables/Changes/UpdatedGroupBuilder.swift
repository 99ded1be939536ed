package import HeartwoodModel

/// Builds the changes of records of one group, row by row in ascending order.
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

  /// Begins the changes of a row, which must come after the earlier ones.
  package mutating func beginRow(_ row: Int, baseVersion: UInt64) {
    precondition(rows.last.map { $0 < row } ?? true, "Changed rows ascend.")
    rows.append(UInt16(truncatingIfNeeded: row))
    baseVersions.append(baseVersion)
  }

  /// Returns the column for the new value of a property in the current row. Exactly one value must be appended to it.
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

  /// Returns the changes; this becomes empty.
  ///
  /// - Parameters:
  ///   - group: the place of the group in its table.
  ///   - base: a version of the group that has all the rows.
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

// MARK: UpdatedGroup: merging

extension UpdatedGroup {
  /// Returns these changes followed by `later`, of the same group of the same version of a table. Columns that only one
  /// of them has are shared.
  package func merging(_ later: UpdatedGroup) -> UpdatedGroup {
    let places = MergedPlaces(rows, later.rows)
    var versions = [UInt64](repeating: 0, count: places.rows.count)
    for (place, version) in zip(places.first + places.second, baseVersions + later.baseVersions) {
      versions[Int(place)] = version
    }
    return UpdatedGroup(
      group: group,
      rows: places.rows,
      baseVersions: versions,
      base: base,
      columns: zip(columns, later.columns).map { own, other in
        let own = own?.moved(to: places.first, of: places.rows.count)
        let other = other?.moved(to: places.second, of: places.rows.count)
        guard let own, let other else { return own ?? other }
        return own.merging(other, rowCount: places.rows.count)
      }
    )
  }
}

/// The rows of two changes of one group, and their places in the merged changes.
private struct MergedPlaces {
  private(set) var rows: [UInt16] = []
  private(set) var first: [UInt16] = []
  private(set) var second: [UInt16] = []

  /// Merges two ascending lists of rows.
  init(_ left: [UInt16], _ right: [UInt16]) {
    var (next, other) = (0, 0)
    while next < left.count || other < right.count {
      let place = UInt16(truncatingIfNeeded: rows.count)
      let row = min(next < left.count ? left[next] : .max, other < right.count ? right[other] : .max)
      rows.append(row)
      if next < left.count, left[next] == row {
        first.append(place)
        next += 1
      }
      if other < right.count, right[other] == row {
        second.append(place)
        other += 1
      }
    }
  }
}

extension UpdatedColumn {
  /// Returns the same values for another set of changing rows.
  ///
  /// - Parameters:
  ///   - newPlaces: the new place of each of the old rows.
  ///   - count: the number of rows now.
  fileprivate func moved(to newPlaces: [UInt16], of count: Int) -> UpdatedColumn {
    if newPlaces.count == count { return self }
    return UpdatedColumn(places: (0..<values.rowCount).map { newPlaces[place($0)] }, values: values)
  }

  /// Returns these values followed by `later`, which has the same changing rows.
  fileprivate func merging(_ later: UpdatedColumn, rowCount: Int) -> UpdatedColumn {
    if later.values.rowCount == rowCount { return later }
    let builder = ColumnBuilder(kind: values.kind)
    var places: [UInt16] = []
    var (next, other) = (0, 0)
    while next < values.rowCount || other < later.values.rowCount {
      let first = next < values.rowCount ? place(next) : .max
      let second = other < later.values.rowCount ? later.place(other) : .max
      if second <= first {
        builder.append(other..<(other + 1), of: later.values)
        other += 1
      } else {
        builder.append(next..<(next + 1), of: values)
      }
      if first <= second { next += 1 }
      places.append(UInt16(truncatingIfNeeded: min(first, second)))
    }
    return UpdatedColumn(places: places.count == rowCount ? nil : places, values: builder.sealed())
  }
}
