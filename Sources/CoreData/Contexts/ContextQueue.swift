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
    case .privateQueueConcurrencyType: DispatchQueue.getSpecific(key: key) == true || HeldQueues.contains(self)
    case .mainQueueConcurrencyType: Self.isMain || HeldQueues.containsMain
    }
  }

  /// Whether the main queue runs the current code, and not one that it waits for.
  fileprivate static var isMain: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: mainKey) == true }

  /// Runs `body` on the queue and waits; on the queue itself, it runs it at once.
  func sync<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let queue, !isCurrent else { return try body() }
    let held = HeldQueues.adding(self)
    return try queue.sync { try HeldQueues.with(held, body) }
  }

  /// Runs `body` on the queue, later.
  func async(_ body: @escaping () -> Void) {
    guard let queue else { return body() }
    let work = Work(body)
    let held = HeldQueues.only(self)
    queue.async { HeldQueues.with(held, work.body) }
  }
}

/// The queues that wait for the current code: a context that is used on another's queue may need the first one again,
/// as its parent does.
private struct HeldQueues {
  private var contexts: Set<ObjectIdentifier> = []
  private var hasMain = false

  private static let key = "CoreData.HeldQueues"

  private static var current: HeldQueues {
    Thread.current.threadDictionary[key] as? HeldQueues ?? HeldQueues()
  }

  static func contains(_ queue: ContextQueue) -> Bool { current.contexts.contains(ObjectIdentifier(queue)) }

  static var containsMain: Bool { current.hasMain }

  /// Returns the queues that wait, with one that the current code is to wait for.
  static func adding(_ queue: ContextQueue) -> HeldQueues {
    var held = current
    held.add(queue)
    held.hasMain = held.hasMain || ContextQueue.isMain
    return held
  }

  static func only(_ queue: ContextQueue) -> HeldQueues {
    var held = HeldQueues()
    held.add(queue)
    return held
  }

  private mutating func add(_ queue: ContextQueue) {
    if queue.type == .mainQueueConcurrencyType { hasMain = true } else { contexts.insert(ObjectIdentifier(queue)) }
  }

  /// Runs `body` on the queue that was added last.
  static func with<Result>(_ held: HeldQueues, _ body: () throws -> Result) rethrows -> Result {
    let outer = Thread.current.threadDictionary[key]
    Thread.current.threadDictionary[key] = held
    defer { Thread.current.threadDictionary[key] = outer }
    return try body()
  }
}

/// A block on its way to the queue of a context.
// `@unchecked Sendable`: Core Data's API takes blocks that are not Sendable, and leaves it to the caller that they touch
// nothing of other threads.
struct Work<Body>: @unchecked Sendable {
  let body: Body

  init(_ body: Body) { self.body = body }
}
