public import Heartwood
public import HeartwoodFoundation

/// A random number generator (SplitMix64) that gives the same numbers for the same seed, so that a failed test can be
/// repeated.
///
///     var generator = SeededGenerator(seed: 7)
///     let number = Int.random(in: 1...6, using: &generator)
///     let name = PropertyValue.random(of: .string, using: &generator)
///
/// Print the seed of a test, or make it an argument of the test, so that a failure shows it.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator that starts at `seed`.
  public init(seed: UInt64) {
    self.state = seed
  }

  /// Returns the seed in the environment variable HEARTWOOD_SEED, or, if it is not set, the seeds that every run of the
  /// tests uses.
  package static func seeds(usually seeds: ClosedRange<UInt64>) -> ClosedRange<UInt64> {
    ProcessInfo.processInfo.environment["HEARTWOOD_SEED"].flatMap { UInt64($0) }.map { $0...$0 } ?? seeds
  }

  /// Returns the next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns true once in `times` calls, on average.
  public mutating func chance(oneIn times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }
}

// MARK: PropertyValue: random

extension PropertyValue {
  /// Returns a random value that fits `type`. Unusual values, such as NaN, empty strings and characters of any plane,
  /// are more frequent than in real data. For an attribute without a type, the value is null.
  public static func random(of type: AttributeType, using generator: inout SeededGenerator) -> PropertyValue {
    switch type {
    case .integer16: .integer(Int64(Int16(truncatingIfNeeded: generator.next())))
    case .integer32: .integer(Int64(Int32(truncatingIfNeeded: generator.next())))
    case .integer64: .integer(Int64(truncatingIfNeeded: generator.next()))
    case .decimal: .decimal(decimal(&generator))
    case .double: .double(Double(bitPattern: generator.next()))
    case .float: .float(Float(bitPattern: UInt32(truncatingIfNeeded: generator.next())))
    case .string: .string(generator.nextString())
    case .boolean: .boolean(generator.chance(oneIn: 2))
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: generator.next())))
    case .binary, .transformable: .binary(data(&generator))
    case .uuid: .uuid(generator.nextUUID())
    case .uri: uri(&generator)
    case .undefined: .null
    }
  }

  private static func decimal(_ generator: inout SeededGenerator) -> Decimal {
    if generator.chance(oneIn: 20) { return .nan }
    let exponent = Int.random(in: -100...80, using: &generator)
    let significand = Decimal(generator.next()) * Decimal(generator.next() >> 8)
    return Decimal(sign: generator.chance(oneIn: 2) ? .plus : .minus, exponent: exponent, significand: significand)
  }

  private static func data(_ generator: inout SeededGenerator) -> Data {
    Data((0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
  }

  private static func uri(_ generator: inout SeededGenerator) -> PropertyValue {
    let number = generator.next()
    return URL(string: "https://example.org:8080/\(number)/%2F?q=\(number % 7)#f").map(PropertyValue.uri) ?? .null
  }
}

extension SeededGenerator {
  /// Returns a random string of up to 12 characters of any kind.
  public mutating func nextString() -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...12, using: &self) {
      let range: ClosedRange<UInt32> = chance(oneIn: 3) ? 0...0x10FFFF : 0x20...0x7E
      if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self)) { scalars.append(scalar) }
    }
    return String(scalars)
  }

  /// Returns a random UUID.
  public mutating func nextUUID() -> UUID {
    let words = (next(), next())
    return withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
