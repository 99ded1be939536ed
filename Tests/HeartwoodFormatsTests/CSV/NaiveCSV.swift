import Foundation
import HeartwoodFormats
import HeartwoodModel
import HeartwoodStore

/// The form, read character by character without a thought for speed, to hold the fast reader against.
struct NaiveCSV {
  struct Refused: Error {}

  let columns: [AttributeType]
  let separator: Unicode.Scalar
  let dropsSpace: Bool

  /// The records: their references, which come last in a line, and their values.
  func records(_ bytes: [UInt8]) throws -> [CSVRecord] {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Refused() }
    var scalars = Array(text.unicodeScalars)[...]
    if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
    try takeIdentifier(&scalars)
    var records: [CSVRecord] = []
    while !scalars.isEmpty {
      if takeLineEnd(&scalars) { continue }
      let record = try record(try takeLine(&scalars))
      guard !records.contains(where: { $0.reference == record.reference }) else { throw Refused() }
      records.append(record)
    }
    return records
  }

  private func takeIdentifier(_ scalars: inout ArraySlice<Unicode.Scalar>) throws {
    guard scalars.popFirst() == "#" else { throw Refused() }
    let identifier = String(String.UnicodeScalarView(scalars.prefix(36)))
    guard Self.uuid(identifier) != nil else { throw Refused() }
    scalars = scalars.dropFirst(36).drop { " ,;\t".unicodeScalars.contains($0) }
    guard takeLineEnd(&scalars) || scalars.isEmpty else { throw Refused() }
  }

  private func takeLineEnd(_ scalars: inout ArraySlice<Unicode.Scalar>) -> Bool {
    if scalars.first == "\n" {
      scalars.removeFirst()
    } else if scalars.starts(with: "\r\n".unicodeScalars) {
      scalars.removeFirst(2)
    } else {
      return false
    }
    return true
  }

  /// The fields of a line: their text, or nil where there is nothing.
  private func takeLine(_ scalars: inout ArraySlice<Unicode.Scalar>) throws -> [String?] {
    var fields: [String?] = []
    while true {
      if !fields.isEmpty, dropsSpace, scalars.first == " " { scalars.removeFirst() }
      fields.append(try takeField(&scalars))
      if scalars.isEmpty || takeLineEnd(&scalars) { return fields }
      guard scalars.popFirst() == separator else { throw Refused() }
    }
  }

  private func takeField(_ scalars: inout ArraySlice<Unicode.Scalar>) throws -> String? {
    var text = String.UnicodeScalarView()
    if scalars.first == "\"" {
      scalars.removeFirst()
      while true {
        guard let scalar = scalars.popFirst() else { throw Refused() }
        if scalar == "\"" {
          guard scalars.first == "\"" else { return String(text) }
          scalars.removeFirst()
        }
        text.append(scalar)
      }
    }
    while let scalar = scalars.first, scalar != separator, scalar != "\n", scalar != "\r", scalar != "\"" {
      text.append(scalar)
      scalars.removeFirst()
    }
    return text.isEmpty ? nil : String(text)
  }

  private func record(_ fields: [String?]) throws -> CSVRecord {
    guard fields.count == columns.count + 1, let last = fields.last, let reference = last else { throw Refused() }
    let values = try zip(columns, fields).map { type, field in
      guard let field else { return PropertyValue.null }
      guard let value = value(field, type) else { throw Refused() }
      return value
    }
    return CSVRecord(reference: try self.reference(reference), values: values)
  }

  private func reference(_ text: String) throws -> ReferenceID {
    if let uuid = Self.uuid(text) { return .uuid(uuid) }
    if text.utf8.first == UInt8(ascii: "'") { return .string(String(Substring(text.utf8.dropFirst()))) }
    guard let number = Int64(text), String(number) == text else { throw Refused() }
    return .integer(number)
  }

  private func value(_ text: String, _ type: AttributeType) -> PropertyValue? {
    switch type {
    case .boolean:
      switch text.lowercased() {
      case "1", "true", "yes": .boolean(true)
      case "0", "false", "no": .boolean(false)
      default: nil
      }
    case .date: Self.seconds(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .uuid: Self.uuid(text).map(PropertyValue.uuid)
    default: PropertyValue(text: text, type: type)
    }
  }

  /// Foundation takes spaces and signs for digits.
  private static func uuid(_ text: String) -> UUID? {
    let pattern = /[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}/
    return text.wholeMatch(of: pattern) == nil ? nil : UUID(uuidString: text)
  }

  private static func seconds(_ text: String) -> Double? {
    let pattern = /(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d+))? ?(Z|[+-]\d\d:?\d\d)/.asciiOnlyDigits()
    guard let match = text.wholeMatch(of: pattern)?.output else { return nil }
    let numbers = [match.1, match.2, match.3, match.4, match.5, match.6].compactMap { Int($0) }
    let (year, month, day) = (numbers[0], numbers[1], numbers[2])
    guard year >= 1, (1...12).contains(month), (1...length(month, year)).contains(day), numbers[3] < 24,
      numbers[4] < 60,
      numbers[5] < 60
    else { return nil }
    var days = day - 1 - 730_485
    for earlier in 1..<year { days += earlier.isLeap ? 366 : 365 }
    for earlier in 1..<month { days += length(earlier, year) }
    var offset = 0
    if match.8 != "Z" {
      let digits = match.8.compactMap(\.wholeNumberValue)
      let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
      guard hours < 24, minutes < 60 else { return nil }
      offset = (hours * 60 + minutes) * (match.8.hasPrefix("-") ? -60 : 60)
    }
    let whole = days * 86400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5] - offset
    let fraction = match.7.flatMap { Decimal(string: "0." + $0) } ?? 0
    guard let seconds = Double((Decimal(whole) + fraction).description) else { return nil }
    return (-63_113_904_000..<252_423_993_600).contains(seconds) ? seconds : nil
  }

  private static func length(_ month: Int, _ year: Int) -> Int {
    month == 2 ? (year.isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }
}

extension Int {
  fileprivate var isLeap: Bool { self % 4 == 0 && (self % 100 != 0 || self % 400 == 0) }
}
