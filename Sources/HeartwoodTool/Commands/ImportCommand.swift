import ArgumentParser
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Makes a store of a table: a CSV or TSV file of a spreadsheet or a database.",
    discussion: """
      The first line has the titles of the columns. Each column becomes an attribute, and each row a record. The types \
      are those that fit all values of a column: boolean (true, false, yes, no), whole number, decimal number, date, or \
      else text. Empty fields have no value. Without a destination, nothing is written, and the columns are printed.

      Found in the file: commas, semicolons, tabs or bars between the columns, a first line such as sep=; and a byte \
      order mark. Fields in quotation marks may have line breaks. Numbers with leading zeros are text.

      What can be read in two ways is refused, with the line and the option to give: --dates for 31.01.2026 and \
      1/31/2026, --decimal for 1.234,56 and 1,234.56, --encoding for text that is not UTF-8. Dates without a zone are in \
      UTC.

      heartwood migrate moves the records to a model of your own.

      EXAMPLE
        heartwood import sales.csv
        heartwood import sales.csv sales.heartwood --decimal comma --dates dmy
        heartwood import customers.csv customers.sqlite --entity Customer --text ZIP
      """
  )

  @Argument(help: "The table to read.", completion: .file())
  var table: String

  @Argument(
    help: "The store to write. The extension of a file, or the scheme of a URL, determines the type.",
    completion: .file()
  )
  var destination: String?

  @Option(help: "The name of the entity. By default, it is made of the name of the file.")
  var entity: String?

  @Option(help: "What separates the columns: comma, semicolon, tab, pipe, or another character.")
  var separator: String?

  @Option(help: "The encoding of the text, if it is not UTF-8 and has no byte order mark.")
  var encoding: TableEncoding?

  @Option(help: "The sign before the fraction of a number; the other one may separate groups of digits.")
  var decimal: DecimalSign?

  @Option(help: "The order of day, month and year in dates such as 31.01.2026.")
  var dates: DateOrder?

  @Option(help: ArgumentHelp("The line with the titles of the columns.", valueName: "line"))
  var headerLine = 1

  @Option(
    help: ArgumentHelp("The title of a column to read as text. It may be given several times.", valueName: "title")
  )
  var text: [String] = []

  @Option(help: ArgumentHelp("The type of the destination, if its extension does not show it.", valueName: "type"))
  var to: String?

  @Flag(help: "Replace the destination if it exists.")
  var force = false

  @Flag(help: "Print nothing unless it fails.")
  var quiet = false

  func validate() throws {
    try TypeName.check(to, "--to")
    guard headerLine > 0 else { throw ValidationError("--header-line: Lines are counted from 1.") }
    if let separator, TableReader.separator(named: separator) == nil {
      throw ValidationError("--separator: Give comma, semicolon, tab, pipe, or one character of ASCII.")
    }
    if destination == nil, force || to != nil { throw ValidationError("--force and --to require a destination.") }
  }

  func run() throws {
    let options = TableOptions(
      separator: separator.flatMap { TableReader.separator(named: $0) },
      encoding: encoding,
      decimal: decimal,
      dates: dates,
      headerLine: headerLine,
      textTitles: Set(text)
    )
    let result = try TableImport(path: table, entityName: entity, options: options).run(
      to: destination.map { Destination(path: $0, typeName: to, isReplaced: force) }
    )
    guard !quiet else { return }
    try StandardOutput.report(report(result), of: "The store was written", at: destination ?? table)
  }

  /// Returns the number of records, and a line for each column.
  private func report(_ result: TableImport.Result) -> String {
    let count = Quantity.text(result.recordCount, "record")
    let place = DisplayText.safe(StorePlace(argument: destination ?? table).description)
    let lines = result.columns.map { column in
      let note = column.note.map { " (\($0))" } ?? ""
      return (label: column.name, text: "\(column.kind.attributeType.rawValue), from “\(column.title)”\(note)")
    }
    return "\(place): \(count) of \(result.entityName)\n" + LabelledLines.text(lines)
  }
}
