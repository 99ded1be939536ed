import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodPostgreSQL

/// Values to PostgreSQL's binary format and back, without a server.
@Suite struct BinaryFieldTests {
  /// The bytes of a field, without their length.
  private func field(_ value: PropertyValue, _ type: AttributeType) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try AttributeField.append(value, as: type, to: &bytes)
    let length = try bytes.withUnsafeBytes {
      try BinaryField.integer(UnsafeRawBufferPointer(rebasing: $0.prefix(4)))
    }
    #expect(Int(length) == bytes.count - 4)
    return Array(bytes.dropFirst(4))
  }

  @Test(arguments: AttributeType.allCases.filter { $0 != .date })
  func everyValueComesBack(_ type: AttributeType) throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<500 {
      let value = PropertyValue.random(of: type, using: &generator)
      if case .string(let text) = value, text.utf8.contains(0) { continue }
      let bytes = try field(value, type)
      #expect(try bytes.withUnsafeBytes { try AttributeField.value($0, as: type) } == value)
    }
  }

  @Test func numbersHaveTheBytesOfTheServer() throws {
    #expect(try field(.integer(-2), .integer16) == [0xFF, 0xFE])
    #expect(try field(.integer(258), .integer32) == [0, 0, 1, 2])
    #expect(try field(.double(1), .double) == [0x3F, 0xF0, 0, 0, 0, 0, 0, 0])
    #expect(try field(.boolean(true), .boolean) == [1])
    // 12345.678: the groups 1, 2345 and 6780 from the power 1 on, with three digits behind the point.
    let number = try #require(Decimal(string: "12345.678"))
    #expect(
      try field(.decimal(number), .decimal)
        == [0, 3, 0, 1, 0, 0, 0, 3, 0, 1, 0x09, 0x29, 0x1A, 0x7C]
    )
  }

  @Test(
    arguments: [
      "0", "1", "-1", "10000", "0.0001", "-0.00001", "123456789012345678901234567890.12345678",
      "1e127", "1e-127",
      "99999999999999999999999999999999999999", "340282366920938463463374607431768211455", "1.50",
      "70000", "0.7",
    ]
  )
  func decimalNumbersComeBack(_ text: String) throws {
    let number = try #require(Decimal(string: text))
    var bytes: [UInt8] = []
    NumericField.append(number, to: &bytes)
    #expect(try bytes.withUnsafeBytes { try NumericField.decimal($0) } == number)
  }

  @Test func decimalNumbersOfOthersAreRefusedIfTheyAreTooLong() throws {
    // Eleven groups of four digits.
    var bytes: [UInt8] = []
    for word in [11, 10, 0, 0] as [UInt16] { bytes.append(bigEndian: word) }
    for _ in 0..<11 { bytes.append(bigEndian: 1234 as UInt16) }
    #expect(throws: FieldFault.self) { try bytes.withUnsafeBytes { try NumericField.decimal($0) } }
    #expect(throws: FieldFault.self) {
      try bytes.dropLast().withUnsafeBytes { try NumericField.decimal($0) }
    }
    let infinite: [UInt8] = [0, 0, 0, 0, 0xD0, 0, 0, 0]
    #expect(throws: FieldFault.self) {
      try infinite.withUnsafeBytes { try NumericField.decimal($0) }
    }
  }

  @Test(
    arguments: [
      0, -0.001, 0.1 + 0.2, 495_828_900.123_456_7, -978_307_200.75, -63_113_904_000.5,
      252_423_993_600, -1e15, 1e15,
      .infinity, -.infinity, .nan,
    ] as [Double]
  )
  func datesComeBackExactly(_ seconds: Double) throws {
    let value = PropertyValue.date(Date(timeIntervalSinceReferenceDate: seconds))
    let bytes = try field(value, .date)
    var exact: [UInt8] = []
    AttributeField.appendExact(value, to: &exact)
    exact.removeFirst(4)
    let found = try bytes.withUnsafeBytes { bytes in
      try exact.withUnsafeBytes { try AttributeField.date(bytes, exact: $0) }
    }
    #expect(found == value)
  }

  @Test func aDateThatAnotherClientHasChangedCounts() throws {
    let (old, new) = (
      Date(timeIntervalSinceReferenceDate: 0.123_456_789),
      Date(timeIntervalSinceReferenceDate: 86_400)
    )
    let bytes = Timestamp(new).microseconds.bigEndianBytes
    let exact = old.timeIntervalSinceReferenceDate.bitPattern.bigEndianBytes
    let found = try bytes.withUnsafeBytes { bytes in
      try exact.withUnsafeBytes { try AttributeField.date(bytes, exact: $0) }
    }
    #expect(found == .date(new))
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: 0)).microseconds == 31_622_400_000_000)
  }

  @Test func textWithTheCharacterZeroIsRefused() {
    #expect(throws: AttributeField.Refusal.self) { try field(.string("a\u{0}b"), .string) }
  }

  @Test func fieldsOfTheWrongLengthAreRefused() {
    let bytes: [UInt8] = [1, 2, 3]
    for type in [AttributeType.integer32, .double, .float, .boolean, .uuid, .decimal] {
      #expect(throws: FieldFault.self) {
        try bytes.withUnsafeBytes { try AttributeField.value($0, as: type) }
      }
    }
    let text: [UInt8] = [0xC3, 0x28]
    #expect(throws: FieldFault.self) {
      try text.withUnsafeBytes { try AttributeField.value($0, as: .string) }
    }
  }

  // MARK: COPY

  @Test func copiedRowsAreReadInPieces() throws {
    var rows: [[Int]] = []
    var reader = CopyReader()
    let collect: (PostgreSQLRow) throws -> Void = { row in
      rows.append(try (0..<row.count).map { Int(try row.bigint($0) ?? -1) })
    }
    var piece = CopyFormat.header
    append([1, 2], to: &piece)
    try piece.withUnsafeBytes { try reader.read($0, collect) }
    piece = []
    append([3, nil], to: &piece)
    append([5, 6], to: &piece)
    piece += CopyFormat.trailer
    try piece.withUnsafeBytes { try reader.read($0, collect) }
    #expect(rows == [[1, 2], [3, -1], [5, 6]])
  }

  private func append(_ numbers: [Int64?], to bytes: inout [UInt8]) {
    bytes.append(bigEndian: Int16(numbers.count))
    for number in numbers {
      if let number { bytes.appendField(number) } else { bytes.appendNullField() }
    }
  }

  @Test func copiedRowsThatAreCutAreRefused() throws {
    var whole = CopyFormat.header
    append([1, 2], to: &whole)
    for count in 0..<whole.count where count != CopyFormat.headerLength {
      var reader = CopyReader()
      #expect(throws: FieldFault.self, "cut at byte \(count)") {
        try whole.prefix(count).withUnsafeBytes { try reader.read($0) { _ in } }
      }
    }
  }

  @Test func arraysHaveTheirHeader() {
    let empty = PostgreSQLParameter.uuids([])
    #expect(empty.bytes?.count == 12)
    let two = PostgreSQLParameter.bigints([1, 2])
    #expect(two.bytes?.count == 20 + 2 * 12)
    #expect(two.type.oid == 1016)
  }
}
