/// Integers as decimal text.
package enum IntegerText {
  /// The most bytes that ``write(_:to:)`` writes.
  package static let maximumLength = 20

  /// The number that a sign or none and digits stand for, or nil where there are other bytes, no digits or too many.
  @inline(__always)
  package static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
    guard let base = text.baseAddress, text.count > 0 else { return nil }
    return integer(base, count: text.count)
  }

  package static func integer(_ base: UnsafeRawPointer, count: Int) -> Int64? {
    let first = base.load(as: UInt8.self)
    let isNegative = first == UInt8(ascii: "-")
    var offset = isNegative || first == UInt8(ascii: "+") ? 1 : 0
    guard offset < count else { return nil }
    // Eighteen digits cannot overflow.
    guard count &- offset <= 18 else { return longInteger(UnsafeRawBufferPointer(start: base, count: count)) }
    var number: Int64 = 0
    while offset < count {
      let digit = base.load(fromByteOffset: offset, as: UInt8.self) &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      number = number &* 10 &+ Int64(digit)
      offset &+= 1
    }
    return isNegative ? 0 &- number : number
  }

  private static func longInteger(_ text: UnsafeRawBufferPointer) -> Int64? {
    Int64(String(decoding: text, as: UTF8.self))
  }

  /// Whether `text` is a sign or none and digits, however many.
  package static func isInteger(_ text: UnsafeRawBufferPointer) -> Bool {
    let digits = text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+") ? text.dropFirst() : text[...]
    return !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// Writes at most ``maximumLength`` bytes to `target`, which must have room for them, and returns how many.
  package static func write(_ number: Int64, to target: UnsafeMutableRawPointer) -> Int {
    var rest = number.magnitude
    var length = 0
    if number < 0 {
      target.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
      length = 1
    }
    length &+= digitCount(rest)
    var offset = length
    repeat {
      offset &-= 1
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      target.storeBytes(of: UInt8(truncatingIfNeeded: digit) | 0x30, toByteOffset: offset, as: UInt8.self)
      rest = quotient
    } while rest > 0
    return length
  }

  @inline(__always)
  private static func digitCount(_ number: UInt64) -> Int {
    var (count, limit) = (1, UInt64(10))
    while number >= limit {
      count &+= 1
      let (next, overflow) = limit.multipliedReportingOverflow(by: 10)
      if overflow { break }
      limit = next
    }
    return count
  }
}
