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

  /// How many processors there are, as the nearest power of two below.
  package static let powerOfTwoProcessorCount: Int = {
    let processors = max(1, min(64, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    return 1 << (Int.bitWidth - 1 - processors.leadingZeroBitCount)
  }()
}
