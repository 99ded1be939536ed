import ArgumentParser
import BenchmarkSupport
import CXMLPeer
import Foundation

/// Reads an XML store to C structs.
struct ReadXMLCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "read-xml", abstract: "Read an XML store by SAX2.")

  @Argument var path: String

  func run() throws {
    var toDos = peer_todos()
    let clock = ContinuousClock()
    let duration = try clock.measure {
      guard peer_read_xml(path, &toDos) == 1 else { throw PeerError("\(path) cannot be read.") }
    }
    try CaseReport(seconds: duration.seconds, rows: toDos.count, checksum: toDos.checksum).print()
  }
}

/// Writes an XML store from C structs.
struct WriteXMLCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "write-xml",
    abstract: "Write an XML store by xmlTextWriter; the records come from another."
  )

  @Argument var source: String
  @Argument var destination: String

  func run() throws {
    var toDos = peer_todos()
    guard peer_read_xml(source, &toDos) == 1 else { throw PeerError("\(source) cannot be read.") }
    let clock = ContinuousClock()
    let duration = try clock.measure {
      guard peer_write_xml(destination, &toDos) == 1 else { throw PeerError("\(destination) cannot be written.") }
    }
    try CaseReport(seconds: duration.seconds, rows: toDos.count).print()
  }
}

extension peer_todos {
  /// Reads every value.
  var checksum: UInt64 {
    var checksum = ToDoChecksum()
    for row in UnsafeBufferPointer(start: rows, count: count) {
      checksum.add(
        isDone: row.isDone == 1,
        memo: row.memo.map { String(cString: $0) } ?? "",
        sortOrder: Int64(row.sortOrder),
        creationDate: Date(timeIntervalSinceReferenceDate: row.creationDate),
        recordID: UUID(uuid: row.identifier)
      )
    }
    return checksum.value
  }
}
