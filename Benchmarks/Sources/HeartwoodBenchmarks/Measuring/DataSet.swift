import BenchmarkSupport
import Foundation

/// The same to-dos in every form that a case needs. Each is made when it is first asked for.
final class DataSet {
  let rows: Int
  private let programs: Programs
  private var made: Set<String> = []

  init(rows: Int, programs: Programs) {
    self.rows = rows
    self.programs = programs
  }

  func path(_ name: String) -> String { "\(programs.data)/todo-\(rows)\(name)" }

  /// The CSV file as the generator writes it.
  func csv() throws -> String {
    try make(".csv") { try Self.generate(rows: rows, at: $0) }
  }

  /// Our binary file.
  func binary() throws -> String {
    let source = try csv()
    return try make(".heartwood") { destination in
      try perform([programs.tool, "convert", source, destination, "--model", programs.model, "--force"])
    }
  }

  /// Our binary file with so many saves of one record behind it.
  func binary(withSaves saves: Int) throws -> String {
    let original = try binary()
    return try make("-\(saves).heartwood") { destination in
      try Workspace.copy(original, to: destination)
      try perform([programs.cases, "save-one", destination, "--saves", String(saves)])
    }
  }

  /// The file of one of our types, by its extension.
  func store(_ fileExtension: String) throws -> String {
    switch fileExtension {
    case "csv": return try csv()
    case "heartwood": return try binary()
    default:
      // The cases' own program, whose model has no classes: what it writes later must be the same bytes.
      let source = try binary()
      return try make(".\(fileExtension)") { destination in
        Workspace.remove(destination)
        try perform([programs.cases, "save-as", source, destination])
      }
    }
  }

  /// GRDB's database.
  func sqlite() throws -> String {
    try make(".sqlite") { try perform([programs.grdb, "create", $0, "--rows", String(rows)]) }
  }

  /// Our SQLite file, with the same to-dos.
  func coreDataSQLite() throws -> String {
    try make(".items.sqlite") { try perform([programs.sqlite, "insert", $0, "--rows", String(rows)]) }
  }

  /// GRDB's database of lists.
  func sqliteLists() throws -> String {
    try make(".lists.sqlite") { try perform([programs.grdb, "create-lists", $0]) }
  }

  /// Our SQLite file of the same lists.
  func coreDataSQLiteLists() throws -> String {
    try make(".item-lists.sqlite") { try perform([programs.sqlite, "insert-lists", $0]) }
  }

  /// DuckDB's database.
  func duckDB(_ python: String) throws -> String {
    let source = try csv()
    return try make(".duckdb") { try perform([python, programs.duckdb, "import", source, $0]) }
  }

  /// What reading every value of every row gives.
  lazy var checksum: UInt64 = {
    var checksum = ToDoChecksum()
    for toDo in ToDoSequence(count: rows) { checksum.add(toDo) }
    return checksum.value
  }()

  private func make(_ suffix: String, _ body: (String) throws -> Void) throws -> String {
    let path = path(suffix)
    guard made.insert(suffix).inserted else { return path }
    try body(path)
    return path
  }

  private func perform(_ command: [String]) throws {
    _ = try ChildProcess.run(command)
  }

  /// Writes the CSV file in pieces, so that this program stays small.
  static func generate(rows: Int, at path: String, seed: UInt64 = ToDoSequence.standardSeed) throws {
    let pieceSize = 1 << 20
    guard FileManager.default.createFile(atPath: path, contents: nil) else {
      throw BenchmarkError("\(path) cannot be made.")
    }
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    var text = CSVText(reserving: pieceSize + 1024)
    text.appendIdentifier(ToDoSequence.storeIdentifier(seed: seed))
    for toDo in ToDoSequence(count: rows, seed: seed) {
      text.append(toDo)
      guard text.bytes.count >= pieceSize else { continue }
      try file.write(contentsOf: text.bytes)
      text.removeAll()
    }
    try file.write(contentsOf: text.bytes)
    try file.close()
  }
}
