import Foundation

/// Calls `body`, which waits for stores, on a thread of its own: the server is in the same process, and needs Swift's cooperative threads.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}
