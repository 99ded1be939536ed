import HeartwoodModel
import Logging

/// What the graph does not do, since what it was to be done to is gone: it is no error of the call, and must not pass in silence.
enum DroppedWork {
  /// Logs a warning: to the coordinator's logger, or else to the logging system of the process. It holds names and ids, and never a value.
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

  /// Logs that live results could not be fetched anew.
  static func log(_ logger: Logger?, _ error: any Error, entity: String) {
    let details: Logger.Metadata = ["entity": "\(entity)", "error": "\(error)"]
    (logger ?? processLogger).warning("live results could not be fetched anew", metadata: details)
  }

  private static let processLogger = Logger(label: "Heartwood")
}
