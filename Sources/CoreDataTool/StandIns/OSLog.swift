// A small module in place of OSLog and os, for tests of packages that use a little of them: locks, and logs that go to
// the standard error.

import Foundation

// MARK: Locks

/// A lock around a state.
public final class OSAllocatedUnfairLock<State>: @unchecked Sendable {
  // `@unchecked Sendable`: the lock protects the state.
  fileprivate let guardian = NSLock()
  private var state: State

  /// Creates a lock around a state that other threads may see.
  public init(initialState: State) where State: Sendable { state = initialState }

  /// Creates a lock around any state.
  public init(uncheckedState initialState: State) { state = initialState }

  /// Runs `body` with the state while no other thread does.
  public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
    try withLockUnchecked(body)
  }

  /// Runs `body` with the state while no other thread does.
  public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    guardian.lock()
    defer { guardian.unlock() }
    return try body(&state)
  }
}

extension OSAllocatedUnfairLock where State == Void {
  /// Creates a lock.
  public convenience init() { self.init(uncheckedState: ()) }

  /// Runs `body` while no other thread does.
  public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
    try withLockUnchecked { _ in try body() }
  }

  /// Waits for the lock and takes it.
  public func lock() { guardian.lock() }

  /// Releases the lock.
  public func unlock() { guardian.unlock() }
}

// MARK: Logs

/// A place for messages.
public final class OSLog: Sendable {
  let category: String
  let isEnabled: Bool

  /// Creates a place for messages of a part of a program.
  public init(subsystem: String, category: String) {
    self.category = "\(subsystem) \(category)"
    isEnabled = true
  }

  private init() { (category, isEnabled) = ("", false) }

  /// A place for nothing.
  public static let disabled = OSLog()
  /// The place for all messages.
  public static let `default` = OSLog(subsystem: "", category: "")
}

/// How important a message is.
public struct OSLogType: Equatable, Sendable {
  let name: String

  /// A message of no special kind.
  public static let `default` = OSLogType(name: "default")
  /// A message that helps to find mistakes.
  public static let debug = OSLogType(name: "debug")
  /// A message that is good to know.
  public static let info = OSLogType(name: "info")
  /// A message about an error.
  public static let error = OSLogType(name: "error")
  /// A message about a mistake in the program.
  public static let fault = OSLogType(name: "fault")
}

/// Who may read a part of a message. It is shown to everyone here.
public struct OSLogPrivacy: Sendable {
  /// Everyone may read it.
  public static let `public` = OSLogPrivacy()
  /// Only developers may read it.
  public static let `private` = OSLogPrivacy()
  /// The system decides.
  public static let auto = OSLogPrivacy()
}

/// A message whose parts may say who may read them.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  /// The text so far.
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    var text = ""

    /// Begins a text.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Adds a text.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a value.
    public mutating func appendInterpolation(_ value: Any?, privacy: OSLogPrivacy = .auto) {
      text += value.map { "\($0)" } ?? "nil"
    }
  }

  let text: String

  /// Creates a message of a text.
  public init(stringLiteral value: String) { text = value }

  /// Creates a message of parts.
  public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}

/// Writes messages.
public struct Logger: Sendable {
  private let log: OSLog

  /// Creates a writer of messages of a part of a program.
  public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

  /// Creates a writer of messages.
  public init(_ logObj: OSLog) { log = logObj }

  /// Writes a message.
  public func log(level: OSLogType = .default, _ message: OSLogMessage) {
    guard log.isEnabled else { return }
    FileHandle.standardError.write(Data("\(level.name): \(log.category): \(message.text)\n".utf8))
  }

  /// Writes a message that helps to find mistakes.
  public func debug(_ message: OSLogMessage) { log(level: .debug, message) }
  /// Writes a message that helps to find mistakes.
  public func trace(_ message: OSLogMessage) { log(level: .debug, message) }
  /// Writes a message that is good to know.
  public func info(_ message: OSLogMessage) { log(level: .info, message) }
  /// Writes a message of no special kind.
  public func notice(_ message: OSLogMessage) { log(message) }
  /// Writes a message about something that may become an error.
  public func warning(_ message: OSLogMessage) { log(level: .error, message) }
  /// Writes a message about an error.
  public func error(_ message: OSLogMessage) { log(level: .error, message) }
  /// Writes a message about a mistake in the program.
  public func fault(_ message: OSLogMessage) { log(level: .fault, message) }
  /// Writes a message about a mistake in the program.
  public func critical(_ message: OSLogMessage) { log(level: .fault, message) }
}
