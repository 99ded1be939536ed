package import Foundation

/// Writes to-dos in the form of `Examples/ToDo/todo.csv`.
package struct CSVText {
  package private(set) var bytes: [UInt8] = []

  package init(reserving capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }

  package mutating func appendIdentifier(_ identifier: UUID) {
    append("#")
    append(identifier)
    append("\n")
  }

  package mutating func append(_ toDo: ToDo) {
    append(toDo.isDone ? "1, " : "0, ")
    appendQuotedIfNeeded(toDo.memo)
    append(", ")
    append(String(toDo.sortOrder))
    append(", ")
    append(toDo.creationDate)
    append(" +0000, ")
    append(toDo.recordID)
    append("\n")
  }

  private mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  private mutating func appendQuotedIfNeeded(_ text: String) {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }) else {
      return append(text)
    }
    append("\"")
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    append("\"")
  }

  private mutating func append(_ identifier: UUID) {
    withUnsafeBytes(of: identifier.uuid) { buffer in
      for (index, byte) in buffer.enumerated() {
        if [4, 6, 8, 10].contains(index) { append("-") }
        bytes.append(Self.hexadecimal[Int(byte >> 4)])
        bytes.append(Self.hexadecimal[Int(byte & 15)])
      }
    }
  }

  private mutating func append(_ date: Date) {
    let seconds = Int(date.timeIntervalSinceReferenceDate)
    let (year, month, day) = Self.civilDate(daysSinceReferenceDate: seconds / 86_400)
    let second = seconds % 86_400
    append(year, digits: 4, "-")
    append(month, digits: 2, "-")
    append(day, digits: 2, " ")
    append(second / 3600, digits: 2, ":")
    append(second / 60 % 60, digits: 2, ":")
    append(second % 60, digits: 2, "")
  }

  private mutating func append(_ number: Int, digits: Int, _ separator: String) {
    var divisor = digits == 4 ? 1000 : 10
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
    append(separator)
  }

  /// The day `days` after 2001-01-01, counted from 2000-03-01, where an era of 400 years begins just after a leap day.
  private static func civilDate(daysSinceReferenceDate days: Int) -> (year: Int, month: Int, day: Int) {
    let sinceEra = days + 306
    let dayOfEra = sinceEra % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = 2000 + sinceEra / 146_097 * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static let hexadecimal = Array("0123456789ABCDEF".utf8)
}
