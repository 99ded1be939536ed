import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Runs work on all processors for code that waits for the result.
package enum Parallel {
  /// Returns the results of `body` for 0 up to `count`, in order. The calls run on all processors, in any order: on the
  /// caller's thread, and on those of ``WorkerThreads`` that are free. Spreading the work over the system's threads
  /// instead would occupy all of Swift's cooperative ones.
  package static func map<Value: Sendable>(_ count: Int, _ body: @Sendable (Int) -> Value) -> [Value] {
    let helperCount = min(count, processorCount) - 1
    guard helperCount > 0 else { return (0..<count).map(body) }
    let results = SpreadResults<Value>(count)
    // A task that was called off no longer holds the closure that makes its value.
    withoutActuallyEscaping(body) { body in
      let helpers = (0..<helperCount).map { _ in StealableTask { results.make(body) } }
      results.make(body)
      // Tasks that have not begun have nothing left to do.
      for helper in helpers { helper.callOff() }
    }
    return results.all
  }

  /// Returns the results of `body` for 0 up to `count`, in order. All calls are made; then the first failure by index
  /// is thrown.
  package static func tryMap<Value: Sendable>(_ count: Int, _ body: @Sendable (Int) throws -> Value) throws -> [Value] {
    try map(count) { index in Result { try body(index) } }.map { try $0.get() }
  }

  /// Passes the results of `produce` for 0 up to `count` to `consume`, in order, on the calling thread. The results are
  /// made on all processors, a few ahead of the one that is consumed; if no thread is free, the calling thread makes
  /// them.
  ///
  /// The first failure of `consume` ends the loop. No call of `produce` is still running when this returns.
  package static func forEach<Value: Sendable>(
    _ count: Int,
    produce: @escaping @Sendable (Int) -> Value,
    consume: (Value) throws -> Void
  ) throws {
    guard count > 1 else { return try (0..<count).forEach { try consume(produce($0)) } }
    let window = min(count, powerOfTwoProcessorCount * 2)
    var line: [StealableTask<Value>?] = (0..<window).map { index in StealableTask { produce(index) } }
    defer { for task in line { task?.callOff() } }
    for index in 0..<count {
      let (place, next) = (index % window, index + window)
      guard let value = line[place]?.take() else { break }
      line[place] = next < count ? StealableTask { produce(next) } : nil
      try consume(value)
    }
  }

  /// The number of processors.
  package static let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

  /// The number of processors, rounded down to a power of two.
  package static let powerOfTwoProcessorCount: Int = {
    let processors = min(64, processorCount)
    return 1 << (Int.bitWidth - 1 - processors.leadingZeroBitCount)
  }()
}

/// Results that several threads compute; each thread takes the next index when it has finished one.
private final class SpreadResults<Value: Sendable>: Sendable {
  private let next = Atomic(0)
  private let count: Int
  private let slots: Mutex<[Value?]>

  init(_ count: Int) {
    self.count = count
    slots = Mutex(Array(repeating: nil, count: count))
  }

  /// Computes results until none is left to begin.
  func make(_ body: (Int) -> Value) {
    while true {
      let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
      guard index < count else { return }
      let value = body(index)
      slots.withLock { $0[index] = value }
    }
  }

  var all: [Value] { slots.withLock { $0.compactMap(\.self) } }
}
