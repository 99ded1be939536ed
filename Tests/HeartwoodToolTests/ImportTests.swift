import Foundation
import Testing

/// Tables as spreadsheets and databases export them.
@Suite struct ImportTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  private func write(_ text: String, encoding: String.Encoding = .utf8) throws {
    try #require(text.data(using: encoding)).write(to: folder.path("sales.csv"))
  }

  /// Imports the table, and returns the records as JSON without their entity and reference.
  private func records(_ options: String = "") throws -> [[String: Any]] {
    let made = try heartwood.shell("heartwood import sales.csv sales.heartwood --force \(options)")
    #expect(made.status == 0, "\(made.errors)")
    return try heartwood("dump", "sales.heartwood").jsonLines().map { record in
      record.filter { !$0.key.hasPrefix("$") }
    }
  }

  private static let german = "Name;Preis;Datum\r\nÄpfel;1,50;31.01.2026\r\nBirnen;1.234,56;01.02.2026 18:05\r\n"

  @Test(arguments: ["", "\u{FEFF}", "sep=;\r\n", "\u{FEFF}sep=;\r\n"])
  func aGermanSpreadsheetIsRead(_ beginning: String) throws {
    try write(beginning + Self.german)
    let records = try records("--decimal comma --dates dmy")
    #expect(records.map { $0["name"] as? String } == ["Äpfel", "Birnen"])
    #expect(records.map { $0["preis"] as? String } == ["1.5", "1234.56"])
    #expect(records.map { $0["datum"] as? String } == ["2026-01-31T00:00:00Z", "2026-02-01T18:05:00Z"])
  }

  @Test func anAmericanSpreadsheetIsRead() throws {
    try write("Name,Price,Date\nApple,\"1,234.56\",1/31/2026 6:05 PM\nPear,2,02/01/2026\n")
    let records = try records("--decimal point --dates mdy")
    #expect(records.map { $0["price"] as? String } == ["1234.56", "2"])
    #expect(records.map { $0["date"] as? String } == ["2026-01-31T18:05:00Z", "2026-02-01T00:00:00Z"])
  }

  @Test(arguments: [
    (String.Encoding.windowsCP1252, "--encoding windows-1252"), (.isoLatin1, "--encoding iso-8859-1"),
    (.utf16, ""), (.utf16LittleEndian, "--encoding utf-16"),
  ])
  func otherEncodingsAreRead(_ encoding: String.Encoding, _ option: String) throws {
    try write("Name\tNote\r\nÄpfel\tsüß\r\n", encoding: encoding)
    let records = try records(option)
    #expect(records.map { $0["name"] as? String } == ["Äpfel"])
    #expect(records.map { $0["note"] as? String } == ["süß"])
  }

  @Test func theEuroSignOfWindowsIsRead() throws {
    try write("Name;Preis\nÄpfel;1 €\n", encoding: .windowsCP1252)
    #expect(try records("--encoding windows-1252").map { $0["preis"] as? String } == ["1 €"])
  }

  @Test func typesAreThoseThatFitAllValues() throws {
    try write(
      #"""
      Name,Active,Count,Price,Share,Zip,Day,Moment,Mixed,Empty
      "line one
      line ""two""", yes ,1,1.5,1.5e3,01234,2026-01-31,2026-01-31T18:00:00+01:00,1,
      ,FALSE,-2,2,2,10115,2026/2/1,2026-02-01 06:00,n/a,

      ,,,,,,,,,
      """#
    )
    let made = try heartwood("import", "sales.csv", "sales.heartwood", "--entity", "Sale")
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.lines.first == "sales.heartwood: 2 records of Sale")
    let types = made.lines.dropFirst().map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
    #expect(
      types == [
        "name string,", "active boolean,", "count integer64,", "price decimal,", "share double,", "zip string,",
        "day date,", "moment date,", "mixed string,", "empty string,",
      ]
    )
    #expect(made.text.contains("from “Mixed” (text, because of “n/a” in line 4)"), "\(made.text)")
    let records = try heartwood("dump", "sales.heartwood", "--entity", "Sale").jsonLines()
    let first = try #require(records.first)
    #expect(first["name"] as? String == "line one\nline \"two\"")
    #expect(first["active"] as? Bool == true && first["count"] as? Int == 1)
    #expect(first["share"] as? Double == 1500 && first["zip"] as? String == "01234")
    #expect(first["moment"] as? String == "2026-01-31T17:00:00Z")
    #expect(records.last?["day"] as? String == "2026-02-01T00:00:00Z")
    #expect(records.last?["name"] is NSNull && records.last?["empty"] is NSNull)
  }

  @Test func titlesBecomeNames() throws {
    try write("First Name,E-Mail (work),ID,customer ID,2026,description,Price,Price,,\na,b,c,d,e,f,g,h,,\n")
    let made = try heartwood("import", "sales.csv", "sales.sqlite")
    #expect(made.status == 0, "\(made.errors)")
    let names = made.lines.dropFirst().compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(
      names == ["firstName", "eMailWork", "id", "customerID", "column2026", "descriptionValue", "price", "price2"]
    )
    #expect(try heartwood("fetch", "sales.sqlite", "Sales", "--select", "price,price2").text.contains("\"h\""))
    #expect(try heartwood("verify", "sales.sqlite").text == "ok: 1 record\n")
  }

  @Test func aRepeatedTitleGetsANameThatNoOtherColumnHas() throws {
    try write("Price,Price,Price2,price\n1,2,3,4\n")
    let made = try heartwood("import", "sales.csv", "sales.sqlite")
    #expect(made.status == 0, "\(made.errors)")
    let names = made.lines.dropFirst().compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(names == ["price", "price3", "price2", "price4"])
  }

  @Test func whatIsAboveTheTableIsSkipped() throws {
    try write("Sales of 2026,,\n,,\nName,Price,Date\nApple,1,2026-01-31\n")
    let refused = try heartwood("import", "sales.csv")
    #expect(refused.errors.contains("sales.csv:3: Column 2 has a value here and no title."), "\(refused.errors)")
    #expect(refused.errors.contains("--header-line"))
    #expect(try records("--header-line 3").map { $0["name"] as? String } == ["Apple"])
  }

  @Test(arguments: [
    ("Name;Preis\na;1,50\n", "sales.csv:2: “1,50” in the column “Preis” is a number", "Give --decimal comma,"),
    ("Name;Preis\na;1.234\n", "sales.csv:2: “1.234”", "Give --decimal point or --decimal comma,"),
    ("Name,Price\na,\"1,234\"\n", "sales.csv:2: “1,234”", "Give --decimal point or --decimal comma,"),
    (
      "Name;Tag\na;31.01.2026\n", "sales.csv:2: “31.01.2026”", "Give --dates dmy (all the values of the column fit it),"
    ),
    ("Name;Tag\na;01.02.2026\n", "sales.csv:2: “01.02.2026”", "Give --dates dmy or --dates mdy,"),
    ("Name,Day\na,1/31/26\n", "has two digits", "or read the column as text with --text Day."),
    ("Name,Note\na,\"x\nb,y\n", "sales.csv:2: A field begins with a quotation mark", "no closing one"),
    ("Name,Note\na,\"x\"y\n", "sales.csv:2: Text follows a closing quotation mark.", "twice"),
    ("Name,Note\na\n", "sales.csv:2: The row has 1 field, and there are 2 titles.", "quotation marks"),
    ("Name,Note\na,b,c\n", "sales.csv:2: The row has 3 fields", "--header-line"),
    ("Name,Note;x\na,b\n", "sales.csv:1: The line does not show which character", "--separator comma, semicolon"),
    ("Name\u{0}\na\n", "sales.csv:1: There is a zero byte", "--encoding utf-16"),
    ("", "The file is empty", "no store in it"), ("\n\n", "no line 1 with the titles", "sales.csv"),
  ])
  func whatIsNotClearIsRefused(_ text: String, _ problem: String, _ cure: String) throws {
    try write(text)
    let outcome = try heartwood("import", "sales.csv", "sales.heartwood")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(problem) && outcome.errors.contains(cure), "\(outcome.errors)")
    #expect(!folder.exists("sales.heartwood"))
  }

  @Test func anotherEncodingIsRefusedWithItsLine() throws {
    try write("Name\na\nÄpfel\n", encoding: .windowsCP1252)
    let outcome = try heartwood("import", "sales.csv")
    #expect(outcome.errors.contains("sales.csv:3: The text is not UTF-8."), "\(outcome.errors)")
    #expect(outcome.errors.contains("--encoding windows-1252"))
  }

  @Test func aDatabaseIsNoTable() throws {
    try write("SQLite format 3\0\u{10}\0")
    let outcome = try heartwood("import", "sales.csv")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("sales.csv: It is an SQLite database"), "\(outcome.errors)")
    #expect(outcome.errors.contains("sqlite3 -header -csv sales.csv"))
  }

  @Test func columnsAreReadAsTextIfTheUserSaysSo() throws {
    try write("Name;Preis;Tag\na;1,50;31.01.2026\n")
    let records = try records("--text Preis --text Tag")
    #expect(records.first?["preis"] as? String == "1,50" && records.first?["tag"] as? String == "31.01.2026")
    let unknown = try heartwood("import", "sales.csv", "--text", "Pries")
    #expect(unknown.errors.contains("There is no column “Pries”. Did you mean Preis?"), "\(unknown.errors)")
  }

  @Test func withoutADestinationNothingIsWritten() throws {
    try write("Name,Price\nApple,1\n")
    let names = try folder.names
    let outcome = try heartwood("import", "sales.csv")
    #expect(outcome.text.hasPrefix("sales.csv: 1 record of Sales\nname"), "\(outcome.text)")
    #expect(try folder.names == names)
  }

  @Test func whatIsThereIsReplacedOnlyWithForce() throws {
    try write("Name,Price\nApple,1\n")
    try folder.write("precious", to: "out.heartwood")
    let refused = try heartwood("import", "sales.csv", "out.heartwood")
    #expect(refused.status == 1 && refused.errors.contains("--force"), "\(refused.errors)")
    #expect(try folder.data("out.heartwood") == Data("precious".utf8))
    #expect(try heartwood("import", "sales.csv", "out.heartwood", "--force", "--quiet").status == 0)
    let modelless = try heartwood("import", "sales.csv", "out.csv")
    #expect(modelless.status == 1 && modelless.errors.contains("does not hold its model"), "\(modelless.errors)")
    let same = try heartwood("import", "sales.csv", "sales.csv", "--force")
    #expect(same.status == 1 && same.errors.contains("the same file"), "\(same.errors)")
  }

  @Test(arguments: [
    "import sales.csv --force", "import sales.csv --to CSV", "import sales.csv out --to Fax",
    "import sales.csv --separator ab", "import sales.csv --header-line 0", "import sales.csv --decimal dot",
  ])
  func wrongOptionsAreUsageErrors(_ arguments: String) throws {
    try write("Name\na\n")
    #expect(try heartwood.shell("heartwood \(arguments)").status == 64)
  }

  /// A store has a first line that a spreadsheet does not write.
  @Test(arguments: ["dump sales.csv", "convert sales.csv out.heartwood", "info sales.csv", "fetch sales.csv ToDo"])
  func commandsThatReadStoresSayHowTablesAreRead(_ line: String) throws {
    try write("\u{FEFF}Name,Price\nApple,1\n")
    let outcome = try heartwood.shell("heartwood \(line)")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("sales.csv:1: This CSV file is not a store"), "\(outcome.errors)")
    #expect(outcome.errors.contains("heartwood import"))
  }
}
