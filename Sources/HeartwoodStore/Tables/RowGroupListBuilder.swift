package import HeartwoodModel

/// Groups of rows that are being put together one behind the other, all but the last one full.
package struct RowGroupListBuilder {
  private let builder: RowGroupBuilder
  private var groups: [RowGroup] = []

  package init(entity: EntityDescription) {
    builder = RowGroupBuilder(entity: entity)
  }

  /// What takes the next row.
  package mutating func next() -> RowGroupBuilder {
    if builder.isFull { groups.append(builder.sealed()) }
    return builder
  }

  package mutating func finish() -> [RowGroup] {
    if builder.rowCount > 0 { groups.append(builder.sealed()) }
    return groups
  }
}
