import ArgumentParser
import BenchmarkSupport
import Foundation
import Heartwood

/// Makes a new store of to-dos that lead to each other through managed objects.
struct LinkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link",
    abstract: "Insert to-dos with a to-one relationship and save them."
  )

  @Argument var path: String
  @Option var rows = 100_000

  func run() throws {
    try? FileManager.default.removeItem(atPath: path)
    let toDos = Array(ToDoSequence(count: rows))
    let clock = ContinuousClock()
    let start = clock.now
    let context = try TaskObject.openContext(path)
    var previous: TaskObject?
    for toDo in toDos {
      let object = try context.insert(TaskObject.self)
      object.isDone = toDo.isDone
      object.memo = toDo.memo
      object.sortOrder = toDo.sortOrder
      object.creationDate = toDo.creationDate
      object.previous = previous
      previous = object
    }
    let inserted = clock.now
    try context.save()
    let end = clock.now
    try CaseReport(
      seconds: (end - start).seconds,
      rows: try context.count(entityName: TaskObject.entityName),
      details: ["insert": (inserted - start).seconds, "save": (end - inserted).seconds]
    ).print()
  }
}
