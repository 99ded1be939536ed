import ArgumentParser
import BenchmarkSupport
import Foundation
import Heartwood

/// Asks a binary store something, again and again.
struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Ask a binary store something, again and again."
  )

  enum Query: String, ExpressibleByArgument, CaseIterable {
    case filter, count, equality, group, groupMany = "group-many", sort, predicate, update, insert
  }

  @Argument var query: Query
  @Argument var path: String
  @Option var rows = 0
  @Option(help: "What the model has beside the attributes.") var with: ModelAddition?

  func run() throws {
    if query == .update || query == .insert { return try runBatch() }
    let context = try ToDoObject.openContext(path, with: with)
    let result = try Repetition.median { try rows(context) }
    try CaseReport(seconds: result.seconds, rows: result.rows).print()
  }

  private func rows(_ context: ManagedObjectContext) throws -> Int {
    switch query {
    case .filter:
      return try context.fetchObjectIDs(
        FetchRequest<ToDoObject>(
          where: ToDoObject.doneKey == true && ToDoObject.memoKey.contains("tea"),
          sortedBy: [ToDoObject.sortOrderKey.ascending],
          limit: 100
        )
      ).count
    case .count: return try context.count(ToDoObject.self, where: ToDoObject.doneKey == true)
    case .equality:
      return try context.fetchObjectIDs(
        FetchRequest<ToDoObject>(where: ToDoObject.sortOrderKey == ToDoSequence.wantedPlace)
      ).count
    case .group: return try groups(of: context, by: "done")
    case .groupMany: return try groups(of: context, by: "sortOrder")
    case .sort:
      return try context.fetchObjectIDs(FetchRequest<ToDoObject>(sortedBy: [ToDoObject.sortOrderKey.ascending])).count
    default: return try compile(context)
    }
  }

  private func groups(of context: ManagedObjectContext, by key: String) throws -> Int {
    let total = ExpressionDescription.sum(of: "sortOrder", as: "total")
    return try context.fetchRows(
      ToDoObject.self,
      [ExpressionDescription(key), total],
      groupedBy: [ExpressionDescription(key)]
    )
    .count
  }

  /// Parses and checks a predicate; the store below is empty, so that nothing is evaluated.
  private func compile(_ context: ManagedObjectContext) throws -> Int {
    let predicate = try FetchPredicate(
      format: "done == YES AND memo CONTAINS[c] %@ AND (sortOrder BETWEEN {1, 99} OR creationDate < %@)",
      "abc",
      Date.distantFuture
    )
    return try context.count(ToDoObject.self, where: predicate)
  }

  /// Changes or makes all records, once.
  private func runBatch() throws {
    let context = try ToDoObject.openContext(path)
    let clock = ContinuousClock()
    var count = 0
    let duration = try clock.measure {
      count = try query == .update ? update(context) : insert(context)
    }
    try CaseReport(seconds: duration.seconds, rows: count).print()
  }

  private func update(_ context: ManagedObjectContext) throws -> Int {
    let expression = try FetchExpression(format: "sortOrder + 1")
    return try context.execute(
      BatchUpdateRequest(entityName: "ToDo", propertiesToUpdate: ["done": true, "sortOrder": expression])
    ).count
  }

  private func insert(_ context: ManagedObjectContext) throws -> Int {
    var toDos = ToDoSequence(count: rows).makeIterator()
    return try context.execute(
      BatchInsertRequest(entityName: "ToDo") { row in
        guard let toDo = toDos.next() else { return false }
        row[ToDoObject.doneKey] = toDo.isDone
        row[ToDoObject.memoKey] = toDo.memo
        row[ToDoObject.sortOrderKey] = Int64(toDo.sortOrder)
        row["creationDate"] = .date(toDo.creationDate)
        return true
      }
    ).count
  }
}
