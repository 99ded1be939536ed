import Foundation
import Testing

/// Mistakes that people make on the command line: the answer says what to do.
@Suite struct MistakeTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test(arguments: [
    ("dump tood.csv", 1, "tood.csv: There is no such file. Did you mean todo.csv?"),
    ("dump ./tood.csv", 1, "There is no such file. Did you mean ./todo.csv?"),
    ("dump ToDo.xcdatamodeld", 1, "It is a model, and not a store. Give a store; heartwood model show prints a model."),
    ("convert todo.csv none/out.heartwood", 1, "No such file or directory. Create it, or choose another name."),
    ("convert todo.csv out.json", 1, "heartwood dump prints the records as JSON."),
    ("info to do.csv", 64, "A name or a condition with spaces needs quotation marks around it."),
    ("fetch todo.csv ToDo --where 'memo == foo'", 1, "Text is written in quotation marks."),
    ("fetch todo.csv ToDo --where 'done IS NULL'", 64, "Compare with == nil or != nil."),
    ("fetch todo.csv ToDo --where 'creationDate > 2016-01-01'", 1, "write the date as CAST("),
    ("info notes", 1, "Give the type with --type, or a name"),
    ("convert notes out.heartwood", 1, "Give the type with --from, or a name"),
  ])
  func theAnswerSaysWhatToDo(_ line: String, _ status: Int, _ advice: String) throws {
    try folder.write("notes", to: "notes")
    let outcome = try heartwood.shell("heartwood \(line)")
    #expect(outcome.status == Int32(status))
    #expect(outcome.errors.contains(advice), "\(outcome.errors)")
  }

  /// Apple's systems keep the newest records in a file beside the store, which is easily left behind.
  @Test func aFileWithoutItsLogIsNoted() throws {
    try folder.write("#D35CF030-1EC1-4667-9666-70C8247A1010\n", to: "todo.csv")
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite").status == 0)
    var bytes = try folder.data("todo.sqlite")
    bytes.replaceSubrange(18..<20, with: [2, 2])
    try bytes.write(to: folder.path("todo.sqlite"))
    let outcome = try heartwood("info", "todo.sqlite")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("It may have been copied without todo.sqlite-wal"), "\(outcome.errors)")
  }
}
