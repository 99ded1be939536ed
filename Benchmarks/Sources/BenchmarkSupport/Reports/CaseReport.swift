package import Foundation

/// What a case that measures itself prints: one line of JSON.
package struct CaseReport: Codable, Sendable {
  /// What the work took, without the start of the process.
  package var seconds: Double
  /// How many rows were worked on.
  package var rows: Int
  /// A ``ToDoChecksum``, where values were read.
  package var checksum: UInt64?
  /// Other durations that are worth a line, by name.
  package var details: [String: Double]?
  /// By how many bytes the process's own memory, not that of mapped files, has grown for each row.
  package var bytesPerRow: Double?
  /// How many bytes the records take as tables.
  package var tableBytes: Int?
  /// By how many bytes at most the process's memory has grown, mapped files included.
  package var growth: Int?

  package init(
    seconds: Double,
    rows: Int,
    checksum: UInt64? = nil,
    details: [String: Double]? = nil,
    bytesPerRow: Double? = nil,
    tableBytes: Int? = nil,
    growth: Int? = nil
  ) {
    self.seconds = seconds
    self.rows = rows
    self.checksum = checksum
    self.details = details
    self.bytesPerRow = bytesPerRow
    self.tableBytes = tableBytes
    self.growth = growth
  }
}

extension CaseReport {
  /// Writes the line to standard output.
  package func print() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try FileHandle.standardOutput.write(contentsOf: encoder.encode(self) + Data("\n".utf8))
  }

  /// The report in the last line of what a process printed.
  package init(lastLineOf output: Data) throws {
    let line = output.split(separator: UInt8(ascii: "\n")).last ?? Data()
    self = try JSONDecoder().decode(CaseReport.self, from: line)
  }
}

extension Duration {
  /// The duration in seconds.
  package var seconds: Double { self / .seconds(1) }
}
