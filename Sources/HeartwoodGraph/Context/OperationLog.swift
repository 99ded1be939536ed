import HeartwoodModel
import HeartwoodStore
import Logging

/// An operation that is under way, and is logged and told to the observer when it is done.
///
/// Without a logger and an observer no value of this type is created: nothing is measured, and no text is made. Log
/// entries contain names, counts and paths, never values of records.
final class OperationLog: Sendable {
  /// The operation, as it is logged.
  enum Operation: String {
    case opened, closed, converted, migrated, saved, fetched, counted
    case savedBatch = "saved a batch"

    fileprivate var level: Logger.Level {
      switch self {
      case .migrated: .notice
      case .opened, .closed, .converted: .info
      case .saved, .savedBatch, .fetched, .counted: .debug
      }
    }

    /// Its name for observers; nil for a migration, which is a part of opening a store, or one of its own.
    fileprivate var kind: StoreOperation.Kind? {
      switch self {
      case .opened: .open
      case .closed: .close
      case .converted: .convert
      case .migrated: nil
      case .saved: .save
      case .savedBatch: .batch
      case .fetched: .fetch
      case .counted: .count
      }
    }
  }

  private let logger: Logger?
  private let operation: Operation
  private let start = ContinuousClock.now
  private let waits = WaitMeter()
  /// Tells the observer; nil if there is none.
  private let end: (@Sendable (StoreOperation.Result) -> Void)?

  init?(
    _ operation: Operation,
    _ logger: Logger?,
    _ observer: (any OperationObserver)? = nil,
    entity: String? = nil,
    storeType: StoreType? = nil
  ) {
    self.logger = logger.flatMap { operation.level >= $0.logLevel ? $0 : nil }
    if self.logger == nil, observer == nil { return nil }
    self.operation = operation
    end = operation.kind.flatMap { kind in
      observer?.operationWillBegin(StoreOperation(kind: kind, entityName: entity, storeType: storeType))
    }
  }

  /// Calls `body`, whose waiting for others is measured if there is an observer.
  func measuringWaits<Result>(_ body: () throws -> Result) rethrows -> Result {
    if end == nil { return try body() }
    return try WaitMeter.$current.withValue(waits, operation: body)
  }

  /// Tells the observer that the operation has failed.
  func fail(_ error: any Error) { tellObserver(count: nil, error) }

  /// Tells the observer that nothing was done after all. Nothing is logged.
  func abandon() { tellObserver(count: 0, nil) }

  private func tell(count: Int?, _ details: @autoclosure () -> Logger.Metadata) {
    tellObserver(count: count, nil)
    guard let logger else { return }
    var metadata = details()
    metadata["milliseconds"] = "\(Self.milliseconds(since: start))"
    logger.log(level: operation.level, "\(operation.rawValue)", metadata: metadata)
  }

  private func tellObserver(count: Int?, _ error: (any Error)?) {
    guard let end else { return }
    end(.init(duration: ContinuousClock.now - start, waited: waits.total, recordCount: count, error: error))
  }

  /// Returns milliseconds, to the microsecond.
  private static func milliseconds(since start: ContinuousClock.Instant) -> Double {
    let microseconds = (ContinuousClock.now - start) / Duration.microseconds(1)
    return microseconds.rounded() / 1000
  }
}

extension PersistentStoreCoordinator {
  /// Calls `body`, which does an operation and says how it has ended. If it throws, the operation has failed.
  func logging<Result>(
    _ operation: OperationLog.Operation,
    entity: String? = nil,
    storeType: StoreType? = nil,
    _ body: (OperationLog?) throws -> Result
  ) rethrows -> Result {
    // Most coordinators have neither, which costs only this check.
    guard let log = log(operation, entity: entity, storeType: storeType) else { return try body(nil) }
    do {
      return try log.measuringWaits { try body(log) }
    } catch {
      log.fail(error)
      throw error
    }
  }

  /// Calls `body`, which finds or counts records of an entity, and logs their number.
  func logging<Found>(
    _ operation: OperationLog.Operation,
    entity: String,
    count: (Found) -> Int,
    _ body: () throws -> Found
  ) rethrows -> Found {
    try logging(operation, entity: entity) { log in
      let found = try body()
      log?.tell(entity: entity, count: count(found))
      return found
    }
  }

  /// Begins an operation, if there is a logger or an observer.
  func log(
    _ operation: OperationLog.Operation,
    entity: String? = nil,
    storeType: StoreType? = nil
  ) -> OperationLog? {
    if logger == nil, operationObserver == nil { return nil }
    return OperationLog(operation, logger, operationObserver, entity: entity, storeType: storeType)
  }
}

extension PersistentStoreCoordinator {
  /// Logs what a call that cannot throw could not read.
  func logReadFailure(_ error: PersistenceError) {
    guard let logger else { return }
    let cause = (error.underlyingError as? PersistenceError) ?? error
    var details: Logger.Metadata = ["because": "\(cause.message)", "records": "\(error.context.objectIDs.count)"]
    if let path = error.context.path { details["path"] = "\(path)" }
    if let entity = error.context.entity { details["entity"] = "\(entity)" }
    if let property = error.context.property { details["property"] = "\(property)" }
    logger.error("could not read", metadata: details)
  }
}

// MARK: Details

extension OperationLog {
  /// Logs the store that was opened, closed or written.
  func tell(_ store: PersistentStore) { tell(count: nil, Self.details(store)) }

  /// Logs what a store was converted from.
  func tell(_ store: PersistentStore, formerPath: String?) {
    tell(count: nil, Self.details(store, ["former": "\(formerPath ?? "-")"]))
  }

  /// Logs how many records a batch has changed.
  func tell(_ store: PersistentStore, count: Int) {
    tell(count: count, Self.details(store, ["count": "\(count)"]))
  }

  /// Logs how many records were found.
  func tell(entity: String, count: Int) {
    tell(count: count, ["entity": "\(entity)", "count": "\(count)"])
  }

  /// Logs what was saved to a store, or to a parent.
  func tell(_ counts: PendingSave.Counts, _ source: any RecordSource) {
    var details: Logger.Metadata = [
      "inserted": "\(counts.inserted)", "updated": "\(counts.updated)", "deleted": "\(counts.deleted)",
    ]
    if source is StagedStore { details["destination"] = "parent" }
    tell(count: counts.inserted + counts.updated + counts.deleted, Self.details(source.store, details))
  }

  /// Logs the result of a migration.
  func tell(_ migration: StoreMigration, _ report: MigrationReport) {
    var details: Logger.Metadata = [
      "path": "\(migration.path ?? "-")", "steps": "\(migration.steps.count)", "from": "\(report.sourceCount)",
      "to": "\(report.destinationCount)", "by": report.isDoneInStore ? "store" : "memory",
    ]
    if let reason = report.reasonNotInStore { details["because"] = "\(reason)" }
    if !report.losses.isEmpty { details["lost"] = "\(report.losses.map { "\($0)" }.joined(separator: "; "))" }
    tell(count: nil, details)
  }

  private static func details(_ store: PersistentStore, _ more: Logger.Metadata = [:]) -> Logger.Metadata {
    more.merging(["type": "\(store.type)", "path": "\(store.placeName ?? "-")"]) { more, _ in more }
  }
}

// MARK: DroppedWork

/// Warnings about calls that do nothing because their object is gone: this is no error of the call, but must not be
/// silent.
enum DroppedWork {
  /// Logs a warning to the coordinator's logger, or else to the logging system of the process. It contains names and
  /// ids, never values.
  @inline(never)
  static func log(
    _ logger: Logger?,
    _ message: String,
    _ object: ManagedObject,
    property: String? = nil,
    to destination: String? = nil
  ) {
    var details: Logger.Metadata = ["entity": "\(object.entity.name)", "object": "\(object.objectID)"]
    if let property { details["property"] = "\(property)" }
    if let destination { details["destination"] = "\(destination)" }
    (logger ?? processLogger).warning("\(message)", metadata: details)
  }

  /// Logs that live results could not be fetched again.
  static func log(_ logger: Logger?, _ error: any Error, entity: String) {
    let details: Logger.Metadata = ["entity": "\(entity)", "error": "\(error)"]
    (logger ?? processLogger).warning("live results could not be fetched again", metadata: details)
  }

  private static let processLogger = Logger(label: "Heartwood")
}
