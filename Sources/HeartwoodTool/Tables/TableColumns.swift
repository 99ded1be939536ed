import HeartwoodFoundation
import HeartwoodModel
import HeartwoodRecordText

/// What the user says about a table.
struct TableOptions {
  var separator: UInt8?
  var encoding: TableEncoding?
  var decimal: DecimalSign?
  var dates: DateOrder?
  /// The line with the titles of the columns, counted from 1.
  var headerLine = 1
  /// The titles of the columns whose values are read as text.
  var textTitles: Set<String> = []
}

/// A column of a table: its title, the attribute that it becomes, and how its values are read.
struct TableColumn {
  /// The place of the column in a row.
  let index: Int
  let title: String
  var name: String
  var kind = Kind.string
  /// Why the values are read as text although some look like something else; nil if there is no such reason.
  var note: String?

  enum Kind {
    case boolean, integer, double, string, isoDate
    case decimal(DecimalSign)
    case date(DateOrder)

    var attributeType: AttributeType {
      switch self {
      case .boolean: .boolean
      case .integer: .integer64
      case .double: .double
      case .string: .string
      case .decimal: .decimal
      case .isoDate, .date: .date
      }
    }
  }

  /// Returns the value of a text, which is empty for none.
  func value(_ text: String) -> PropertyValue? {
    if text.isEmpty { return .null }
    switch kind {
    case .boolean: return TableValue.boolean(text).map(PropertyValue.boolean)
    case .integer: return Int64(text).map(PropertyValue.integer)
    case .double: return NumberText.number(text, Double.self).map(PropertyValue.double)
    case .string: return .string(text)
    case .decimal(let sign): return TableValue.number(text, sign).map(PropertyValue.decimal)
    case .isoDate: return TableValue.isoDate(text).map(PropertyValue.date)
    case .date(let order): return TableValue.date(text, order).map(PropertyValue.date)
    }
  }
}

// MARK: Names

extension TableColumn {
  /// Returns a name for the attribute of a column: the words of the title, joined as in `firstName`.
  static func name(for title: String, index: Int) -> String {
    let hasSmallLetters = title.contains(where: \.isLowercase)
    let words = self.words(of: hasSmallLetters ? title : title.lowercased())
    guard let first = words.first else { return "column\(index + 1)" }
    let name = (first.prefix(1).lowercased() + first.dropFirst()) + words.dropFirst().map(capitalized).joined()
    guard let start = name.unicodeScalars.first, start.properties.isXIDStart else {
      return "column" + capitalized(name)
    }
    return ReservedNames.properties.contains(name) ? name + "Value" : name
  }

  /// Returns a name for the entity of a table with this file name.
  static func entityName(forFile name: String) -> String {
    let base = name.split(separator: ".").first.map(String.init) ?? name
    let words = words(of: base).map(capitalized).joined()
    guard let start = words.unicodeScalars.first, start.properties.isXIDStart else { return "Table" + words }
    return words
  }

  private static func words(of text: String) -> [String] {
    text.unicodeScalars.split { !$0.properties.isXIDContinue || $0 == "_" }
      .map { String($0) }
  }

  private static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }
}

// MARK: TableSurvey

/// Reads a table once to find its columns and the types of their values.
struct TableSurvey {
  private struct Finding {
    var forms = TableForms.all
    var isEmpty = true
    /// The first value, and the first one that no form fits which fitted all before.
    var first = ""
    var stranger: (text: String, line: Int)?
    var firstLine = 0
  }

  let options: TableOptions
  private let path: String
  private let separator: UInt8
  private let titles: [String]
  private var findings: [Finding]
  private(set) var recordCount = 0

  /// Reads the titles and all records of `reader`.
  init(_ reader: inout TableReader, _ options: TableOptions) throws {
    self.options = options
    path = reader.path
    separator = reader.separator
    guard let header = try reader.next() else {
      throw ToolError(at: path, "There is no line \(options.headerLine) with the titles of columns.")
    }
    titles = header.fields
    findings = titles.map { _ in Finding() }
    while let row = try reader.next() {
      recordCount += 1
      try check(row)
      for (index, text) in row.fields.prefix(titles.count).enumerated() where !text.isEmpty {
        note(text, row.line, &findings[index])
      }
    }
  }

  /// Refuses a row with too few fields, or with text after the last column.
  private func check(_ row: TableRow) throws {
    let extra = row.fields.dropFirst(titles.count)
    guard row.fields.count >= titles.count, extra.allSatisfy(\.isEmpty) else {
      throw ToolError(
        at: "\(path):\(row.line)",
        "The row has \(Quantity.text(row.fields.count, "field")), and there are \(titles.count) titles. Put fields with separators or line breaks in quotation marks. If the titles are in another line, give it with --header-line."
      )
    }
  }

  private func note(_ text: String, _ line: Int, _ finding: inout Finding) {
    if finding.isEmpty { (finding.isEmpty, finding.first, finding.firstLine) = (false, text, line) }
    guard !finding.forms.isEmpty else { return }
    let forms = finding.forms.of(text)
    if forms.isEmpty, finding.forms != .all { finding.stranger = (text, line) }
    finding.forms = forms
  }

  /// Returns the columns that have a title or a value.
  func columns() throws -> [TableColumn] {
    for title in options.textTitles where !titles.contains(title) {
      let known = titles.filter { !$0.isEmpty }
      throw ToolError(
        at: path,
        "--text: There is no column “\(title)”. \(NameSuggestion.advice(for: title, among: known))"
      )
    }
    let names = attributeNames()
    return try zip(titles, findings).enumerated().compactMap { index, column in
      let (title, finding) = column
      guard !title.isEmpty || !finding.isEmpty else { return nil }
      guard !title.isEmpty else {
        throw ToolError(
          at: "\(path):\(finding.firstLine)",
          "Column \(index + 1) has a value here and no title. Give it a title. If the titles are in another line, give it with --header-line."
        )
      }
      return try typed(TableColumn(index: index, title: title, name: names[index]), finding)
    }
  }

  /// Returns a name for the attribute of each column. A repeated name gets a number that no other name has.
  private func attributeNames() -> [String] {
    let names = titles.enumerated().map { TableColumn.name(for: $1, index: $0) }
    let wanted = Set(names.map { $0.lowercased() })
    var taken: Set<String> = []
    return names.map { name in
      var (unique, number) = (name, 1)
      while taken.contains(unique.lowercased()) || (number > 1 && wanted.contains(unique.lowercased())) {
        number += 1
        unique = "\(name)\(number)"
      }
      taken.insert(unique.lowercased())
      return unique
    }
  }

  /// Returns the column with the type of its values.
  private func typed(_ column: TableColumn, _ finding: Finding) throws -> TableColumn {
    var column = column
    guard !finding.isEmpty, !options.textTitles.contains(column.title) else { return column }
    if let kind = try kind(column, finding) {
      column.kind = kind
    } else if let stranger = finding.stranger {
      column.note = "text, because of “\(stranger.text.prefix(Self.shownLength))” in line \(stranger.line)"
    }
    return column
  }

  private static let shownLength = 40

  private func kind(_ column: TableColumn, _ finding: Finding) throws -> TableColumn.Kind? {
    let forms = finding.forms
    if forms.contains(.boolean) { return .boolean }
    if forms.contains(.integer) { return .integer }
    if !forms.isDisjoint(with: .localNumbers) || forms.contains(.plainNumber) {
      return .decimal(try decimalSign(column, finding))
    }
    if forms.contains(.scientificNumber) { return .double }
    if forms.contains(.isoDate) { return .isoDate }
    if !forms.isDisjoint(with: .localDates) { return .date(try dateOrder(column, finding)) }
    guard forms.contains(.shortDate) else { return nil }
    throw refusal(column, finding, "looks like a date whose year has two digits", "Format the column with four digits")
  }

  private func decimalSign(_ column: TableColumn, _ finding: Finding) throws -> DecimalSign {
    // Where columns are separated by semicolons, 1.234 usually is a whole number.
    let isPlain = finding.forms.contains(.plainNumber)
    let isClear = isPlain && !(separator == UInt8(ascii: ";") && finding.forms.contains(.commaNumber))
    if isClear, options.decimal == nil { return .point }
    let fitting = DecimalSign.allCases.filter { finding.forms.contains($0 == .point ? .pointNumber : .commaNumber) }
    if let sign = options.decimal, fitting.contains(sign) || isPlain && sign == .point { return sign }
    let choice = fitting.map { "--decimal \($0.rawValue)" }.joined(separator: " or ")
    throw refusal(column, finding, "is a number with a comma or with groups of digits", "Give \(choice)")
  }

  private func dateOrder(_ column: TableColumn, _ finding: Finding) throws -> DateOrder {
    let fitting = DateOrder.allCases.filter { finding.forms.contains($0 == .dmy ? .dayFirstDate : .monthFirstDate) }
    if let order = options.dates, fitting.contains(order) { return order }
    let choice = fitting.map { "--dates \($0.rawValue)" }.joined(separator: " or ")
    let reason = fitting.count == 1 ? " (all the values of the column fit it)" : ""
    throw refusal(column, finding, "is a date, and its order is not given", "Give \(choice)\(reason)")
  }

  private func refusal(_ column: TableColumn, _ finding: Finding, _ problem: String, _ cure: String) -> ToolError {
    ToolError(
      at: "\(path):\(finding.firstLine)",
      "“\(finding.first.prefix(Self.shownLength))” in the column “\(column.title)” \(problem). \(cure), or read the column as text with --text \(DisplayText.argument(column.title))."
    )
  }
}
