#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Something that cannot be imported, and where it stands.
public struct ImportFault: Error, Hashable {
  /// The place in what was imported, such as `[3].owner.id`; empty for the whole.
  public let path: String
  /// The name of the entity, as far as it is known.
  public let entity: String?
  /// The name of the property, where it is about one.
  public let property: String?
  /// What is wrong, for a person. It does not hold the value.
  public let message: String

  /// Makes a fault.
  public init(path: String, entity: String? = nil, property: String? = nil, _ message: String) {
    self.path = path
    self.entity = entity
    self.property = property
    self.message = message
  }
}

extension ImportFault: LocalizedError {
  /// The ``message``.
  public var errorDescription: String? { message }
}

extension ImportFault: CustomStringConvertible {
  /// The place, the message, and the property: `[3].owner.id: A string is here … (Person.id)`.
  public var description: String {
    let name = [entity, property].compactMap(\.self).joined(separator: ".")
    return (path.isEmpty ? "" : "\(path): ") + message + (name.isEmpty ? "" : " (\(name))")
  }
}

extension PersistenceError {
  /// How many faults a message tells; all are in the context.
  private static let mostImportFaultsTold = 10

  /// The error of what cannot be imported, for `faults`, of which there is at least one.
  ///
  /// - Parameters:
  ///   - faults: what is wrong, in the order of what is imported.
  ///   - underlyingError: the first error that the application's own code has thrown.
  public static func importFailed(
    _ faults: [ImportFault],
    underlyingError: (any Error)? = nil
  ) -> PersistenceError {
    let told = faults.prefix(mostImportFaultsTold).map(\.description).joined(separator: " ")
    let rest = faults.count > mostImportFaultsTold ? " The others are in the error's context." : ""
    return PersistenceError(
      .importFailed,
      faults.count == 1 ? told : "There are \(faults.count) faults: \(told)\(rest)",
      context: Context(importFaults: faults),
      underlyingError: underlyingError
    )
  }
}
