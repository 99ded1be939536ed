import Foundation
import Testing

@testable import HeartwoodTool

/// What messages call the files that the user has named.
@Suite struct GivenPathsTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test(arguments: [
    (["info", "junk.csv"], "/home/ann/here/junk.csv", "junk.csv"),
    (["info", "--model=d"], "/home/ann/here/d", "d"), (["info", "./d/"], "/home/ann/here/d", "./d/"),
    (["info", "./d/"], "/home/ann/here/d/a.csv", "./d/a.csv"),
    (["../M.xcdatamodeld"], "/home/ann/M.xcdatamodeld/contents", "../M.xcdatamodeld/contents"),
    (["ro/x.csv"], "/home/ann/here/ro", "ro"), (["."], "/home/ann/hereafter", "/home/ann/hereafter"),
    (["a"], "/private/home/ann/here/a", "/private/home/ann/here/a"),
    (["a"], "/home/ann/here/a.csv", "/home/ann/here/a.csv"), (["a", "a/b"], "/home/ann/here/a/b/c", "a/b/c"),
    (["/home/ann/here/a"], "/home/ann/here/a", "/home/ann/here/a"), (["a\nb", "\n"], "a\nb", "a\\nb"),
    (["", "-", "--json"], "/home/ann/here", "/home/ann/here"),
  ])
  func filesAreCalledAsTheUserCallsThem(_ arguments: [String], _ path: String, _ shown: String) {
    #expect(GivenPaths(arguments, in: "/home/ann/here").shown(path: path) == shown)
  }

  @Test(arguments: [
    ("info junk.heartwood", "junk.heartwood: "), ("info junk.sqlite", "junk.sqlite: "),
    ("info ./junk.sqlite", "./junk.sqlite: "), ("fetch junk.csv ToDo", "junk.csv:1: "),
    ("migrate junk.csv --to-model ToDo.xcdatamodeld", "junk.csv:1:1: "),
    ("info todo.csv --model empty", "empty: "), ("info todo.csv --model=./empty", "./empty: "),
    ("generate ToDo.xcdatamodeld --output-file empty/../todo.csv", "empty/../todo.csv: "),
  ])
  func errorsNameFilesAsTheyWereGiven(_ arguments: String, _ beginning: String) throws {
    for name in ["junk.heartwood", "junk.sqlite", "junk.csv"] { try folder.write("junk", to: name) }
    try FileManager.default.createDirectory(at: folder.path("empty"), withIntermediateDirectories: true)
    let outcome = try heartwood.shell("heartwood \(arguments)")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("heartwood: error: \(beginning)"), "\(outcome.errors)")
  }

  @Test(arguments: [
    ["info", "$"], ["convert", "todo.csv", "$"], ["info", "todo.csv", "--model", "$"],
    ["info", "todo.csv", "--model=$"],
    ["generate", "ToDo.xcdatamodeld", "--output", "$"], ["convert", "todo.csv", "todo.csv$/x.heartwood"],
  ])
  func aNameForgesNoLine(_ arguments: [String]) throws {
    let name = "bad\nheartwood: error: forged"
    if arguments != ["info", "$"] { try folder.write("junk", to: name) }
    let outcome = try heartwood(arguments.map { $0.replacing("$", with: name) })
    #expect(outcome.status == 1)
    #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    #expect(outcome.errors.contains(#"bad\nheartwood: error: forged"#), "\(outcome.errors)")
  }

  @Test func aWrongArgumentForgesNoLineEither() throws {
    let outcome = try heartwood("info", "todo.csv", "bad\nheartwood: error: forged")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains(#"bad\nheartwood: error: forged"#), "\(outcome.errors)")
  }
}
