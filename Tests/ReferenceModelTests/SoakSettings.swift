import Foundation

/// What `Scripts/soak` asks for, in the environment.
struct SoakSettings {
  /// The seed that is to run again, once.
  let seed = Self.number("SEED")
  /// How long to go on with other seeds; nil where the tests run as ever.
  let duration = Self.number("SECONDS").map { Duration.seconds(Int(clamping: $0)) }
  let stepCount = Self.number("STEPS").map(Int.init(clamping:)) ?? 3000
  let isTraced = Self.number("TRACE") != nil

  /// Whether the tests run for `Scripts/soak`.
  var isAsked: Bool { seed != nil || duration != nil }

  /// Calls `run` with the seed that is asked for, or with others for as long as it is asked for, or with `usual` ones, until it returns false.
  func forEachSeed(usual: ClosedRange<UInt64>, _ run: (UInt64) throws -> Bool) rethrows {
    if seed != nil || duration == nil {
      for seed in seed.map({ $0...$0 }) ?? usual {
        guard try run(seed) else { return }
      }
      return
    }
    let start = ContinuousClock.now
    while ContinuousClock.now - start < duration ?? .zero {
      guard try run(.random(in: .min ... .max)) else { return }
    }
  }

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment["HEARTWOOD_REFERENCE_\(name)"].flatMap { UInt64($0) }
  }
}
