import Foundation
import Testing

@Suite struct GenerateTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test func humanFilesAreKeptAndMachineFilesAreWrittenAnew() throws {
    let first = try heartwood("generate", "ToDo.xcdatamodeld", "--output", "out")
    #expect(first.status == 0)
    #expect(first.lines == ["made ToDo.swift", "made ToDoModel.swift", "made _ToDo.swift"])
    try folder.write("// mine\n", to: "out/ToDo.swift")
    let machine = String(decoding: try folder.data("out/_ToDo.swift"), as: UTF8.self)
    let header = try #require(machine.split(separator: "\n").first)
    try folder.write(header + "\n// old\n", to: "out/_ToDo.swift")
    let second = try heartwood("generate", "ToDo.xcdatamodeld", "--output", "out")
    #expect(second.lines == ["kept ToDo.swift", "updated _ToDo.swift"])
    #expect(try folder.data("out/ToDo.swift") == Data("// mine\n".utf8))
    #expect(
      String(decoding: try folder.data("out/_ToDo.swift"), as: UTF8.self).contains("class _ToDo: ManagedObject {")
    )
  }

  @Test func aHumanFileThatCannotBeReadIsKept() throws {
    #expect(try heartwood("generate", "ToDo.xcdatamodeld", "--output", "out").status == 0)
    try folder.write("// mine\n", to: "out/ToDo.swift")
    let path = folder.path("out/ToDo.swift").path
    try FileManager.default.setAttributes([.posixPermissions: 0o200], ofItemAtPath: path)
    _ = try heartwood("generate", "ToDo.xcdatamodeld", "--output", "out")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(try folder.data("out/ToDo.swift") == Data("// mine\n".utf8))
  }

  @Test func filesOfEntitiesThatAreGoneAreListed() throws {
    try folder.write(
      "<model><entity name=\"Old\"><attribute name=\"a\" attributeType=\"String\"/></entity></model>",
      to: "contents"
    )
    #expect(try heartwood("generate", "contents", "--output", "out").status == 0)
    let outcome = try heartwood("generate", "ToDo.xcdatamodeld", "--output", "out")
    #expect(
      outcome.lines.filter { $0.hasPrefix("orphaned") } == [
        "orphaned Old.swift", "orphaned _Old.swift", "orphaned contentsModel.swift",
      ]
    )
  }

  @Test func oneFileHasAllClasses() throws {
    #expect(try heartwood("generate", "ToDo.xcdatamodeld", "--output-file", "out/All.swift", "--quiet").text == "")
    let text = String(decoding: try folder.data("out/All.swift"), as: UTF8.self)
    #expect(text.contains("final class ToDo: ManagedObject {"))
    #expect(text.contains("enum ToDoModel {"))
  }

  @Test func whatWasNotGeneratedIsNotReplaced() throws {
    try folder.write("// mine\n", to: "_ToDo.swift")
    for arguments in ["--output-file todo.csv", "--output-file _ToDo.swift", "--output ."] {
      let before = try folder.names
      let table = try folder.data("todo.csv")
      let outcome = try heartwood.shell("heartwood generate ToDo.xcdatamodeld \(arguments)")
      #expect(outcome.status == 1, "\(arguments)")
      #expect(outcome.errors.contains("There is a file already that was not generated"), "\(outcome.errors)")
      #expect(try folder.names == before)
      #expect(try folder.data("todo.csv") == table)
      #expect(try folder.data("_ToDo.swift") == Data("// mine\n".utf8))
    }
    let outcome = try heartwood("generate", "ToDo.xcdatamodeld", "--output-file", "ToDo.xcdatamodeld")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("ToDo.xcdatamodeld: It is not a file."))
    #expect(try heartwood("generate", "ToDo.xcdatamodeld", "--output-file", "-").status == 64)
    #expect(!folder.exists("-"))
  }

  @Test func whatWasGeneratedAndWhatIsEmptyIsReplaced() throws {
    try folder.write("", to: "all.swift")
    for access in ["internal", "public"] {
      let outcome = try heartwood.shell(
        "heartwood generate ToDo.xcdatamodeld --output-file all.swift --access \(access)"
      )
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.text == "updated all.swift\n")
    }
  }

  @Test func whatThePluginRunsWritesTheSameFile() throws {
    #expect(try heartwood("generate", "ToDo.xcdatamodeld", "--output-file", "all.swift").status == 0)
    let outcome = try heartwood.generator("ToDo.xcdatamodeld", "built.swift")
    #expect(outcome.status == 0 && outcome.text.isEmpty && outcome.errors.isEmpty)
    #expect(try folder.data("built.swift") == folder.data("all.swift"))
  }

  @Test func whatThePluginRunsTellsWhereAFaultIs() throws {
    try folder.write("<model>\n<entity name=\"A\" parentEntity=\"B\"/>\n</model>", to: "contents")
    let outcome = try heartwood.generator("contents", "built.swift")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("contents:2: A: The parent “B” does not exist."))
    #expect(try heartwood.generator("contents").status == 1)
  }

  @Test func templatesOfOnesOwnAreUsed() throws {
    try folder.write("// {{className}} {{what}}\n", to: "t")
    let outcome = try heartwood("generate", "ToDo.xcdatamodeld", "--output", "out", "--machine-template", "t")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("t:1: “what” is not known here"))
    let templates = try heartwood("generate", "--print-templates")
    #expect(templates.status == 0)
    #expect(templates.text.contains("{{#attributes}}"))
  }

  @Test func theModelIsCalledAsItsBundle() throws {
    #expect(
      try heartwood("generate", "ToDo.xcdatamodeld/ToDo.xcdatamodel/contents", "--output", "out").lines
        == ["made ToDo.swift", "made ToDoModel.swift", "made _ToDo.swift"]
    )
  }

  @Test(arguments: [
    ("--output out --human-template none", "error: none: No such file or directory."),
    ("--output /dev/null/x", "error: /dev/null/x: Not a directory."), ("--output-file /dev/null/x", "/dev/null"),
  ])
  func filesThatCannotBeReadOrWrittenAreTold(_ arguments: String, _ text: String) throws {
    let outcome = try heartwood.shell("heartwood generate ToDo.xcdatamodeld \(arguments)")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(text))
    #expect(!outcome.errors.contains("CocoaError"))
  }

  @Test(arguments: ["--base-class '1 x'", "--base-class ''", "--import 'a b'", "--import a..b"])
  func namesAreNames(_ arguments: String) throws {
    let outcome = try heartwood.shell("heartwood generate ToDo.xcdatamodeld --output out \(arguments)")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("is no name of a class or a module"))
  }

  @Test(arguments: ["ToDo.xcdatamodeld", "--output out", "ToDo.xcdatamodeld --output out --output-file f"])
  func whereToWriteIsSaidOnce(_ arguments: String) throws {
    #expect(try heartwood.shell("heartwood generate \(arguments)").status == 64)
  }
}
