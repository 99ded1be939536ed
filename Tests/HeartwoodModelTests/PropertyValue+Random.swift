import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PropertyValue {
  /// A random value that fits `type`, odd ones more often than they are met.
  static func random(of type: AttributeType, _ generator: inout SeededGenerator) -> PropertyValue {
    switch type {
    case .integer16: .integer(Int64(Int16(truncatingIfNeeded: generator.next())))
    case .integer32: .integer(Int64(Int32(truncatingIfNeeded: generator.next())))
    case .integer64: .integer(Int64(truncatingIfNeeded: generator.next()))
    case .decimal: .decimal(decimal(&generator))
    case .double: .double(Double(bitPattern: generator.next()))
    case .float: .float(Float(bitPattern: UInt32(truncatingIfNeeded: generator.next())))
    case .string: .string(string(&generator))
    case .boolean: .boolean(generator.chance(2))
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: generator.next())))
    case .binary, .transformable: .binary(data(&generator))
    case .uuid: .uuid(uuid(&generator))
    case .uri: uri(&generator)
    }
  }

  static func string(_ generator: inout SeededGenerator) -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      let range: ClosedRange<UInt32> = generator.chance(3) ? 0...0x10FFFF : 0x20...0x7E
      if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) { scalars.append(scalar) }
    }
    return String(scalars)
  }

  private static func decimal(_ generator: inout SeededGenerator) -> Decimal {
    let exponent = Int.random(in: -100...100, using: &generator)
    let significand = Decimal(generator.next()) * Decimal(generator.next() >> 8)
    return Decimal(sign: generator.chance(2) ? .plus : .minus, exponent: exponent, significand: significand)
  }

  private static func data(_ generator: inout SeededGenerator) -> Data {
    Data((0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
  }

  private static func uuid(_ generator: inout SeededGenerator) -> UUID {
    let (high, low) = (generator.next(), generator.next())
    let byte = { (word: UInt64, place: Int) in UInt8(truncatingIfNeeded: word >> UInt64(place * 8)) }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
        byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6),
        byte(low, 7)
      )
    )
  }

  private static func uri(_ generator: inout SeededGenerator) -> PropertyValue {
    let number = generator.next()
    return URL(string: "https://example.org:8080/\(number)/%2F?q=\(number % 7)#f").map(PropertyValue.uri) ?? .null
  }
}
