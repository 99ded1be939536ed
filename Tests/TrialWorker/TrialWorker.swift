import Foundation
import ParserTrials

/// Gives a parser files whose numbers are far too large, and says by how many bytes the memory of the process has grown at most.
///
/// Usage: TrialWorker PARSER ROOT SEED TRIALS
@main struct TrialWorker {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let trial = ParserTrial(rawValue: arguments[1]), let seed = UInt64(arguments[3]),
      let count = Int(arguments[4])
    else { throw Misuse() }
    let samples = try trial.seeds(under: URL(filePath: arguments[2])).map(\.bytes)
    guard !samples.isEmpty else { throw Misuse() }
    // What a parser takes once, such as tables of its own, is no matter of the file.
    for sample in samples { try trial.run(sample) }
    try limitAddressSpace()
    let before = peakMemory()
    var inflater = NumberInflater(seed: seed)
    for index in 0..<count {
      let bytes = inflater.inflated(samples[index % samples.count])
      try trial.run(bytes)
    }
    print(peakMemory() - before)
  }

  struct Misuse: Error {}

  /// The most memory that the process has had so far, in bytes.
  private static func peakMemory() -> Int {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss
    #else
      getrusage(RUSAGE_SELF.rawValue, &usage)
      return usage.ru_maxrss * 1024
    #endif
  }

  /// Memory that is asked for and never touched is seen in no count of pages: where there is a limit, asking for it ends the process.
  private static func limitAddressSpace() throws {
    #if os(Linux)
      let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").first
      guard let count = pages.flatMap({ UInt($0) }) else { throw Misuse() }
      var limit = rlimit()
      limit.rlim_cur = count * UInt(sysconf(Int32(_SC_PAGESIZE))) + 512 << 20
      limit.rlim_max = limit.rlim_cur
      guard setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { throw Misuse() }
    #endif
  }
}
