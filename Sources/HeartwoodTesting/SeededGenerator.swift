#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A random number generator that gives the same numbers for the same seed (SplitMix64), so that a test that failed can be run
/// again.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator that begins at `seed`.
  public init(seed: UInt64) {
    self.state = seed
  }

  /// The seed that HEARTWOOD_SEED says, or where it says none those that tests run with each time.
  package static func seeds(usually seeds: ClosedRange<UInt64>) -> ClosedRange<UInt64> {
    ProcessInfo.processInfo.environment["HEARTWOOD_SEED"].flatMap { UInt64($0) }.map { $0...$0 } ?? seeds
  }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Whether something that happens once in `times` happens now.
  public mutating func chance(oneIn times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }
}
