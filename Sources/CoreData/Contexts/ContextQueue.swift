import Dispatch
import Foundation

/// The type of a context's queue.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// The context belongs to the thread that uses it; `perform` runs blocks at once.
  case confinementConcurrencyType = 0
  /// The context has a queue of its own.
  case privateQueueConcurrencyType = 1
  /// The context belongs to the main queue.
  case mainQueueConcurrencyType = 2
}

/// The queue of a context.
final class ContextQueue: Sendable {
  let type: NSManagedObjectContextConcurrencyType
  private let queue: DispatchQueue?
  private let key = DispatchSpecificKey<Bool>()

  /// Marks the main queue, which any thread may run once the program waits for it.
  private static let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  init(_ type: NSManagedObjectContextConcurrencyType) {
    self.type = type
    switch type {
    case .confinementConcurrencyType: queue = nil
    case .privateQueueConcurrencyType: queue = DispatchQueue(label: "NSManagedObjectContext")
    case .mainQueueConcurrencyType: queue = .main
    }
    if type == .privateQueueConcurrencyType { queue?.setSpecific(key: key, value: true) }
  }

  /// Whether the current code runs on the queue.
  var isCurrent: Bool {
    switch type {
    case .confinementConcurrencyType: true
    case .privateQueueConcurrencyType: DispatchQueue.getSpecific(key: key) == true
    case .mainQueueConcurrencyType: Thread.isMainThread || DispatchQueue.getSpecific(key: Self.mainKey) == true
    }
  }

  /// Runs `body` on the queue and waits; on the queue itself, it runs it at once.
  func sync<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let queue, !isCurrent else { return try body() }
    return try queue.sync(execute: body)
  }

  /// Runs `body` on the queue, later.
  func async(_ body: @escaping () -> Void) {
    guard let queue else { return body() }
    let work = Work(body)
    queue.async { work.body() }
  }
}

/// A block on its way to the queue of a context.
// `@unchecked Sendable`: Core Data's API takes blocks that are not Sendable, and leaves it to the caller that they touch
// nothing of other threads.
struct Work<Body>: @unchecked Sendable {
  let body: Body

  init(_ body: Body) { self.body = body }
}
