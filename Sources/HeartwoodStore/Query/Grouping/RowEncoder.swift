import HeartwoodFoundation
import HeartwoodModel

/// Gives rows numbers, the same to those that have the same value of an expression: the first 0, the next new one 1, and so on.
protocol RowEncoder: Sendable {
  /// How many numbers have been given.
  var codeCount: UInt32 { get }
  /// Writes the numbers of the rows into their codes.
  mutating func encode(_ rows: inout GroupRows)
}

/// Where all rows are one group.
struct SingleEncoder: RowEncoder {
  var codeCount: UInt32 { 1 }

  func encode(_ rows: inout GroupRows) {}
}

/// Booleans: `nil`, false and true.
struct BooleanEncoder: RowEncoder {
  private static let free = UInt32.max
  let ordinal: Int
  private(set) var codeCount: UInt32 = 0
  /// The codes of `nil`, false and true; ``free`` before they are met.
  private var codes = [free, free, free]

  init(_ ordinal: Int) { self.ordinal = ordinal }

  mutating func encode(_ rows: inout GroupRows) {
    let view = rows.group.unsafeViews[ordinal]
    var next = codeCount
    codes.withUnsafeMutableBufferPointer { codes in
      // The values of neighbours tell nothing of each other: a branch on them would be guessed wrongly half of the time.
      rows.setCodes { row in
        let value = view.unsafeIsNull(row) ? 0 : 1 &+ Int(view.unsafeBit(row))
        if codes[value] == Self.free {
          codes[value] = next
          next &+= 1
        }
        return codes[value]
      }
    }
    codeCount = next
  }
}

/// Integers, and floating-point numbers and dates by their bits.
struct NumberEncoder: RowEncoder {
  let ordinal: Int
  private(set) var codeCount: UInt32 = 0
  private var table = NumberCodes()
  private var codeOfNone: UInt32?

  init(_ ordinal: Int) { self.ordinal = ordinal }

  mutating func encode(_ rows: inout GroupRows) {
    let view = rows.group.unsafeViews[ordinal]
    switch view.kind {
    case .int16: encode(&rows, view) { UInt64(bitPattern: Int64(view.unsafeInt16($0))) }
    case .int32: encode(&rows, view) { UInt64(bitPattern: Int64(view.unsafeInt32($0))) }
    case .float: encode(&rows, view) { Self.bits(Double(view.unsafeFloat($0))) }
    case .double: encode(&rows, view) { Self.bits(view.unsafeDouble($0)) }
    default: encode(&rows, view) { UInt64(bitPattern: view.unsafeInteger($0)) }
    }
  }

  @inline(__always)
  private mutating func encode(_ rows: inout GroupRows, _ view: ColumnView, _ number: (Int) -> UInt64) {
    let count = rows.count
    rows.rows.withUnsafeBufferPointer { numbers in
      rows.codes.withUnsafeMutableBufferPointer { codes in
        table.encode(count, into: codes, next: &codeCount, codeOfNone: &codeOfNone) { index in
          let row = Int(numbers[index])
          return view.unsafeIsNull(row) ? nil : number(row)
        }
      }
    }
  }

  /// The same bits for numbers that are equal: both zeros, and every NaN.
  @inline(__always)
  private static func bits(_ number: Double) -> UInt64 {
    number.isNaN ? Double.nan.bitPattern : number == 0 ? 0 : number.bitPattern
  }
}

/// Strings, binary data and UUIDs by their bytes.
struct ByteEncoder: RowEncoder {
  let ordinal: Int
  private(set) var codeCount: UInt32 = 0
  private var table = ByteCodes()
  private var codeOfNone: UInt32?

  init(_ ordinal: Int) { self.ordinal = ordinal }

  mutating func encode(_ rows: inout GroupRows) {
    let view = rows.group.unsafeViews[ordinal]
    rows.setCodes { row in
      if view.unsafeIsNull(row) { return CodeHash.code(&codeOfNone, &codeCount) }
      if view.kind != .uuid { return table.code(of: view.unsafeBytes(row), next: &codeCount) }
      return withUnsafeBytes(of: view.unsafeUUID(row).uuid) { table.code(of: $0, next: &codeCount) }
    }
  }
}

/// To-one relationships by the records that they lead to.
struct ReferenceEncoder: RowEncoder {
  let ordinal: Int
  private(set) var codeCount: UInt32 = 0
  private var table = ByteCodes()
  private var codeOfNone: UInt32?
  /// The bytes that a record is known by, made again and again.
  private var key: [UInt8] = []

  init(_ ordinal: Int) { self.ordinal = ordinal }

  mutating func encode(_ rows: inout GroupRows) {
    let column = rows.group.columns[ordinal]
    rows.setCodes { row in
      guard let references = column.references, column.validity?[row] ?? true else {
        return CodeHash.code(&codeOfNone, &codeCount)
      }
      key.removeAll(keepingCapacity: true)
      references.appendKey(at: row, to: &key)
      return key.withUnsafeBytes { table.code(of: $0, next: &codeCount) }
    }
  }
}

extension ReferenceColumn {
  /// Appends bytes that are the same for references to the same record, in whatever layout: the entity, the kind of the name, the name.
  fileprivate func appendKey(at index: Int, to key: inout [UInt8]) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: entityOrdinal(index))) { key.append(contentsOf: $0) }
    // Names of a mixed column begin with their kind.
    if layout != .mixed { key.append(layout.rawValue) }
    guard let width = layout.width else { return key.append(contentsOf: bytes(index)) }
    key.append(
      contentsOf: UnsafeRawBufferPointer(rebasing: values.unsafeBytes[(index * width)..<((index + 1) * width)])
    )
  }
}

// MARK: EvaluatingEncoder

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
