import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ArchivedValue {
  /// Puts a value into an archive, as ``value(_:)`` and ``text(_:_:)`` read it. The members of Foundation's objects are those that
  /// [swift-corelibs-foundation](https://github.com/swiftlang/swift-corelibs-foundation) archives.
  static func archive(
    _ value: PropertyValue,
    in archive: inout KeyedArchiveWriter
  ) throws(ArchiveGap) -> ArchiveValue {
    switch value {
    case .null: return .nothing
    case .boolean(let flag): return archive.value(.boolean(flag))
    case .integer(let number): return archive.value(.integer(number))
    case .double(let number): return archive.value(.real(number))
    case .float(let number): return archive.value(.real(Double(number)))
    case .string(let text): return archive.text(text)
    case .binary(let data): return archive.value(.data(data))
    case .date(let date): return archive.object(.date, ["NS.time": .real(date.timeIntervalSinceReferenceDate)])
    case .uuid(let uuid):
      return archive.object(.uuid, ["NS.uuidbytes": .data(withUnsafeBytes(of: uuid.uuid) { Data($0) })])
    case .uri(let url):
      return archive.object(
        .url,
        ["NS.base": ArchiveValue.nothing, "NS.relative": archive.text(url.absoluteString)]
      )
    case .decimal(let number): return archive.object(.decimalNumber, try members(of: number))
    case .toOne, .toMany: throw ArchiveGap("an object in a predicate")
    }
  }

  /// The digits as units of 16 bits, least first, and the power of ten by which they count.
  private static func members(of number: Decimal) throws(ArchiveGap) -> [String: ArchiveValue] {
    guard !number.isNaN else { throw ArchiveGap("a decimal number that is none") }
    var units = [UInt16](repeating: 0, count: 8)
    for digit in "\(number.significand)".utf8 where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
      var carry = UInt32(digit - UInt8(ascii: "0"))
      for index in units.indices {
        carry += UInt32(units[index]) * 10
        units[index] = UInt16(truncatingIfNeeded: carry)
        carry >>= 16
      }
    }
    let length = units.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    let bytes = units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    return [
      "NS.mantissa": .data(Data(bytes)), "NS.exponent": .integer(Int64(number.exponent)),
      "NS.length": .integer(Int64(length)), "NS.negative": .boolean(number.isSignMinus), "NS.compact": .boolean(true),
      // The order of bytes that Foundation calls 1 has the least one first.
      "NS.mantissa.bo": .integer(1),
    ]
  }
}
