import ArgumentParser
import Foundation
import Heartwood
import Testing

@testable import todo

/// A folder that goes with its test.
private final class Folder {
  let url = FileManager.default.temporaryDirectory.appending(path: "todo-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  func path(_ name: String) -> String { url.appending(path: name).path }
}

@Suite struct ToDoTests {
  private let folder: Folder

  init() throws {
    folder = try Folder()
  }

  /// Runs the application as the shell does.
  private func run(_ arguments: String..., file: String) async throws {
    try await run(arguments, file: file)
  }

  private func run(_ arguments: [String], file: String) async throws {
    var command = try ToDoCommand.parseAsRoot(arguments + ["--file", folder.path(file)])
    if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
  }

  private func lines(_ file: String, includingDone: Bool = true) async throws -> [String] {
    try await FileOptions.parse(["--file", folder.path(file)]).withList { list in
      try await list.lines(includingDone: includingDone)
    }
  }

  @Test(arguments: ["list.heartwood", "list.csv", "list.xml", "list.plist", "list.sqlite"])
  func aListIsKeptInAnyFile(_ file: String) async throws {
    for memo in ["Bread", "Milk", "Cheese"] { try await run("add", memo, file: file) }
    try await run("add", "Wine", "--due", "2026-12-24", "--priority", "high", file: file)
    try await run("done", "2", file: file)
    try await run("move", "4", "1", file: file)
    try await run("remove", "2", file: file)
    #expect(try await lines(file) == ["1. [ ] Wine ! (2026-12-24)", "2. [x] Milk", "3. [ ] Cheese"])
    try await run("done", "2", "--undo", file: file)
    try await run("done", "3", file: file)
    #expect(try await lines(file, includingDone: false) == ["1. [ ] Wine ! (2026-12-24)", "2. [ ] Milk"])
    try await run("list", file: file)
  }

  @Test(arguments: ["csv", "xml", "plist", "heartwood", "sqlite"], ["list.heartwood", "list.sqlite"])
  func aListIsExported(_ type: String, from list: String) async throws {
    try await run("add", "Bread", file: list)
    try await run("export", folder.path("copy.\(type)"), file: list)
    #expect(try await lines("copy.\(type)") == ["1. [ ] Bread"])
    await #expect(throws: PersistenceError.self) {
      try await run("export", folder.path("copy.\(type)"), file: list)
    }
    try await run("export", "--force", folder.path("copy.\(type)"), file: list)
    #expect(try await lines("copy.\(type)") == ["1. [ ] Bread"])
  }

  @Test func aNumberThatIsNotThereIsAnError() async throws {
    for arguments in [["done", "1"], ["remove", "0"], ["move", "1", "1"]] {
      await #expect(throws: NoSuchToDo.self) { try await run(arguments, file: "list.csv") }
    }
    #expect(throws: (any Error).self) { try ToDoCommand.parseAsRoot(["add", "Bread", "--due", "tomorrow"]) }
  }

  @Test func aToDoIsAddedBehindTheGreatestNumber() async throws {
    for memo in ["Bread", "Milk"] { try await run("add", memo, file: "list.csv") }
    try await FileOptions.parse(["--file", folder.path("list.csv")]).withList { list in
      try await list.write { _, toDos in toDos[1].sortOrder = .max }
    }
    try await run("add", "Wine", file: "list.csv")
    #expect(try await lines("list.csv") == ["1. [ ] Bread", "2. [ ] Milk", "3. [ ] Wine"])
  }

  /// Makes a file as the first version of the application did, and runs this one over it.
  @Test(arguments: ["list.heartwood", "list.xml", "list.plist", "list.csv", "list.sqlite"])
  func aFileOfTheFirstVersionIsMigrated(_ file: String) async throws {
    let bundle = ToDoList.modelBundle.appending(path: "ToDo.xcdatamodeld")
    let first = try ManagedObjectModel(contentsOf: bundle, version: "ToDo")
    #expect(first.entity(named: "ToDo")?.attributes.map(\.name) == ["done", "memo", "sortOrder", "creationDate"])
    let old = try await PersistentContainer.open(
      "ToDo",
      at: PersistentStoreDescription(url: URL(filePath: folder.path(file))),
      managedObjectModel: first,
      registry: try ToDoList.registry.get()
    )
    try await old.write { context in
      for (number, memo) in ["Bread", "Milk"].enumerated() {
        let toDo = try context.insert(entityName: "ToDo")
        try toDo.setValue(memo, forKey: "memo")
        try toDo.setValue(number + 1, forKey: "sortOrder")
      }
    }
    old.close()
    try await run("add", "Wine", "--due", "2026-12-24", file: file)
    #expect(try await lines(file) == ["1. [ ] Bread", "2. [ ] Milk", "3. [ ] Wine (2026-12-24)"])
  }

  /// The file that lies beside the model is of the first version, too.
  @Test func theExampleFileIsMigrated() async throws {
    let example = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../todo.csv")
    try FileManager.default.copyItem(atPath: example.standardized.path, toPath: folder.path("todo.csv"))
    let count = try String(contentsOfFile: folder.path("todo.csv"), encoding: .utf8).split(separator: "\n").count - 1
    #expect(try await lines("todo.csv").count == count)
  }
}
