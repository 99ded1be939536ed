import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Makes a new store of to-dos in one save.
struct InsertItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "insert", abstract: "Insert to-dos and save them.")

  @Argument var path: String
  @Option var rows = 1_000_000

  func run() throws {
    Item.remove(path)
    let context = try Item.openContext(path)
    let clock = ContinuousClock()
    let start = clock.now
    for toDo in ToDoSequence(count: rows) { try context.insert(Item.self).take(toDo) }
    let inserted = clock.now
    try context.save()
    let end = clock.now
    try CaseReport(
      seconds: (end - start).seconds,
      rows: try context.count(entityName: Item.entityName),
      details: ["insert": (inserted - start).seconds, "save": (end - inserted).seconds]
    ).print()
  }
}

/// Makes a new store of lists with to-dos.
struct InsertListsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "insert-lists", abstract: "Insert lists of to-dos.")

  @Argument var path: String
  @Option var lists = 10_000
  @Option var items = 10

  func run() throws {
    Item.remove(path)
    let context = try Item.openContext(path)
    let clock = ContinuousClock()
    let duration = try clock.measure {
      var toDos = ToDoSequence(count: lists * items).makeIterator()
      let owners = try (0..<lists).map { _ in try context.insert(List.self) }
      // The to-dos of a list lie apart, as they do after some time.
      for _ in 0..<items {
        for owner in owners {
          guard let toDo = toDos.next() else { continue }
          let item = try context.insert(Item.self)
          item.take(toDo)
          item[Item.listKey] = owner
        }
      }
      try context.save()
    }
    try CaseReport(seconds: duration.seconds, rows: try context.count(entityName: Item.entityName)).print()
  }
}
