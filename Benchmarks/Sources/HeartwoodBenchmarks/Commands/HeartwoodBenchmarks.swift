import ArgumentParser

/// Measures Heartwood against others that do the same work.
@main
struct HeartwoodBenchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heartwood-benchmarks",
    abstract: "Measure Heartwood against others that do the same work.",
    subcommands: [RunCommand.self, GenerateCommand.self]
  )
}
