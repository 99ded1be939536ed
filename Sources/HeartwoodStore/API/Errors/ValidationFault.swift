public import HeartwoodFoundation
public import HeartwoodModel

/// A reason why an object is not valid: the object, the property, and what is wrong with it.
///
/// A failed save lists all faults:
///
///     do {
///       try context.save()
///     } catch let error as PersistenceError where error.code == .validationFailed {
///       for fault in error.context.validationFaults where fault.kind == .tooLong { … }
///     }
public struct ValidationFault: Error, Hashable {
  /// The object.
  public let objectID: ManagedObjectID
  /// The name of the property; empty if the fault concerns the object as a whole.
  public let property: String
  /// What is wrong.
  public let kind: Kind
  /// What is wrong, as a text for people. It does not contain the value.
  public let message: String
  /// Other objects that are involved: the destinations of a relationship that denies a deletion.
  public let relatedObjectIDs: [ManagedObjectID]

  /// Creates a fault.
  ///
  /// - Parameter problem: what is wrong with the property, as the rest of a sentence that begins with its name.
  package init(
    _ kind: Kind,
    _ objectID: ManagedObjectID,
    _ property: String,
    _ problem: String,
    relatedObjectIDs: [ManagedObjectID] = []
  ) {
    self.objectID = objectID
    self.property = property
    self.kind = kind
    self.message = "\(objectID.entity.name)\(property.isEmpty ? "" : ".")\(property) \(problem)"
    self.relatedObjectIDs = relatedObjectIDs
  }

  /// The name of the object's entity.
  public var entity: String { objectID.entity.name }
}

extension ValidationFault: LocalizedError {
  /// The ``message``.
  public var errorDescription: String? { message }
}

extension ValidationFault: CustomStringConvertible {
  /// The ``message``.
  public var description: String { message }
}

extension ValidationFault {
  /// The kind of a fault. Later versions may have more kinds, so a `switch` over kinds needs a default.
  public struct Kind: Sendable, Hashable {
    private enum Name: String {
      case missingValue, wrongType
      case tooSmall, tooGreat, tooEarly, tooLate
      case tooShort, tooLong, patternMismatch, predicateNotMet
      case tooFew, tooMany, deletionDenied, rejected
    }
    private let name: Name

    /// The attribute or relationship is not optional, and has no value.
    public static let missingValue = Kind(name: .missingValue)
    /// The value is not of the property's type.
    public static let wrongType = Kind(name: .wrongType)
    /// The number is below the least value, or is NaN.
    public static let tooSmall = Kind(name: .tooSmall)
    /// The number is above the greatest value, or is NaN.
    public static let tooGreat = Kind(name: .tooGreat)
    /// The date is before the least value, or is NaN.
    public static let tooEarly = Kind(name: .tooEarly)
    /// The date is after the greatest value, or is NaN.
    public static let tooLate = Kind(name: .tooLate)
    /// The string is shorter than the least length.
    public static let tooShort = Kind(name: .tooShort)
    /// The string is longer than the greatest length.
    public static let tooLong = Kind(name: .tooLong)
    /// The string does not match the pattern.
    public static let patternMismatch = Kind(name: .patternMismatch)
    /// The value does not meet a predicate of the attribute's rules.
    public static let predicateNotMet = Kind(name: .predicateNotMet)
    /// The relationship has fewer destinations than its least count.
    public static let tooFew = Kind(name: .tooFew)
    /// The relationship has more destinations than its greatest count.
    public static let tooMany = Kind(name: .tooMany)
    /// The object is to be deleted, and a relationship with the delete rule ``DeleteRule/deny`` has destinations.
    public static let deletionDenied = Kind(name: .deletionDenied)
    /// The application's own validation has rejected the value or the object.
    public static let rejected = Kind(name: .rejected)
  }
}

extension ValidationFault.Kind {
  /// The `CocoaError` code that Core Data reports in the same case.
  public var cocoaErrorCode: Int {
    switch name {
    case .wrongType, .predicateNotMet, .rejected: 1550
    case .missingValue: 1570
    case .tooFew: 1580
    case .tooMany: 1590
    case .deletionDenied: 1600
    case .tooGreat: 1610
    case .tooSmall: 1620
    case .tooLate: 1630
    case .tooEarly: 1640
    case .tooLong: 1660
    case .tooShort: 1670
    case .patternMismatch: 1680
    }
  }
}

extension ValidationFault.Kind: CustomStringConvertible {
  /// The name of the kind, as in Swift.
  public var description: String { name.rawValue }
}

// MARK: ImportFault

/// A part of imported data that cannot be imported, and its place.
public struct ImportFault: Error, Hashable {
  /// The place in the imported data, such as `[3].owner.id`; empty for all of it.
  public let path: String
  /// The name of the entity, as far as it is known.
  public let entity: String?
  /// The name of the property, if the fault concerns one.
  public let property: String?
  /// What is wrong, as a text for people. It does not contain the value.
  public let message: String

  /// Creates a fault.
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
  /// The number of faults that a message lists; the error's context has all of them.
  private static let mostImportFaultsTold = 10

  /// Returns the error for data that cannot be imported.
  ///
  /// - Parameters:
  ///   - faults: the faults, at least one, in the order of the imported data.
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

// MARK: PersistenceError: validation

extension PersistenceError {
  /// The number of faults that a message lists; the error's context has all of them.
  private static let mostFaultsTold = 10

  /// Returns the error for objects that are not valid.
  ///
  /// - Parameters:
  ///   - faults: the faults, at least one, in the order in which they were found.
  ///   - underlyingError: an error that the application's own validation has thrown.
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

  /// The `CocoaError` code that Core Data reports in the same case; nil if there is none.
  ///
  /// For objects that are not valid, it is the code of the only fault, or the one for several faults.
  public var cocoaErrorCode: Int? {
    let faults = context.validationFaults
    guard code == .validationFailed, let first = faults.first else { return code.cocoaErrorCode }
    let severalErrors = 1560
    return faults.count == 1 ? first.kind.cocoaErrorCode : severalErrors
  }
}
