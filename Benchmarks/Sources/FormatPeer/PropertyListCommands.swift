import ArgumentParser
import BenchmarkSupport
import Foundation

/// Reads a property list by Foundation.
struct ReadPropertyListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "read-plist",
    abstract: "Read a property list store by PropertyListSerialization."
  )

  @Argument var path: String

  func run() throws {
    let clock = ContinuousClock()
    let start = clock.now
    let records = try PropertyListRecords(contentsOf: path)
    let end = clock.now
    let checksum = try records.checksum()
    try CaseReport(seconds: (end - start).seconds, rows: checksum.rows, checksum: checksum.value).print()
  }
}

/// Writes a property list by Foundation.
struct WritePropertyListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "write-plist",
    abstract: "Write a binary property list by PropertyListSerialization; the records come from another."
  )

  @Argument var source: String
  @Argument var destination: String

  func run() throws {
    let records = try PropertyListRecords(contentsOf: source)
    let clock = ContinuousClock()
    let duration = try clock.measure {
      let data = try PropertyListSerialization.data(fromPropertyList: records.root, format: .binary, options: 0)
      try data.write(to: URL(filePath: destination))
      let file = try FileHandle(forUpdating: URL(filePath: destination))
      try file.synchronize()
      try file.close()
    }
    try CaseReport(seconds: duration.seconds, rows: records.records.count).print()
  }
}

/// The records of a property list store as Foundation gives them.
struct PropertyListRecords {
  let root: [String: Any]
  let records: [[String: Any]]

  init(contentsOf path: String) throws {
    let data = try Data(contentsOf: URL(filePath: path))
    let root = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    guard let root, let all = root["records"] as? [String: Any], let records = all["ToDo"] as? [[String: Any]] else {
      throw PeerError("\(path) holds no to-dos.")
    }
    self.root = root
    self.records = records
  }

  /// Reads every value.
  func checksum() throws -> ToDoChecksum {
    var checksum = ToDoChecksum()
    for record in records {
      guard let isDone = record["done"] as? Bool, let memo = record["memo"] as? String,
        let sortOrder = record["sortOrder"] as? Int64, let date = record["creationDate"] as? Date,
        let identifier = (record["$id"] as? String).flatMap({ UUID(uuidString: $0) })
      else { throw PeerError("A record is no to-do.") }
      checksum.add(isDone: isDone, memo: memo, sortOrder: sortOrder, creationDate: date, recordID: identifier)
    }
    return checksum
  }
}
