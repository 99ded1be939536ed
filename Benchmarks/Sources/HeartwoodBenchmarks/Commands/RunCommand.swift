import ArgumentParser
import Foundation

/// Measures the cases and prints the tables.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Measure cases and print tables.",
    usage: "Benchmarks/run [<names> ...] [--rows <rows>] [--runs <runs>] [--markdown <file>] [--ten-million] [--strict]"
  )

  @Argument(help: "The names of the cases; all where there are none.") var names: [String] = []
  @Option(help: "How many rows the cases work on.") var rows = 1_000_000
  @Option(help: "How often each side runs; one more run of each warms up.") var runs = 7
  @Option(help: "Write the tables as Markdown to this file too.") var markdown: String?
  @Flag(help: "Let the table of growth go on to ten million rows.") var tenMillion = false
  @Flag(help: "End with exit status 1 where a goal is missed.") var strict = false
  @OptionGroup var programs: Programs

  func validate() throws {
    guard rows > 0, runs > 0 else { throw ValidationError("--rows and --runs are at least 1.") }
  }

  func run() throws {
    let workspace = try Workspace(programs)
    let machine = Machine.describe(programs)
    let catalog = CaseCatalog(workspace: workspace, rows: rows)
    var comparisons: [Comparison] = []
    for entry in try catalog.entries(named: names) {
      Progress.note("measuring \(entry.name)")
      comparisons.append(try Comparison.measure(try entry.make(), runs: runs, in: workspace))
    }
    var growth: [GrowthPoint] = []
    if names.isEmpty || names.contains(CaseCatalog.growth) {
      growth = try GrowthPoint.measureAll(upToTenMillion: tenMillion, runs: runs, in: workspace)
    }
    var pairs: [ConversionPair] = []
    if names.isEmpty || names.contains(CaseCatalog.pairs) {
      pairs = try ConversionPair.measureAll(rows: rows, runs: runs, in: workspace)
    }
    var memory: [MemoryPoint] = []
    if names.isEmpty || names.contains(CaseCatalog.memory) {
      memory = try MemoryPoint.measureAll(rows: rows, runs: runs, in: workspace)
    }
    let report = Report(
      machine: machine,
      rows: rows,
      runs: runs,
      comparisons: comparisons,
      growth: growth,
      pairs: pairs,
      memory: memory
    )
    print(report.text)
    if let markdown { try report.markdown.write(toFile: markdown, atomically: true, encoding: .utf8) }
    let isMissed = comparisons.contains { $0.meetsGoal == false } || memory.contains { !$0.meetsGoal }
    if strict, isMissed { throw ExitCode.failure }
  }
}

/// Says on standard error what is being done.
enum Progress {
  static func note(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }
}
