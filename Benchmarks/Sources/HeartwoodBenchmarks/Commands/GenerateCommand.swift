import ArgumentParser
import BenchmarkSupport

/// Writes a CSV file of made-up to-dos.
struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Write a CSV file of made-up to-dos, the same for the same seed."
  )

  @Argument(help: "Where to write it.") var path: String
  @Option(help: "How many to-dos.") var rows = 1_000_000
  @Option(help: "The seed.") var seed = ToDoSequence.standardSeed

  func run() throws {
    try DataSet.generate(rows: rows, at: path, seed: seed)
  }
}
