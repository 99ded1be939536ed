import HeartwoodModel

/// One sort key, and how its values are read.
struct SortTerm: Sendable {
  private enum Source: Sendable {
    /// A column whose values have an order of their own.
    case column(Int)
    /// A to-one relationship, and the ranks of its objects.
    case related(Int, RelatedRanks)
    /// An expression that has to be evaluated row by row.
    case evaluated(CompiledExpression)
  }

  private let source: Source
  private let ordering: SortOrdering
  let isAscending: Bool
  private let tables: QueryTables
  private let entityOrdinal: Int
  /// Whether rows with the same number have the same value.
  let isLeadExact: Bool

  init(_ plan: CompiledSort, _ tables: QueryTables, _ table: NodeTable) {
    self.ordering = plan.ordering
    self.isAscending = plan.isAscending
    self.tables = tables
    self.entityOrdinal = table.entity.ordinal
    if let property = plan.expression.ownProperty, let type = property.attributeType, type.hasColumnOrder(plan.ordering)
    {
      source = .column(property.ordinal)
      isLeadExact = Self.isExact(type) || table.groups.allSatisfy { Self.isExact(type, $0.columns[property.ordinal]) }
    } else if let relationship = plan.expression.related?.relationship,
      let ranks = RelatedRanks(plan.expression, plan.ordering, tables, mostObjects: table.count)
    {
      source = .related(relationship.ordinal, ranks)
      isLeadExact = true
    } else {
      source = .evaluated(plan.expression)
      isLeadExact = false
    }
  }

  /// The property whose column the rows are sorted by; nil if the key is evaluated.
  var columnOrdinal: Int? {
    if case .column(let ordinal) = source { ordinal } else { nil }
  }

  /// Returns whether the numbers distinguish all values, and rows without a value from them.
  private static func isExact(_ type: AttributeType) -> Bool {
    switch type {
    case .integer16, .integer32, .boolean, .float, .double, .date: true
    default: false
    }
  }

  /// Returns whether the numbers are sufficient because every row has a value.
  private static func isExact(_ type: AttributeType, _ column: RecordColumn) -> Bool {
    type == .integer64 && column.validity == nil
  }
}

extension AttributeType {
  /// Returns whether the bytes of a column determine the order of its values.
  fileprivate func hasColumnOrder(_ ordering: SortOrdering) -> Bool {
    switch self {
    case .integer16, .integer32, .integer64, .boolean, .double, .float, .date: true
    case .decimal, .uuid: true
    case .string: ordering.folding.isNone && !ordering.isLocalized
    case .uri, .binary, .transformable, .undefined: false
    }
  }
}

// MARK: Numbers that have the order of values

extension SortTerm {
  /// Computes the numbers of the rows of one group.
  struct Leads {
    let view: ColumnView?
    let kind: ColumnKind
    let flip: UInt64
    /// The column and the ranks for rows that are sorted by the objects of a relationship.
    var related: (column: RecordColumn, ranks: RelatedRanks)?

    /// Returns the number of a row: less if the row comes first. A row without a value has the least.
    @inline(__always)
    func lead(_ row: Int) -> UInt64 {
      guard let view else { return related.map { $0.ranks.rank($0.column, row) ^ flip } ?? 0 }
      if view.unsafeIsNull(row) { return flip }
      return value(view, row) ^ flip
    }

    /// Returns the number of a row that has a value, whatever the direction.
    @inline(__always)
    func value(_ view: ColumnView, _ row: Int) -> UInt64 {
      switch kind {
      case .bits: view.unsafeBoolean(row) ? 2 : 1
      case .int16, .int32: UInt64(bitPattern: view.unsafeInteger(row)) &+ 1 &+ 1 &<< 62
      case .int64: UInt64(bitPattern: view.unsafeInteger(row)) ^ 1 &<< 63
      case .float: Self.ordered(Double(view.unsafeFloat(row)))
      case .double: Self.ordered(view.unsafeDouble(row))
      case .decimal: view.unsafePackedDecimal(row).lead
      case .uuid: Self.prefix(view.unsafeUUIDBytes(row))
      default: Self.prefix(view.unsafeBytes(row))
      }
    }

    /// Returns the bits of a double in the order of the numbers; every NaN is the greatest, and both zeros are the
    /// same.
    @inline(__always)
    private static func ordered(_ number: Double) -> UInt64 {
      if number.isNaN { return .max }
      let bits = (number == 0 ? 0 : number).bitPattern
      return bits &>> 63 == 1 ? ~bits : bits | 1 &<< 63
    }

    /// Returns the first eight bytes of a string.
    @inline(__always)
    static func prefix(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
      if bytes.count >= 8 { return bytes.loadUnaligned(as: UInt64.self).bigEndian }
      var number: UInt64 = 0
      for index in 0..<bytes.count { number |= UInt64(bytes[index]) &<< UInt64(56 &- index &* 8) }
      return number
    }
  }

  func leads(ofGroup ordinal: Int, in table: NodeTable) -> Leads {
    let flip: UInt64 = isAscending ? 0 : .max
    let group = table.groups[ordinal]
    if case .related(let property, let ranks) = source {
      return Leads(view: nil, kind: .absent, flip: flip, related: (group.columns[property], ranks))
    }
    guard case .column(let property) = source else { return Leads(view: nil, kind: .absent, flip: flip) }
    return Leads(view: group.unsafeViews[property], kind: group.columns[property].kind, flip: flip)
  }
}

// MARK: Values

extension SortTerm {
  /// Returns a number below 0 if the row `left` comes first.
  func compare(_ left: RowID, _ right: RowID, in table: NodeTable) -> Int {
    let order: Int
    switch source {
    case .column(let ordinal): order = compareColumn(ordinal, left, right, table)
    case .related(let ordinal, let ranks):
      let first = ranks.rank(table.groups[left.group].columns[ordinal], left.row)
      let second = ranks.rank(table.groups[right.group].columns[ordinal], right.row)
      order = first < second ? -1 : first == second ? 0 : 1
    case .evaluated(let plan): order = ordering.compare(value(plan, left), value(plan, right))
    }
    return isAscending ? order : -order
  }

  private func compareColumn(_ ordinal: Int, _ left: RowID, _ right: RowID, _ table: NodeTable) -> Int {
    let (a, b) = (table.groups[left.group].unsafeViews[ordinal], table.groups[right.group].unsafeViews[ordinal])
    let (isLeftNull, isRightNull) = (a.unsafeIsNull(left.row), b.unsafeIsNull(right.row))
    if isLeftNull || isRightNull { return isLeftNull == isRightNull ? 0 : isLeftNull ? -1 : 1 }
    switch a.kind {
    case .bytes: return ByteOrder.compare(a.unsafeBytes(left.row), b.unsafeBytes(right.row))
    case .uuid: return ByteOrder.compare(a.unsafeUUIDBytes(left.row), b.unsafeUUIDBytes(right.row))
    case .decimal: return PackedDecimal.compare(a.unsafePackedDecimal(left.row), b.unsafePackedDecimal(right.row))
    default: break
    }
    let (first, second) = (
      Leads(view: a, kind: a.kind, flip: 0).lead(left.row), Leads(view: b, kind: b.kind, flip: 0).lead(right.row)
    )
    return first < second ? -1 : first == second ? 0 : 1
  }

  private func value(_ plan: CompiledExpression, _ row: RowID) -> PropertyValue {
    PredicateEvaluator(tables).value(plan, .init(entityOrdinal: entityOrdinal, row: row)).scalar
  }
}
