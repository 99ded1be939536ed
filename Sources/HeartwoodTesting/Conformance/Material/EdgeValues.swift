import Heartwood
import HeartwoodFoundation

/// Values at the limits of each attribute type, and values that careless code mistakes for others.
enum EdgeValues {
  static func values(of type: AttributeType) -> [PropertyValue] {
    switch type {
    case .integer16: integers(Int64(Int16.min), Int64(Int16.max))
    case .integer32: integers(Int64(Int32.min), Int64(Int32.max))
    case .integer64: integers(.min, .max) + [.integer(1 << 53 + 1), .integer(-(1 << 53) - 1)]
    case .decimal: decimals.map(PropertyValue.decimal)
    case .double: doubles.map(PropertyValue.double)
    case .float: floats.map(PropertyValue.float)
    case .string: (strings + [String(repeating: "long, \"longer\"\n", count: 8_000)]).map(PropertyValue.string)
    case .boolean: [.boolean(false), .boolean(true)]
    case .date: dates.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .binary, .transformable: binaries.map { .binary(Data($0)) }
    case .uuid: uuids.compactMap { UUID(uuidString: $0).map(PropertyValue.uuid) }
    case .uri: uris.compactMap { URL(string: $0).map(PropertyValue.uri) }
    case .undefined: []
    }
  }

  private static func integers(_ least: Int64, _ greatest: Int64) -> [PropertyValue] {
    [0, 1, -1, 10, least, least + 1, greatest - 1, greatest].map(PropertyValue.integer)
  }

  private static var decimals: [Decimal] {
    let texts = [
      "0", "1", "-1", "0.1", "-0.01", "1234567890.0987654321", "99999999999999999999999999999999999999",
      "-99999999999999999999999999999999999999", "1e127", "1e-127", "3.1415926535897932384626433832795028841",
      "340282366920938463463374607431768211455",
    ]
    return texts.compactMap { Decimal(string: $0) } + [.nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
  }

  private static let doubles: [Double] = [
    0, -0.0, 1, -1, 0.1, 1.0 / 3, 1e23, 123_456_789.987654321, .pi, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
    .leastNormalMagnitude, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .ulpOfOne, 9_007_199_254_740_992, .infinity,
    -.infinity, .nan,
  ]

  private static let floats: [Float] = [
    0, -0.0, 1, -1, 0.1, 1.0 / 3, 16_777_216, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
    .leastNormalMagnitude,
    .leastNonzeroMagnitude, .infinity, -.infinity, .nan,
  ]

  /// Seconds since 2001.
  private static let dates: [Double] = [
    0, -0.001, 1, 495_828_900, 0.1 + 0.2, 495_828_900.123_456_7, 1_234_567.000_000_1,
    // The last second of 1969, with a fraction; 1970; 1900; leap days; the years 4001, 9999, 10000, 1 and 0.
    -978_307_200.75, -978_307_200, -3_187_296_000, -26_611_200, 99_619_200, 63_113_904_000, 252_423_993_599,
    252_423_993_600, -63_113_904_000, -63_113_904_000.5, -1e15, 1e15, .infinity, -.infinity, .nan,
  ]

  private static let binaries: [[UInt8]] = [
    [], [0], [255], [10], [13, 10], [0x2C, 0x22, 0x0A], Array(0...255), [0xEF, 0xBB, 0xBF], [0xFF, 0xFE],
    [UInt8](repeating: 0xA5, count: 100_000),
  ]

  private static let uuids = [
    "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    "E899556C-BE1A-42A3-A634-F8411915C05F",
  ]

  private static let uris = [
    "https://example.org", "https://user@example.org:8080/a/b?c=d&e=%20,%22#f", "urn:isbn:0451450523",
    "a/relative/path",
    "mailto:a@example.org", "file:///tmp/a%20b.txt", "?q", "#f", "https://example.org/%E2%82%AC",
  ]
}

// MARK: Text

extension EdgeValues {
  /// Strings with a special meaning in some format: separators, quotation marks, line endings, byte order marks, words
  /// for null.
  static let strings = [
    "", " ", "  around  ", "\t", "a", ",", ";", "a,b", "\"", "\"\"", "a \"b\" c", "'", "''", "\\", "\\n", "\\\"", "#",
    "#a",
    "\n", "\r", "\r\n", "a\nb", "a\rb", "a\r\nb", "a\n", "\na", "\u{2028}", "\u{2029}", "\u{85}", "\u{0B}\u{0C}",
    "\u{0}", "a\u{0}b", "\u{1}\u{8}\u{1B}[0m\u{1F}\u{7F}", "\u{1A}",
    "nil", "null", "NULL", "\\N", "true", "0", "-1", "1e5", "NaN", "2016-09-17 18:15:00 +0000",
    "<a b=\"c\">&amp;</a>", "]]>", "<!--", "{\"a\": [1, null]}", "$entity", "x-coredata://a/b/c", "%00%2C", "=1+1",
    "é", "e\u{301}", "\u{301}", "Ω\u{2126}", "Straße ΣΊΣΥΦΟΣ İ", "日本語", "עברית \u{202E}abc\u{202C}", "😀", "👩‍👩‍👧‍👦🇩🇪",
    "\u{FFFD}", "\u{FFFE}\u{FFFF}", "a\u{FEFF}b", "\u{FEFF}a", "\u{200B}", "\u{200D}", "\u{AD}", "\u{E000}",
    "\u{10FFFF}",
  ]
}

// MARK: NearDates

/// Dates between 1900 and 2100, which every format with dates can hold.
enum NearDates {
  /// Seconds since 2001.
  private static let range: ClosedRange<Double> = -3_187_296_000...3_155_760_000

  static func contain(_ value: PropertyValue) -> Bool {
    guard case .date(let date) = value else { return true }
    return range.contains(date.timeIntervalSinceReferenceDate)
  }

  /// Returns a date with a fraction of a second.
  static func random(_ generator: inout SeededGenerator) -> PropertyValue {
    .date(Date(timeIntervalSinceReferenceDate: .random(in: range, using: &generator)))
  }
}

// MARK: ReferenceNames

/// References of records, in an order that no sort would give.
enum ReferenceNames {
  static func samples(of kind: StoreCapabilities.ReferenceKind) -> [ReferenceID] {
    switch kind {
    case .integer: [7, 1, .max - 1, -5, 0, .min, 1 << 40].map(ReferenceID.integer)
    case .uuid: (0..<7).map { .uuid(uuid(seed: $0)) }
    case .string: words.map(ReferenceID.string)
    }
  }

  /// Strings that look like other kinds of references, and strings with a special meaning in some format.
  private static let words = lookalikes + EdgeValues.strings.filter { !$0.isEmpty && !lookalikes.contains($0) }

  private static let lookalikes = [
    "b", "B", "42", "-1", "'42", "''", "042", "E899556C-BE1A-42A3-A634-F8411915C05F",
    "e899556c-be1a-42a3-a634-f8411915c05f", "a/b", "../a", "a b",
  ]

  private static func uuid(seed: UInt64) -> UUID {
    var generator = SeededGenerator(seed: seed)
    return generator.nextUUID()
  }
}
