import Dispatch
import HeartwoodFoundation
import HeartwoodStore
import Synchronization

/// What the requests to a ``StoreBrowser`` may take. A request that takes more is ended, and the page says which limit
/// it has met.
///
///     var limits = BrowserLimits()
///     limits.time = .seconds(5)
///     let browser = StoreBrowser([store], limits: limits)
public struct BrowserLimits: Sendable, Hashable {
  /// How long a query may take: the search for records, the values of a column, and finding the records of an export.
  /// Checking a store and comparing two of them are not limited. By default 30 seconds.
  public var time: Duration = .seconds(30)
  /// The number of records that one export may have. By default 10,000,000.
  public var exportedRecordCount = 10_000_000

  /// Makes the limits that `heartwood browse` has by default.
  public init() {}
}

// MARK: RequestWork

/// The work for one request. It ends when its time is up, or when the task of the request is cancelled because its
/// client has gone.
///
/// The fetches of a request have its ``progress``, so that they end within some milliseconds after it is cancelled.
final class RequestWork: Sendable {
  let limits: BrowserLimits
  let progress = FetchProgress()
  private let hasTimedOut = Atomic<Bool>(false)
  private static let timers = DispatchQueue(label: "Heartwood.RequestWork")

  init(_ limits: BrowserLimits) {
    self.limits = limits
  }

  /// Ends the work, if it goes on, with an error for which ``error(_:)`` knows the reason.
  func cancel() { progress.cancel() }

  /// Calls `body`, and cancels the work after the time of the limits. Waiting for earlier requests does not count.
  func limitingTime<Result>(_ body: () throws -> Result) throws -> Result {
    try check()
    // A task would wait for a cooperative thread, which a busy server may not have.
    let timer = DispatchWorkItem { [self] in
      hasTimedOut.store(true, ordering: .releasing)
      cancel()
    }
    Self.timers.asyncAfter(deadline: .now() + limits.time / .seconds(1), execute: timer)
    defer { timer.cancel() }
    do {
      return try body()
    } catch {
      throw self.error(error)
    }
  }

  /// Throws if the work was cancelled.
  func check() throws {
    if progress.isCancelled { throw error(CancellationError()) }
  }

  /// Returns the reason for an error: the time limit if that has ended the work.
  private func error(_ error: any Error) -> any Error {
    guard progress.isCancelled, error is CancellationError else { return error }
    return hasTimedOut.load(ordering: .acquiring) ? BrowserError.tooLate(limits.time) : BrowserError.abandoned
  }
}
