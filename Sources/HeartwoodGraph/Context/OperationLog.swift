import HeartwoodModel
import HeartwoodStore
import Logging

/// An operation that is logged when it is done, with its duration.
///
/// Without a logger no value of this type is created: nothing is measured, and no text is made. Entries contain names,
/// counts and paths, never values of records.
struct OperationLog {
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
  }

  private let logger: Logger
  private let operation: Operation
  private let start = ContinuousClock.now

  init?(_ operation: Operation, _ logger: Logger?) {
    guard let logger, operation.level >= logger.logLevel else { return nil }
    self.logger = logger
    self.operation = operation
  }

  private func tell(_ details: Logger.Metadata) {
    var metadata = details
    metadata["milliseconds"] = "\(Self.milliseconds(since: start))"
    logger.log(level: operation.level, "\(operation.rawValue)", metadata: metadata)
  }

  /// Returns milliseconds, to the microsecond.
  private static func milliseconds(since start: ContinuousClock.Instant) -> Double {
    let microseconds = (ContinuousClock.now - start) / Duration.microseconds(1)
    return microseconds.rounded() / 1000
  }
}

extension PersistentStoreCoordinator {
  /// Begins to measure an operation, if there is a logger.
  func log(_ operation: OperationLog.Operation) -> OperationLog? {
    // Most coordinators have no logger, which costs only this check.
    logger == nil ? nil : OperationLog(operation, logger)
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
  func tell(_ store: PersistentStore) { tell(Self.details(store)) }

  /// Logs what a store was converted from.
  func tell(_ store: PersistentStore, formerPath: String?) {
    var details = Self.details(store)
    details["former"] = "\(formerPath ?? "-")"
    tell(details)
  }

  /// Logs how many records a batch has changed.
  func tell(_ store: PersistentStore, count: Int) {
    var details = Self.details(store)
    details["count"] = "\(count)"
    tell(details)
  }

  /// Logs how many records were found.
  func tell(entity: String, count: Int) {
    tell(["entity": "\(entity)", "count": "\(count)"])
  }

  /// Logs what was saved to a store, or to a parent.
  func tell(_ save: PendingSave) {
    var details = Self.details(save.store)
    details["inserted"] = "\(save.insertedCount)"
    details["updated"] = "\(save.updated.count)"
    details["deleted"] = "\(save.deleted.count)"
    if save.source is StagedStore { details["destination"] = "parent" }
    tell(details)
  }

  /// Logs the result of a migration.
  func tell(_ migration: StoreMigration, _ report: MigrationReport) {
    var details: Logger.Metadata = [
      "path": "\(migration.path ?? "-")", "steps": "\(migration.steps.count)", "from": "\(report.sourceCount)",
      "to": "\(report.destinationCount)", "by": report.isDoneInStore ? "store" : "memory",
    ]
    if let reason = report.reasonNotInStore { details["because"] = "\(reason)" }
    if !report.losses.isEmpty { details["lost"] = "\(report.losses.map { "\($0)" }.joined(separator: "; "))" }
    tell(details)
  }

  private static func details(_ store: PersistentStore) -> Logger.Metadata {
    ["type": "\(store.type)", "path": "\(store.placeName ?? "-")"]
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
