import Foundation
import HeartwoodModel
import HeartwoodStore
import Synchronization
import Testing

/// Stores that wait for what is asynchronous.
@Suite struct StoreWaiterTests {
  private struct Failure: Error, Equatable {}

  @Test func whatIsReturnedOrThrownComesBack() throws {
    let waiter = StoreWaiter(timeLimit: .seconds(30))
    let value = try waiter.wait(for: "Something") {
      await Task.yield()
      return 7
    }
    #expect(value == 7)
    #expect(throws: Failure()) { try waiter.wait(for: "Something") { () async throws -> Int in throw Failure() } }
  }

  @Test func whatDoesNotComeInTimeIsCancelledAndSaid() async throws {
    let (isCancelled, waiter) = (Flag(), StoreWaiter(timeLimit: .milliseconds(30)))
    let error = #expect(throws: PersistenceError.self) {
      try waiter.wait(for: "The service") {
        do { try await Task.sleep(for: .seconds(60)) } catch { isCancelled.set() }
      }
    }
    #expect(error?.code == .timeLimitExceeded)
    #expect(error?.problem.contains("The service did not answer within") == true)
    try await isCancelled.wait()
  }

  @Test func aTaskThatIsCancelledWaitsNoMore() async throws {
    let (hasBegun, isCancelled) = (Flag(), Flag())
    let task = Task {
      try StoreWaiter().wait(for: "The service") {
        hasBegun.set()
        do { try await Task.sleep(for: .seconds(60)) } catch { isCancelled.set() }
      }
    }
    try await hasBegun.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await isCancelled.wait()
  }

  /// As many wait as there are cooperative threads, and more: what they wait for needs none of these.
  @Test func noCooperativeThreadIsNeeded() async throws {
    let values = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<64 {
        group.addTask {
          try StoreWaiter(timeLimit: .seconds(60)).wait(for: "Something") {
            try await Task.sleep(for: .milliseconds(5))
            await Task.yield()
            return number
          }
        }
      }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(values.count == 64)
  }

  /// Something that happens once.
  private final class Flag: Sendable {
    private let isSet = Mutex(false)

    func set() { isSet.withLock { $0 = true } }

    func wait() async throws {
      let deadline = ContinuousClock.now + .seconds(60)
      while !isSet.withLock({ $0 }) {
        try #require(deadline > .now, "It did not happen.")
        try await Task.sleep(for: .milliseconds(2))
      }
    }
  }
}
