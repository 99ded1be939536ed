import HeartwoodModel

extension PersistenceError {
  /// How many faults a message tells; all are in the context.
  private static let mostFaultsTold = 10

  /// The error of objects that are not fit to be saved, for `faults`, of which there is at least one.
  ///
  /// - Parameters:
  ///   - faults: what is wrong, in the order in which it was found.
  ///   - underlyingError: an error that a validation of the application's own has thrown.
  public static func validationFailed(
    _ faults: [ValidationFault],
    underlyingError: (any Error)? = nil
  ) -> PersistenceError {
    var seen: Set<ManagedObjectID> = []
    let objectIDs = faults.map(\.objectID).filter { seen.insert($0).inserted }
    return PersistenceError(
      .validationFailed,
      message(of: faults),
      context: Context(objectIDs: objectIDs, validationFaults: faults),
      underlyingError: underlyingError
    )
  }

  private static func message(of faults: [ValidationFault]) -> String {
    let told = faults.prefix(mostFaultsTold).map(\.message).joined(separator: " ")
    if faults.count == 1 { return told }
    let rest = faults.count > mostFaultsTold ? " The others are in the error's context." : ""
    return "There are \(faults.count) faults: \(told)\(rest)"
  }

  /// The code of CocoaError that Core Data reports in the same case, where there is one.
  ///
  /// For objects that are not fit to be saved it tells the kind of the only fault, or that there are several.
  public var cocoaErrorCode: Int? {
    let faults = context.validationFaults
    guard code == .validationFailed, let first = faults.first else { return code.cocoaErrorCode }
    let severalErrors = 1560
    return faults.count == 1 ? first.kind.cocoaErrorCode : severalErrors
  }
}
