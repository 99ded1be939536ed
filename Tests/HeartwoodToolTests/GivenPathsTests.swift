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
    (["info", "junk.csv"], "/home/ann/here/junk.csv:1:1: bad", "junk.csv:1:1: bad"),
    (["info", "--model=d"], "/home/ann/here/d: bad", "d: bad"),
    (["info", "./d/"], "bad (/home/ann/here/d), or /home/ann/here/d.", "bad (./d/), or ./d/."),
    (["../M.xcdatamodeld"], "/home/ann/M.xcdatamodeld/contents: bad", "../M.xcdatamodeld/contents: bad"),
    (["ro/x.csv"], "The folder /home/ann/here/ro is not to be written", "The folder ro is not to be written"),
    (["."], "/home/ann/hereafter: bad", "/home/ann/hereafter: bad"),
    (["a"], "/private/home/ann/here/a and /home/ann/here/a.csv", "/private/home/ann/here/a and /home/ann/here/a.csv"),
    (["/home/ann/here/a"], "/home/ann/here/a: bad", "/home/ann/here/a: bad"),
    (["a\nb", "\n"], "a\nb: bad\nworse", "a\\nb: bad\nworse"),
    (["", "-", "--json"], "/home/ann/here: bad", "/home/ann/here: bad"),
  ])
  func filesAreCalledAsTheUserCallsThem(_ arguments: [String], _ message: String, _ shown: String) {
    #expect(GivenPaths(arguments, in: "/home/ann/here").shown(in: message) == shown)
  }

  @Test(arguments: [
    ("info junk.heartwood", "junk.heartwood: "), ("info junk.sqlite", "junk.sqlite: "),
    ("info ./junk.sqlite", "./junk.sqlite: "), ("fetch junk.csv ToDo", "junk.csv:1:1: "),
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
