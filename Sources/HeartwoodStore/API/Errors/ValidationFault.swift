public import HeartwoodFoundation
public import HeartwoodModel

/// One thing that keeps an object from being saved: which property of which object, and what is wrong with it.
///
/// A failed save lists all of them:
///
///     do {
///       try context.save()
///     } catch let error as PersistenceError where error.code == .validationFailed {
///       for fault in error.context.validationFaults where fault.kind == .tooLong { … }
///     }
public struct ValidationFault: Error, Hashable {
  /// The object.
  public let objectID: ManagedObjectID
  /// The name of the property; empty where the fault is the object's as a whole.
  public let property: String
  /// What is wrong.
  public let kind: Kind
  /// What is wrong, for a person. It does not hold the value.
  public let message: String
  /// The other objects concerned: those that a relationship leads to which denies a deletion.
  public let relatedObjectIDs: [ManagedObjectID]

  /// Makes a fault.
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
  /// The message.
  public var description: String { message }
}

extension ValidationFault {
  /// What is wrong with a property. More kinds may come, so a `switch` over them needs a default.
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
    /// The number is below the least value, or is none.
    public static let tooSmall = Kind(name: .tooSmall)
    /// The number is above the greatest value, or is none.
    public static let tooGreat = Kind(name: .tooGreat)
    /// The date is before the least value, or is none.
    public static let tooEarly = Kind(name: .tooEarly)
    /// The date is after the greatest value, or is none.
    public static let tooLate = Kind(name: .tooLate)
    /// The string is shorter than the least length.
    public static let tooShort = Kind(name: .tooShort)
    /// The string is longer than the greatest length.
    public static let tooLong = Kind(name: .tooLong)
    /// The string does not match the pattern.
    public static let patternMismatch = Kind(name: .patternMismatch)
    /// The value does not meet a predicate of the attribute's rules.
    public static let predicateNotMet = Kind(name: .predicateNotMet)
    /// The relationship leads to fewer objects than its least count.
    public static let tooFew = Kind(name: .tooFew)
    /// The relationship leads to more objects than its greatest count.
    public static let tooMany = Kind(name: .tooMany)
    /// The object is to be deleted while a relationship whose delete rule is ``DeleteRule/deny`` leads to others.
    public static let deletionDenied = Kind(name: .deletionDenied)
    /// The application's own validation does not accept the value or the object.
    public static let rejected = Kind(name: .rejected)
  }
}

extension ValidationFault.Kind {
  /// The code of CocoaError that Core Data reports in the same case.
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

// MARK: PersistenceError: validation

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
