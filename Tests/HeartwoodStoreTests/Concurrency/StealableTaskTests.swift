import Dispatch
import Foundation
import HeartwoodStore
import Synchronization
import Testing

@Suite struct StealableTaskTests {
  /// A queue none of whose threads is free.
  private static func withBusyQueue(_ body: (DispatchQueue) throws -> Void) rethrows {
    let queue = DispatchQueue(label: "Errands")
    queue.suspend()
    // A queue that is suspended must not go.
    defer {
      queue.resume()
      queue.sync {}
    }
    try body(queue)
  }

  @Test func whatNobodyHasBegunIsMadeByWhoNeedsIt() {
    let count = Mutex(0)
    Self.withBusyQueue { queue in
      let task = StealableTask(on: queue) {
        count.withLock { count -> Int in
          count += 1
          return count
        }
      }
      #expect(task.take() == 1)
    }
    #expect(count.withLock { $0 } == 1, "the queue has come to it, and found it done")
  }

  @Test func whatIsCalledOffIsNotMade() {
    let isMade = Mutex(false)
    Self.withBusyQueue { queue in
      let task = StealableTask(on: queue) { isMade.withLock { $0 = true } }
      task.callOff()
      task.callOff()
    }
    #expect(!isMade.withLock { $0 })
  }

  @Test(arguments: [true, false])
  func whatHasBegunIsWaitedFor(_ isTaken: Bool) {
    let hasBegun = DispatchSemaphore(value: 0)
    let isMade = Mutex(false)
    let task = StealableTask(on: DispatchQueue(label: "Errands")) {
      hasBegun.signal()
      Thread.sleep(forTimeInterval: 0.05)
      isMade.withLock { $0 = true }
    }
    hasBegun.wait()
    if isTaken { task.take() } else { task.callOff() }
    #expect(isMade.withLock { $0 })
  }

  @Test func aLineIsInOrderAndEndsWhereItsConsumerFails() throws {
    var consumed: [Int] = []
    try Parallel.forEach(100, produce: { $0 * 2 }, consume: { consumed.append($0) })
    #expect(consumed == (0..<100).map { $0 * 2 })
    let produced = Mutex(0)
    #expect(throws: CancellationError.self) {
      try Parallel.forEach(1000) { _ in
        produced.withLock { $0 += 1 }
      } consume: {
        throw CancellationError()
      }
    }
    let count = produced.withLock { $0 }
    Thread.sleep(forTimeInterval: 0.02)
    #expect(produced.withLock { $0 } == count && count < 1000)
  }

  /// Each of many threads of the system's waits for a lock, whose holder would wait for one of them: it gets another one a second.
  @Test func aLineDoesNotWaitForThreads() {
    let lock = Mutex(0)
    let group = DispatchGroup()
    for _ in 0..<64 {
      DispatchQueue.global().async(group: group) {
        lock.withLock { total in
          try? Parallel.forEach(8, produce: { $0 }, consume: { total += $0 })
        }
      }
    }
    #expect(group.wait(timeout: .now() + 30) == .success)
    #expect(lock.withLock { $0 } == 64 * 28)
  }
}
