import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Keeps all to-dos in the order of their places while one of them gets another, again and again.
struct LiveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "live",
    abstract: "Keep a list of all to-dos while one of them changes."
  )

  @Argument var path: String
  @Flag(help: "Fetch the list after each change, instead of keeping it.") var again = false

  /// Hears of each change.
  private final class Listener: FetchedResultsControllerDelegate {
    var moves = 0

    func controller(
      _ controller: FetchedResultsController<ToDoObject>,
      didChangeContent changes: FetchedResultsChanges<ToDoObject>
    ) {
      moves += 1
    }
  }

  func run() throws {
    let context = try ToDoObject.openContext(path)
    let request = FetchRequest<ToDoObject>(sortedBy: [ToDoObject.sortOrderKey.ascending])
    let objects = try context.fetch(request)
    guard let moving = objects.first else { throw CaseError("There are no to-dos.") }
    let result = try again ? fetching(request, moving, context) : listening(request, moving, context)
    try CaseReport(seconds: result.seconds, rows: result.rows).print()
  }

  private func fetching(
    _ request: FetchRequest<ToDoObject>,
    _ moving: ToDoObject,
    _ context: ManagedObjectContext
  ) throws -> (seconds: Double, rows: Int) {
    try Repetition.median {
      Self.move(moving)
      return try context.fetch(request).count
    }
  }

  private func listening(
    _ request: FetchRequest<ToDoObject>,
    _ moving: ToDoObject,
    _ context: ManagedObjectContext
  ) throws -> (seconds: Double, rows: Int) {
    let controller = FetchedResultsController(request, in: context)
    let listener = Listener()
    controller.delegate = listener
    try controller.performFetch()
    var changes = 0
    let result = Repetition.median {
      Self.move(moving)
      changes += 1
      context.processPendingChanges()
      return controller.numberOfObjects
    }
    guard listener.moves == changes else {
      throw CaseError("\(listener.moves) of \(changes) changes were told.")
    }
    return result
  }

  private static func move(_ toDo: ToDoObject) {
    toDo.sortOrder = (toDo.sortOrder + 370_003) % 1_000_000
  }
}
