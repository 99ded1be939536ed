import HeartwoodStore
public import Logging
import Synchronization

/// The switch of all ``LoggingStore``s, and where their messages go.
public enum StoreLogging {
  private struct State: Sendable {
    var isEnabled = true
    var logger = Logger(label: "heartwood.store")
  }

  private static let state = Mutex(State())

  /// Whether logging stores log. On by default.
  public static var isEnabled: Bool {
    get { state.withLock { $0.isEnabled } }
    set { state.withLock { $0.isEnabled = newValue } }
  }

  /// Where messages go: a logger with the label `heartwood.store`, unless another is set.
  public static var logger: Logger {
    get { state.withLock { $0.logger } }
    set { state.withLock { $0.logger = newValue } }
  }

  /// Runs `body`, and logs what it did and how long it took, or how it failed.
  static func log<Result>(
    _ action: String,
    _ type: StoreType,
    _ path: String,
    _ body: () throws -> Result,
    details: () -> Logger.Metadata = { [:] }
  ) rethrows -> Result {
    let (isEnabled, logger) = state.withLock { ($0.isEnabled, $0.logger) }
    guard isEnabled else { return try body() }
    let start = ContinuousClock.now
    var metadata: Logger.Metadata = ["type": "\(type)", "path": "\(path)"]
    do {
      let result = try body()
      metadata.merge(details()) { $1 }
      metadata["duration"] = "\(start.duration(to: .now))"
      logger.info("\(action)", metadata: metadata)
      return result
    } catch {
      metadata["error"] = "\(error)"
      logger.error("\(action) failed", metadata: metadata)
      throw error
    }
  }
}
