import HeartwoodModel

/// Expressions of any kind, evaluated row by row.
struct EvaluatingEncoder: RowEncoder {
  private let plan: PlanExpression
  private let records: QueryRecords
  private(set) var codeCount: UInt32 = 0
  private var codes: [PropertyValue: UInt32] = [:]

  init(_ plan: PlanExpression, _ records: QueryRecords) {
    self.plan = plan
    self.records = records
  }

  mutating func encode(_ rows: inout GroupRows) {
    let group = rows.ordinal
    rows.setCodes { code(of: RowID(group: group, row: $0)) }
  }

  /// The number of the value that the record in `row` has.
  mutating func code(of row: RowID) -> UInt32 {
    let value = records.value(plan, row)
    if let code = codes[value] { return code }
    codes[value] = codeCount
    codeCount += 1
    return codeCount - 1
  }
}

/// Expressions that read one property alone, such as `list.name`: evaluated once for each value of the property.
struct DependentEncoder: RowEncoder {
  private var base: any RowEncoder
  private var values: EvaluatingEncoder
  /// The number of the expression's value for each number of the property's.
  private var codes: [UInt32] = []

  init(_ base: any RowEncoder, _ values: EvaluatingEncoder) {
    self.base = base
    self.values = values
  }

  var codeCount: UInt32 { values.codeCount }

  mutating func encode(_ rows: inout GroupRows) {
    base.encode(&rows)
    for index in rows.codes.indices {
      let code = Int(rows.codes[index])
      if code == codes.count { codes.append(values.code(of: RowID(group: rows.ordinal, row: Int(rows.rows[index])))) }
      rows.codes[index] = codes[code]
    }
  }
}

/// Two expressions at once.
struct PairEncoder: RowEncoder {
  private var first: any RowEncoder
  private var second: any RowEncoder
  private var table = NumberCodes()
  private(set) var codeCount: UInt32 = 0

  init(_ first: any RowEncoder, _ second: any RowEncoder) {
    self.first = first
    self.second = second
  }

  mutating func encode(_ rows: inout GroupRows) {
    first.encode(&rows)
    let firstCodes = rows.codes
    second.encode(&rows)
    let (secondCodes, count) = (rows.codes, rows.count)
    var none: UInt32?
    rows.codes.withUnsafeMutableBufferPointer { codes in
      table.encode(count, into: codes, next: &codeCount, codeOfNone: &none) { index in
        UInt64(firstCodes[index]) &<< 32 | UInt64(secondCodes[index])
      }
    }
  }
}

/// The records of a table, to be evaluated one by one.
struct QueryRecords: Sendable {
  let tables: QueryTables
  let entityOrdinal: Int

  func value(_ plan: PlanExpression, _ row: RowID) -> PropertyValue {
    PredicateEvaluator(tables).value(plan, .init(entityOrdinal: entityOrdinal, row: row)).scalar
  }

  /// What numbers the rows by `plan`.
  func encoder(_ plan: PlanExpression) -> any RowEncoder {
    if let property = plan.ownProperty, let encoder = Self.encoder(property) { return encoder }
    let values = EvaluatingEncoder(plan, self)
    if plan.ownProperty == nil, let property = plan.onlyProperty, let base = Self.encoder(property) {
      return DependentEncoder(base, values)
    }
    return values
  }

  /// What numbers the rows by all of `plans`.
  func encoder(_ plans: [PlanExpression]) -> any RowEncoder {
    guard let first = plans.first else { return SingleEncoder() }
    return plans.dropFirst().reduce(encoder(first)) { PairEncoder($0, encoder($1)) }
  }

  private static func encoder(_ property: PlanProperty) -> (any RowEncoder)? {
    guard let type = property.attributeType else {
      return property.isToMany ? nil : ReferenceEncoder(property.ordinal)
    }
    switch type {
    case .boolean: return BooleanEncoder(property.ordinal)
    case .integer16, .integer32, .integer64, .double, .float, .date: return NumberEncoder(property.ordinal)
    case .string, .binary, .transformable, .uuid: return ByteEncoder(property.ordinal)
    // Different bytes may be the same value.
    case .decimal, .uri, .undefined: return nil
    }
  }
}
