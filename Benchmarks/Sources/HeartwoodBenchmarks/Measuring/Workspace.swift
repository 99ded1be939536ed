import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files and programs of one call of the benchmarks.
final class Workspace {
  let programs: Programs
  private var dataSets: [Int: DataSet] = [:]

  init(_ programs: Programs) throws {
    self.programs = programs
    try FileManager.default.createDirectory(atPath: programs.data, withIntermediateDirectories: true)
  }

  func dataSet(rows: Int) -> DataSet {
    if let dataSet = dataSets[rows] { return dataSet }
    let dataSet = DataSet(rows: rows, programs: programs)
    dataSets[rows] = dataSet
    return dataSet
  }

  /// A path for what a case writes.
  func scratch(_ name: String) -> String { "\(programs.data)/out-\(name)" }

  /// Writes all that waits in the system's memory to the disk.
  func flushDisk() { sync() }

  /// Puts a copy of a file in place of whatever there is.
  static func copy(_ source: String, to destination: String) throws {
    remove(destination)
    try FileManager.default.copyItem(atPath: source, toPath: destination)
  }

  /// Puts a copy of a database that nobody uses in place of whatever there is, without what lay beside that.
  static func copyDatabase(_ source: String, to destination: String) throws {
    for suffix in ["-wal", "-shm", "-journal"] { remove(destination + suffix) }
    try copy(source, to: destination)
  }

  /// Removes a file, if it is there: giving back the memory of an old file takes its time too.
  static func remove(_ path: String) {
    unlink(path)
  }

  /// Throws where two files differ.
  static func expectSameBytes(_ first: String, _ second: String) throws {
    guard FileManager.default.contentsEqual(atPath: first, andPath: second) else {
      throw BenchmarkError("\(second) differs from \(first).")
    }
  }
}
