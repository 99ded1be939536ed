import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Work on all processors, for code that waits for it.
package enum Parallel {
  /// The results of `body` for 0 up to `count`, in order. The calls run on all processors, in any order.
  package static func map<Value: Sendable>(_ count: Int, _ body: @Sendable (Int) -> Value) -> [Value] {
    guard count > 1 else { return (0..<count).map(body) }
    let slots = Mutex<[Value?]>(Array(repeating: nil, count: count))
    DispatchQueue.concurrentPerform(iterations: count) { index in
      let value = body(index)
      slots.withLock { $0[index] = value }
    }
    return slots.withLock { $0.compactMap(\.self) }
  }

  /// The results of `body` for 0 up to `count`, in order. All calls are made; then the first failure by index is thrown.
  package static func tryMap<Value: Sendable>(_ count: Int, _ body: @Sendable (Int) throws -> Value) throws -> [Value] {
    try map(count) { index in Result { try body(index) } }.map { try $0.get() }
  }

  /// Gives the results of `produce` for 0 up to `count` to `consume`, in order, on the calling thread. The results are made on
  /// all processors, a few ahead of the one that is consumed; where no thread is free, the calling one makes them.
  ///
  /// The first failure of `consume` ends it. No call of `produce` goes on when this returns.
  package static func forEach<Value: Sendable>(
    _ count: Int,
    produce: @escaping @Sendable (Int) -> Value,
    consume: (Value) throws -> Void
  ) throws {
    guard count > 1 else { return try (0..<count).forEach { try consume(produce($0)) } }
    let window = min(count, powerOfTwoProcessorCount * 2)
    var line: [Errand<Value>?] = (0..<window).map { index in Errand { produce(index) } }
    defer { for errand in line { errand?.callOff() } }
    for index in 0..<count {
      let (place, next) = (index % window, index + window)
      guard let value = line[place]?.take() else { break }
      line[place] = next < count ? Errand { produce(next) } : nil
      try consume(value)
    }
  }

  /// How many processors there are, as the nearest power of two below.
  package static let powerOfTwoProcessorCount: Int = {
    let processors = max(1, min(64, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    return 1 << (Int.bitWidth - 1 - processors.leadingZeroBitCount)
  }()
}
