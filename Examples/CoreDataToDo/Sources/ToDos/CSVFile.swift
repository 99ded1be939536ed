// Written as in its years.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

import Foundation

/// The text of a CSV file of to-dos.
struct CSVFile {
  struct Row {
    var done: Bool
    var memo: String?
    var sortOrder: Int
    var creationDate: Date?
    var uuid: String
  }

  var uuid: String
  var rows: [Row] = []

  init(uuid: String) {
    self.uuid = uuid
  }

  /// Reads a file; one that is missing or empty is a new one.
  init(contentsOf url: URL) throws {
    let text = FileManager.default.fileExists(atPath: url.path) ? try String(contentsOf: url, encoding: .utf8) : ""
    let records = CSVFile.records(text)
    guard let first = records.first?.first else {
      uuid = UUID().uuidString
      return
    }
    guard first.hasPrefix("#"), UUID(uuidString: String(first.dropFirst())) != nil else {
      throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: url.path])
    }
    uuid = String(first.dropFirst())
    for record in records.dropFirst() {
      guard record.count == 5, let order = Int(record[2]) else {
        throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: url.path])
      }
      rows.append(
        Row(
          done: record[0] == "1",
          memo: record[1].isEmpty ? nil : record[1],
          sortOrder: order,
          creationDate: TimeInterval(record[3]).map(Date.init(timeIntervalSinceReferenceDate:)),
          uuid: record[4]
        )
      )
    }
  }

  var text: String {
    let lines = rows.map { row -> String in
      let date = row.creationDate.map { String($0.timeIntervalSinceReferenceDate) } ?? ""
      return [row.done ? "1" : "0", CSVFile.quoted(row.memo ?? ""), String(row.sortOrder), date, row.uuid]
        .joined(separator: ",")
    }
    return (["#" + uuid] + lines).map { $0 + "\n" }.joined()
  }

  private static func quoted(_ text: String) -> String {
    guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
    return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }

  /// The fields of each line; fields in quotes may contain commas, quotes and line breaks.
  private static func records(_ text: String) -> [[String]] {
    var records: [[String]] = []
    var record: [String] = []
    var field = ""
    var isQuoted = false
    var rest = Substring(text)
    while let character = rest.popFirst() {
      if isQuoted {
        if character != "\"" {
          field.append(character)
        } else if rest.first == "\"" {
          field.append(rest.removeFirst())
        } else {
          isQuoted = false
        }
      } else if character == "\"" {
        isQuoted = true
      } else if character == "," {
        record.append(field)
        field = ""
      } else if character.isNewline {
        records.append(record + [field])
        (record, field) = ([], "")
      } else {
        field.append(character)
      }
    }
    if !record.isEmpty || !field.isEmpty { records.append(record + [field]) }
    return records
  }
}
