import ArgumentParser

/// Where the programs are that are measured. The script `run` builds them and passes their paths.
struct Programs: ParsableArguments {
  @Option(help: .init("The release build of the tool.", visibility: .hidden)) var tool: String
  @Option(help: .init("The program with our cases.", visibility: .hidden)) var cases: String
  @Option(help: .init("The program with our SQLite store's cases.", visibility: .hidden)) var sqlite: String
  @Option(help: .init("The program with the cases of Core Data's API.", visibility: .hidden)) var coreData: String
  @Option(help: .init("The program with GRDB's cases.", visibility: .hidden)) var grdb: String
  @Option(help: .init("The program with libxml2's and Foundation's cases.", visibility: .hidden)) var formats: String
  @Option(help: .init("The ToDo model.", visibility: .hidden)) var model: String
  @Option(help: .init("The folder for data.", visibility: .hidden)) var data: String
  @Option(help: .init("The script with DuckDB's cases.", visibility: .hidden)) var duckdb: String
  @Option(help: .init("A Python that has DuckDB; without it those comparisons are left out.", visibility: .hidden))
  var python: String?
}
