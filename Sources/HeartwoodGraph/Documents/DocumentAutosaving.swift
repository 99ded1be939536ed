import Synchronization

/// Saves a document again and again, until it is told to stop or the document is gone.
final class DocumentAutosaving: Sendable {
  private let task = Mutex<Task<Void, Never>?>(nil)

  init() {}

  deinit {
    task.withLock { $0 }?.cancel()
  }

  /// Calls `save` after each `interval`, one call after the other. What was started before stops.
  ///
  /// - Parameter save: tells whether the document is still there.
  func start(every interval: Duration, _ clock: any Clock<Duration>, _ save: @escaping @Sendable () async -> Bool) {
    let new = Task {
      repeat {
        do { try await clock.sleep(for: interval) } catch { return }
        if Task.isCancelled { return }
      } while await save()
    }
    replace(by: new)
  }

  func stop() {
    replace(by: nil)
  }

  private func replace(by new: Task<Void, Never>?) {
    let old = task.withLock { task in
      defer { task = new }
      return task
    }
    old?.cancel()
  }
}
