import ArgumentParser
import BenchmarkSupport
import Foundation
import Heartwood

/// Makes a new store of to-dos through managed objects.
struct InsertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "insert", abstract: "Insert to-dos and save them.")

  @Argument var path: String
  @Option var rows = 1_000_000
  @Flag(help: "Keep the save in the store's history.") var history = false
  @Option(help: "What the model has beside the attributes.") var with: ModelAddition?

  func run() throws {
    try? FileManager.default.removeItem(atPath: path)
    let toDos = Array(ToDoSequence(count: rows))
    let clock = ContinuousClock()
    let start = clock.now
    let context = try ToDoObject.openContext(path, tracksHistory: history, with: with)
    for (place, toDo) in toDos.enumerated() {
      let object = try context.insert(ToDoObject.self)
      object.isDone = toDo.isDone
      object.memo = toDo.memo
      object.sortOrder = with == .unique ? Int64(place) : toDo.sortOrder
      object.creationDate = toDo.creationDate
    }
    let inserted = clock.now
    try context.save()
    let end = clock.now
    try CaseReport(
      seconds: (end - start).seconds,
      rows: try context.count(entityName: ToDoObject.entityName),
      details: ["insert": (inserted - start).seconds, "save": (end - inserted).seconds]
    ).print()
  }
}
