import HeartwoodFoundation
import HeartwoodModel

/// Gives numbers to rows, the same to rows with the same values of some expressions: the first 0, the next new one 1,
/// and so on.
///
/// The rows are numbered by each expression on its own; then pairs of numbers get numbers, from the first expression to
/// the last.
struct RowKeyEncoder: Sendable {
  private var keys: [RowKey]
  /// The numbers of the pairs; one fewer than there are keys.
  private var pairs: [NumberCodes]

  /// - Parameter plans: the expressions. Without any, all rows are one group.
  init(_ plans: [CompiledExpression], _ records: QueryRecords) {
    keys = plans.map { RowKey($0, records) }
    pairs = plans.dropFirst().map { _ in NumberCodes() }
  }

  /// The number of codes that have been given.
  var codeCount: UInt32 { pairs.last?.codeCount ?? keys.first?.codeCount ?? 1 }

  /// Whether rows can be divided by the hashes of their first keys, so that rows with the same keys stay together.
  var dividesRows: Bool { keys.first?.dividesRows ?? false }

  /// Keeps the rows whose first keys are in one of several equal parts of all keys.
  func keep(_ part: KeyPart, of rows: inout GroupRows) { keys.first?.keep(part, of: &rows) }

  /// Writes the numbers of the rows into their codes.
  mutating func encode(_ rows: inout GroupRows) {
    for index in keys.indices {
      let former = index == 0 ? [] : rows.codes
      keys[index].encode(&rows)
      if index > 0 { pairs[index - 1].encode(&rows, asPairsWith: former) }
    }
  }
}

/// Numbers the values of one expression.
///
/// An expression that is a property is read from its column. One that reads a single property, such as `list.name`, is
/// evaluated once for each value of the property, and every other one row by row.
struct RowKey: Sendable {
  /// How the values of a property are distinguished.
  private enum Form {
    /// `nil`, false and true.
    case boolean
    /// Integers, and floating-point numbers and dates by their bits.
    case number
    /// Strings, binary data and UUIDs by their bytes.
    case bytes
    /// To-one relationships by the records that they refer to.
    case reference
  }

  private struct Column {
    let ordinal: Int
    let form: Form
  }

  private let column: Column?
  private var numbers = NumberCodes()
  private var bytes = ByteCodes()
  /// The codes of `nil`, false and true; ``NumberCodes/free`` before they have occurred.
  private var flags = [UInt32](repeating: NumberCodes.free, count: 3)
  private var flagCount: UInt32 = 0

  /// The expression to evaluate; nil if the column has the values.
  private let expression: CompiledExpression?
  private let records: QueryRecords
  private var values: [PropertyValue: UInt32] = [:]
  /// The code of the expression's value for each code of the column.
  private var valueCodes: [UInt32] = []

  init(_ plan: CompiledExpression, _ records: QueryRecords) {
    let column = (plan.ownProperty ?? plan.onlyProperty).flatMap { property in
      Self.form(property).map { Column(ordinal: property.ordinal, form: $0) }
    }
    self.column = column
    self.records = records
    expression = column != nil && plan.ownProperty != nil ? nil : plan
  }

  /// Returns how values of the property are distinguished in their column; nil if they have to be evaluated.
  private static func form(_ property: CompiledProperty) -> Form? {
    guard let type = property.attributeType else { return property.isToMany ? nil : .reference }
    switch type {
    case .boolean: return .boolean
    case .integer16, .integer32, .integer64, .double, .float, .date: return .number
    case .string, .binary, .transformable, .uuid: return .bytes
    // Different bytes may be the same value.
    case .decimal, .uri, .undefined: return nil
    }
  }

  /// The number of codes that have been given.
  var codeCount: UInt32 {
    if expression != nil { return UInt32(values.count) }
    return switch column?.form {
    case .boolean: flagCount
    case .number: numbers.codeCount
    case .bytes, .reference, nil: bytes.codeCount
    }
  }

  /// Whether rows can be divided by the hashes of their keys.
  var dividesRows: Bool {
    if case .number? = column?.form { expression == nil } else { false }
  }

  /// Keeps the rows whose keys are in a part of all keys.
  func keep(_ part: KeyPart, of rows: inout GroupRows) {
    guard let column, dividesRows else { return }
    NumberCodes.keep(part, of: &rows, rows.group.unsafeViews[column.ordinal])
  }

  mutating func encode(_ rows: inout GroupRows) {
    if let column { encode(&rows, column) }
    if let expression { evaluate(expression, &rows) }
  }

  private mutating func encode(_ rows: inout GroupRows, _ column: Column) {
    let view = rows.group.unsafeViews[column.ordinal]
    switch column.form {
    case .boolean: encodeFlags(&rows, view)
    case .number: numbers.encode(&rows, view)
    case .bytes: bytes.encode(&rows, view)
    case .reference: bytes.encode(&rows, rows.group.columns[column.ordinal])
    }
  }

  private mutating func encodeFlags(_ rows: inout GroupRows, _ view: ColumnView) {
    var next = flagCount
    flags.withUnsafeMutableBufferPointer { codes in
      // The values of neighbouring rows are unrelated: a branch on them would be mispredicted half of the time.
      rows.setCodes { row in
        let value = view.unsafeIsNull(row) ? 0 : 1 &+ Int(view.unsafeBit(row))
        if codes[value] == NumberCodes.free {
          codes[value] = next
          next &+= 1
        }
        return codes[value]
      }
    }
    flagCount = next
  }

  /// Numbers the rows by the expression's values: row by row, or once for each code of the column.
  private mutating func evaluate(_ expression: CompiledExpression, _ rows: inout GroupRows) {
    for index in rows.codes.indices {
      let row = RowID(group: rows.ordinal, row: Int(rows.rows[index]))
      guard column != nil else {
        rows.codes[index] = code(of: expression, row)
        continue
      }
      let code = Int(rows.codes[index])
      if code == valueCodes.count { valueCodes.append(self.code(of: expression, row)) }
      rows.codes[index] = valueCodes[code]
    }
  }

  private mutating func code(of expression: CompiledExpression, _ row: RowID) -> UInt32 {
    let (value, next) = (records.value(expression, row), UInt32(values.count))
    if let code = values[value] { return code }
    values[value] = next
    return next
  }
}

/// The records of a table, to be evaluated one by one.
struct QueryRecords: Sendable {
  let tables: QueryTables
  let entityOrdinal: Int

  func value(_ plan: CompiledExpression, _ row: RowID) -> PropertyValue {
    PredicateEvaluator(tables).value(plan, .init(entityOrdinal: entityOrdinal, row: row)).scalar
  }
}

// MARK: KeyPart

/// One of several equal parts of all keys, by their hashes.
struct KeyPart: Sendable {
  let number: Int
  /// The number of parts, a power of two.
  let count: Int

  /// - Parameter key: nil for no value, which is in the first part.
  @inline(__always)
  func contains(_ key: UInt64?) -> Bool {
    // Tables of codes use the high bits.
    let part = key.map { Int(truncatingIfNeeded: CodeHash.hash($0)) & (count &- 1) } ?? 0
    return part == number
  }
}

// MARK: NumberCodes

/// Gives each new number a code, the first 0, the next one 1, and so on. Slots are probed in order.
struct NumberCodes: Sendable {
  private struct Slot {
    var number: UInt64
    /// The code, or ``NumberCodes/free`` if the slot is empty.
    var code: UInt32
  }

  static let free = UInt32.max
  private var slots = [Slot](repeating: Slot(number: 0, code: free), count: 64)
  private var used = 0
  private var codeOfNone: UInt32?
  /// The number of codes that have been given.
  private(set) var codeCount: UInt32 = 0

  /// Numbers rows by the numbers of a column.
  mutating func encode(_ rows: inout GroupRows, _ view: ColumnView) {
    Self.withNumbers(of: view) { number in encode(&rows, view, number) }
  }

  @inline(__always)
  private mutating func encode(_ rows: inout GroupRows, _ view: ColumnView, _ number: (Int) -> UInt64) {
    let count = rows.count
    rows.rows.withUnsafeBufferPointer { numbers in
      rows.codes.withUnsafeMutableBufferPointer { codes in
        encode(count, into: codes) { index in
          let row = Int(numbers[index])
          return view.unsafeIsNull(row) ? nil : number(row)
        }
      }
    }
  }

  /// Keeps the rows whose numbers in a column are in a part of all numbers.
  static func keep(_ part: KeyPart, of rows: inout GroupRows, _ view: ColumnView) {
    withNumbers(of: view) { number in
      rows.keep { row in part.contains(view.unsafeIsNull(row) ? nil : number(row)) }
    }
  }

  /// Calls `body` with a closure that reads the number in a row of a column. There is a copy of `body` for each kind of
  /// column, so that its loop does not look at the kind.
  @inline(__always)
  private static func withNumbers(of view: ColumnView, _ body: (_ number: (Int) -> UInt64) -> Void) {
    switch view.kind {
    case .int16: body { number(view.unsafeInt16($0)) }
    case .int32: body { number(view.unsafeInt32($0)) }
    case .float: body { number(Double(view.unsafeFloat($0))) }
    case .double: body { number(view.unsafeDouble($0)) }
    default: body { number(view.unsafeInteger($0)) }
    }
  }

  @inline(__always)
  private static func number(_ integer: some FixedWidthInteger) -> UInt64 { UInt64(truncatingIfNeeded: integer) }

  /// Returns the same bits for numbers that are equal: both zeros, and every NaN.
  @inline(__always)
  private static func number(_ number: Double) -> UInt64 {
    number.isNaN ? Double.nan.bitPattern : number == 0 ? 0 : number.bitPattern
  }

  /// Numbers rows by the pairs of the codes that they have and other codes.
  mutating func encode(_ rows: inout GroupRows, asPairsWith others: [UInt32]) {
    let (second, count) = (rows.codes, rows.count)
    rows.codes.withUnsafeMutableBufferPointer { codes in
      encode(count, into: codes) { UInt64(others[$0]) &<< 32 | UInt64(second[$0]) }
    }
  }

  /// Writes the codes of the numbers for 0 up to `count`.
  ///
  /// - Parameter number: returns nil for no value, which has a code as well.
  @inline(__always)
  private mutating func encode(
    _ count: Int,
    into codes: UnsafeMutableBufferPointer<UInt32>,
    number: (Int) -> UInt64?
  ) {
    var index = 0
    while index < count {
      index = fill(from: index, count, into: codes, number)
      if index < count { grow() }
    }
  }

  /// Continues until all is written or the table is half full, and returns the position.
  @inline(__always)
  private mutating func fill(
    from start: Int,
    _ count: Int,
    into codes: UnsafeMutableBufferPointer<UInt32>,
    _ number: (Int) -> UInt64?
  ) -> Int {
    let (mask, room) = (slots.count - 1, slots.count / 2)
    let shift = UInt64(slots.count.leadingZeroBitCount + 1)
    // They are copied to local variables, which the loop keeps in registers.
    var (next, used, none) = (codeCount, used, codeOfNone)
    defer { (codeCount, self.used, codeOfNone) = (next, used, none) }
    return slots.withUnsafeMutableBufferPointer { slots in
      for index in start..<count {
        guard let number = number(index) else {
          codes[index] = CodeHash.code(&none, &next)
          continue
        }
        var place = Int(truncatingIfNeeded: CodeHash.hash(number) &>> shift)
        while slots[place].code != Self.free, slots[place].number != number { place = (place &+ 1) & mask }
        if slots[place].code == Self.free {
          if used == room { return index }
          slots[place] = Slot(number: number, code: next)
          used &+= 1
          next &+= 1
        }
        codes[index] = slots[place].code
      }
      return count
    }
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(number: 0, code: Self.free), count: old.count * 4)
    let (mask, shift) = (slots.count - 1, UInt64(slots.count.leadingZeroBitCount + 1))
    for slot in old where slot.code != Self.free {
      var place = Int(truncatingIfNeeded: CodeHash.hash(slot.number) &>> shift)
      while slots[place].code != Self.free { place = (place + 1) & mask }
      slots[place] = slot
    }
  }
}

// MARK: ByteCodes

/// Gives each new sequence of bytes a code, and keeps a copy of it.
struct ByteCodes: Sendable {
  private struct Slot {
    var hash: UInt64
    /// The index of the sequence; ``ByteCodes/free`` if the slot is empty.
    var entry: UInt32
    var code: UInt32
  }

  private static let free = UInt32.max
  private var slots = [Slot](repeating: Slot(hash: 0, entry: free, code: 0), count: 64)
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var codeOfNone: UInt32?
  /// The bytes that identify a record; the memory is reused.
  private var key: [UInt8] = []
  /// The number of codes that have been given.
  private(set) var codeCount: UInt32 = 0

  /// Numbers rows by the bytes of a column.
  mutating func encode(_ rows: inout GroupRows, _ view: ColumnView) {
    rows.setCodes { row in
      if view.unsafeIsNull(row) { return CodeHash.code(&codeOfNone, &codeCount) }
      if view.kind != .uuid { return code(of: view.unsafeBytes(row)) }
      return withUnsafeBytes(of: view.unsafeUUID(row).uuid) { code(of: $0) }
    }
  }

  /// Numbers rows by the records that a to-one relationship refers to.
  mutating func encode(_ rows: inout GroupRows, _ column: RecordColumn) {
    rows.setCodes { row in
      guard let references = column.references, column.validity?[row] ?? true else {
        return CodeHash.code(&codeOfNone, &codeCount)
      }
      key.removeAll(keepingCapacity: true)
      references.appendKey(at: row, to: &key)
      let bytes = key
      return bytes.withUnsafeBytes { code(of: $0) }
    }
  }

  /// Returns the code of `text`.
  private mutating func code(of text: UnsafeRawBufferPointer) -> UInt32 {
    let hash = CodeHash.hash(text)
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash &>> UInt64(slots.count.leadingZeroBitCount + 1))
    while slots[place].entry != Self.free {
      if slots[place].hash == hash, isEqual(Int(slots[place].entry), text) { return slots[place].code }
      place = (place &+ 1) & mask
    }
    slots[place] = Slot(hash: hash, entry: UInt32(ends.count), code: codeCount)
    bytes.append(contentsOf: text)
    ends.append(bytes.count)
    codeCount &+= 1
    if ends.count * 2 > slots.count { grow() }
    return codeCount &- 1
  }

  private func isEqual(_ entry: Int, _ text: UnsafeRawBufferPointer) -> Bool {
    let start = entry == 0 ? 0 : ends[entry - 1]
    guard ends[entry] - start == text.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      ByteOrder.compare(UnsafeRawBufferPointer(rebasing: bytes[start..<ends[entry]]), text) == 0
    }
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(hash: 0, entry: Self.free, code: 0), count: old.count * 4)
    let (mask, shift) = (slots.count - 1, UInt64(slots.count.leadingZeroBitCount + 1))
    for slot in old where slot.entry != Self.free {
      var place = Int(truncatingIfNeeded: slot.hash &>> shift)
      while slots[place].entry != Self.free { place = (place + 1) & mask }
      slots[place] = slot
    }
  }
}

extension ReferenceColumn {
  /// Appends bytes that are the same for references to the same record, in whatever layout: the entity, the kind of the
  /// name, the name.
  fileprivate func appendKey(at index: Int, to key: inout [UInt8]) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: entityOrdinal(index))) { key.append(contentsOf: $0) }
    // Names in a mixed column begin with their kind.
    if layout != .mixed { key.append(layout.rawValue) }
    guard let width = layout.width else { return key.append(contentsOf: bytes(index)) }
    key.append(
      contentsOf: UnsafeRawBufferPointer(rebasing: values.unsafeBytes[(index * width)..<((index + 1) * width)])
    )
  }
}

// MARK: CodeHash

/// Hashes for tables of codes. They differ from process to process, so that no attacker can choose data whose hashes
/// collide.
enum CodeHash {
  private static let seed = UInt64.random(in: 0...UInt64.max) | 1
  private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

  @inline(__always)
  static func hash(_ number: UInt64) -> UInt64 {
    let product = (number ^ seed).multipliedFullWidth(by: multiplier)
    return (product.high ^ product.low) &* multiplier
  }

  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(bytes.count)
    var place = 0
    while place &+ 8 <= bytes.count {
      hash = self.hash(hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place &+= 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest &<< 8 | UInt64(bytes[place])
      place &+= 1
    }
    return self.hash(hash ^ rest)
  }

  /// Returns the code of one value, such as nil, which it gets when it first occurs.
  @inline(__always)
  static func code(_ code: inout UInt32?, _ next: inout UInt32) -> UInt32 {
    if let code { return code }
    code = next
    next &+= 1
    return next &- 1
  }
}
