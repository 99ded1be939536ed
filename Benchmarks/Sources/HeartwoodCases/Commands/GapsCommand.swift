import ArgumentParser
import BenchmarkSupport
import Dispatch
import Foundation
import Heartwood
import Synchronization

/// Measures how long a task that wants to run every 10 ms has to wait while background contexts save.
struct GapsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gaps",
    abstract: "Save from background contexts, and measure the worst gap of a task that wants to run every 10 ms."
  )

  @Argument var path: String
  @Option var contexts = 2
  @Option var seconds = 3

  func run() throws {
    let coordinator = try ToDoObject.openContext(path).persistentStoreCoordinator
    let outcome = Mutex<Result<Gaps, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Task { [contexts, seconds] in
      let result: Result<Gaps, any Error>
      do {
        result = .success(try await Gaps.measured(coordinator, contexts, for: .seconds(seconds)))
      } catch {
        result = .failure(error)
      }
      outcome.withLock { $0 = result }
      isDone.signal()
    }
    isDone.wait()
    guard let gaps = try outcome.withLock({ $0 })?.get() else { throw CaseError("Nothing was measured.") }
    try CaseReport(seconds: gaps.worst.seconds, rows: gaps.saveCount).print()
  }
}

/// What a task has to wait for that is to run all the time.
private struct Gaps {
  let worst: Duration
  let saveCount: Int

  static func measured(
    _ coordinator: PersistentStoreCoordinator,
    _ contextCount: Int,
    for time: Duration
  ) async throws -> Gaps {
    let ticker = Task.detached {
      var (worst, last) = (Duration.zero, ContinuousClock.now)
      while !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(10))
        let now = ContinuousClock.now
        worst = max(worst, now - last)
        last = now
      }
      return worst
    }
    let end = ContinuousClock.now + time
    let saveCount = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<contextCount {
        let background = BackgroundContext(coordinator)
        group.addTask { try await saves(background, until: end) }
      }
      return try await group.reduce(0, +)
    }
    ticker.cancel()
    return Gaps(worst: await ticker.value, saveCount: saveCount)
  }

  private static func saves(_ background: BackgroundContext, until end: ContinuousClock.Instant) async throws -> Int {
    var count = 0
    while ContinuousClock.now < end {
      try await background.perform { context in
        for _ in 0..<10 { _ = try context.insert(ToDoObject.self) }
        try context.save()
      }
      count += 1
    }
    return count
  }
}
