import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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

/// Booleans: nothing, false and true.
struct BooleanEncoder: RowEncoder {
  let ordinal: Int
  private(set) var codeCount: UInt32 = 0
  private var codeOfNone: UInt32?
  private var codeOfFalse: UInt32?
  private var codeOfTrue: UInt32?

  init(_ ordinal: Int) { self.ordinal = ordinal }

  mutating func encode(_ rows: inout GroupRows) {
    let view = rows.group.unsafeViews[ordinal]
    rows.setCodes { row in
      if view.unsafeIsNull(row) { return CodeHash.code(&codeOfNone, &codeCount) }
      return view.unsafeBoolean(row)
        ? CodeHash.code(&codeOfTrue, &codeCount) : CodeHash.code(&codeOfFalse, &codeCount)
    }
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

/// Strings, URIs, binary data and UUIDs by their bytes.
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

/// To-one relationships by the names of the records that they lead to.
struct ReferenceEncoder: RowEncoder {
  /// A record: an entity and a name.
  private struct Target: Hashable {
    let entityOrdinal: Int
    let reference: ReferenceID
  }

  let ordinal: Int
  private(set) var codeCount: UInt32 = 0
  private var codes: [Target?: UInt32] = [:]

  init(_ ordinal: Int) { self.ordinal = ordinal }

  mutating func encode(_ rows: inout GroupRows) {
    let column = rows.group.columns[ordinal]
    rows.setCodes { row in
      guard let references = column.references, column.validity?[row] ?? true else { return code(of: nil) }
      return code(of: Target(entityOrdinal: references.entityOrdinal(row), reference: references[row]))
    }
  }

  private mutating func code(of target: Target?) -> UInt32 {
    if let code = codes[target] { return code }
    codes[target] = codeCount
    codeCount += 1
    return codeCount - 1
  }
}
