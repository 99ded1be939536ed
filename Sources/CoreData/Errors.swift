public import Foundation
import HeartwoodModelFiles
import HeartwoodModel
import HeartwoodStore

// Core Data's error codes, as numbers and as members of CocoaError.Code.

/// The code of the error: managed object validation.
public let NSManagedObjectValidationError = 1550
/// The code of the error: managed object constraint validation.
public let NSManagedObjectConstraintValidationError = 1551
/// The code of the error: validation multiple errors.
public let NSValidationMultipleErrorsError = 1560
/// The code of the error: validation missing mandatory property.
public let NSValidationMissingMandatoryPropertyError = 1570
/// The code of the error: validation relationship lacks minimum count.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// The code of the error: validation relationship exceeds maximum count.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// The code of the error: validation relationship denied delete.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// The code of the error: validation number too large.
public let NSValidationNumberTooLargeError = 1610
/// The code of the error: validation number too small.
public let NSValidationNumberTooSmallError = 1620
/// The code of the error: validation date too late.
public let NSValidationDateTooLateError = 1630
/// The code of the error: validation date too soon.
public let NSValidationDateTooSoonError = 1640
/// The code of the error: validation invalid date.
public let NSValidationInvalidDateError = 1650
/// The code of the error: validation string too long.
public let NSValidationStringTooLongError = 1660
/// The code of the error: validation string too short.
public let NSValidationStringTooShortError = 1670
/// The code of the error: validation string pattern matching.
public let NSValidationStringPatternMatchingError = 1680
/// The code of the error: managed object context locking.
public let NSManagedObjectContextLockingError = 132000
/// The code of the error: persistent store coordinator locking.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// The code of the error: managed object referential integrity.
public let NSManagedObjectReferentialIntegrityError = 133000
/// The code of the error: managed object external relationship.
public let NSManagedObjectExternalRelationshipError = 133010
/// The code of the error: managed object merge.
public let NSManagedObjectMergeError = 133020
/// The code of the error: managed object constraint merge.
public let NSManagedObjectConstraintMergeError = 133021
/// The code of the error: persistent store invalid type.
public let NSPersistentStoreInvalidTypeError = 134000
/// The code of the error: persistent store type mismatch.
public let NSPersistentStoreTypeMismatchError = 134010
/// The code of the error: persistent store incompatible schema.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// The code of the error: persistent store save.
public let NSPersistentStoreSaveError = 134030
/// The code of the error: persistent store incomplete save.
public let NSPersistentStoreIncompleteSaveError = 134040
/// The code of the error: persistent store save conflicts.
public let NSPersistentStoreSaveConflictsError = 134050
/// The code of the error: core data.
public let NSCoreDataError = 134060
/// The code of the error: persistent store operation.
public let NSPersistentStoreOperationError = 134070
/// The code of the error: persistent store open.
public let NSPersistentStoreOpenError = 134080
/// The code of the error: persistent store timeout.
public let NSPersistentStoreTimeoutError = 134090
/// The code of the error: persistent store incompatible version hash.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// The code of the error: migration.
public let NSMigrationError = 134110
/// The code of the error: migration cancelled.
public let NSMigrationCancelledError = 134120
/// The code of the error: migration missing source model.
public let NSMigrationMissingSourceModelError = 134130
/// The code of the error: migration missing mapping model.
public let NSMigrationMissingMappingModelError = 134140
/// The code of the error: inferred mapping model.
public let NSInferredMappingModelError = 134190
/// The code of the error: sq lite.
public let NSSQLiteError = 134180

/// The key of the errors of which an error consists.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The key of the object that is not valid.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The key of the name of the property that is not valid.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The key of the value that is not valid.
public let NSValidationValueErrorKey = "NSValidationErrorValue"

extension CocoaError.Code {
  /// The number of the value.
  public static let managedObjectValidation = CocoaError.Code(rawValue: NSManagedObjectValidationError)
  /// The error: managed object constraint validation.
  public static let managedObjectConstraintValidation = CocoaError.Code(
    rawValue: NSManagedObjectConstraintValidationError
  )
  /// The number of the value.
  public static let validationMultipleErrors = CocoaError.Code(rawValue: NSValidationMultipleErrorsError)
  /// The error: validation missing mandatory property.
  public static let validationMissingMandatoryProperty = CocoaError.Code(
    rawValue: NSValidationMissingMandatoryPropertyError
  )
  /// The error: validation relationship lacks minimum count.
  public static let validationRelationshipLacksMinimumCount = CocoaError.Code(
    rawValue: NSValidationRelationshipLacksMinimumCountError
  )
  /// The error: validation relationship exceeds maximum count.
  public static let validationRelationshipExceedsMaximumCount = CocoaError.Code(
    rawValue: NSValidationRelationshipExceedsMaximumCountError
  )
  /// The error: validation relationship denied delete.
  public static let validationRelationshipDeniedDelete = CocoaError.Code(
    rawValue: NSValidationRelationshipDeniedDeleteError
  )
  /// The number of the value.
  public static let validationNumberTooLarge = CocoaError.Code(rawValue: NSValidationNumberTooLargeError)
  /// The number of the value.
  public static let validationNumberTooSmall = CocoaError.Code(rawValue: NSValidationNumberTooSmallError)
  /// The number of the value.
  public static let validationDateTooLate = CocoaError.Code(rawValue: NSValidationDateTooLateError)
  /// The number of the value.
  public static let validationDateTooSoon = CocoaError.Code(rawValue: NSValidationDateTooSoonError)
  /// The number of the value.
  public static let validationStringTooLong = CocoaError.Code(rawValue: NSValidationStringTooLongError)
  /// The number of the value.
  public static let validationStringTooShort = CocoaError.Code(rawValue: NSValidationStringTooShortError)
  /// The number of the value.
  public static let validationStringPatternMatching = CocoaError.Code(rawValue: NSValidationStringPatternMatchingError)
  /// The error: managed object referential integrity.
  public static let managedObjectReferentialIntegrity = CocoaError.Code(
    rawValue: NSManagedObjectReferentialIntegrityError
  )
  /// The number of the value.
  public static let managedObjectMerge = CocoaError.Code(rawValue: NSManagedObjectMergeError)
  /// The number of the value.
  public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError)
  /// The number of the value.
  public static let persistentStoreInvalidType = CocoaError.Code(rawValue: NSPersistentStoreInvalidTypeError)
  /// The number of the value.
  public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: NSPersistentStoreTypeMismatchError)
  /// The error: persistent store incompatible schema.
  public static let persistentStoreIncompatibleSchema = CocoaError.Code(
    rawValue: NSPersistentStoreIncompatibleSchemaError
  )
  /// The number of the value.
  public static let persistentStoreSave = CocoaError.Code(rawValue: NSPersistentStoreSaveError)
  /// The number of the value.
  public static let persistentStoreOperation = CocoaError.Code(rawValue: NSPersistentStoreOperationError)
  /// The number of the value.
  public static let persistentStoreOpen = CocoaError.Code(rawValue: NSPersistentStoreOpenError)
  /// The error: persistent store incompatible version hash.
  public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(
    rawValue: NSPersistentStoreIncompatibleVersionHashError
  )
  /// The number of the value.
  public static let coreData = CocoaError.Code(rawValue: NSCoreDataError)
  /// The number of the value.
  public static let migration = CocoaError.Code(rawValue: NSMigrationError)
  /// The number of the value.
  public static let migrationMissingSourceModel = CocoaError.Code(rawValue: NSMigrationMissingSourceModelError)
  /// The number of the value.
  public static let migrationMissingMappingModel = CocoaError.Code(rawValue: NSMigrationMissingMappingModelError)
  /// The number of the value.
  public static let inferredMappingModel = CocoaError.Code(rawValue: NSInferredMappingModelError)
}

// MARK: Translation

extension CocoaError {
  /// Returns the error that Core Data throws in the same case. Errors that the application has thrown stay themselves.
  static func of(_ error: any Error, _ context: NSManagedObjectContext? = nil) -> any Error {
    guard let error = error as? PersistenceError else {
      if let failure = error as? OwnStoreFailure { return failure.error }
      if let error = error as? FetchPredicateError { return make(.persistentStoreOperation, "\(error)", error) }
      return error
    }
    if error.code == .validationFailed { return validation(error, context) }
    if let own = OwnStoreFailure.cause(of: error) { return own }
    let code = error.cocoaErrorCode.map(Code.init(rawValue:)) ?? .coreData
    return make(code, error.message, error, context.map { conflicts(error, $0) } ?? [:])
  }

  private static func conflicts(_ error: PersistenceError, _ context: NSManagedObjectContext) -> [String: Any] {
    let merges: [Any] = error.context.mergeConflicts.map { NSMergeConflict($0, context) }
    let violations: [Any] = NSConstraintConflict.conflicts(error.context.constraintConflicts, context).map(\.conflict)
    let all = merges + violations
    return all.isEmpty ? [:] : [NSPersistentStoreSaveConflictsErrorKey: all]
  }

  private static func validation(_ error: PersistenceError, _ context: NSManagedObjectContext?) -> any Error {
    let faults = error.context.validationFaults
    var cause = error.underlyingError
    let errors = faults.map { fault -> any Error in
      // An error of the application's own validation stays itself; the first one is kept.
      guard fault.kind == .rejected, let own = cause else { return validation(fault, context) }
      cause = nil
      return of(own, context)
    }
    if errors.count == 1 { return errors[0] }
    return make(.validationMultipleErrors, error.message, error, [NSDetailedErrorsKey: errors.map { $0 as NSError }])
  }

  private static func validation(_ fault: ValidationFault, _ context: NSManagedObjectContext?) -> CocoaError {
    var details: [String: Any] = [NSValidationKeyErrorKey: fault.property]
    if let object = context?.registeredFacade(fault.objectID) { details[NSValidationObjectErrorKey] = object }
    return make(Code(rawValue: fault.kind.cocoaErrorCode), fault.message, fault, details)
  }

  static func make(
    _ code: Code,
    _ message: String,
    _ cause: (any Error)? = nil,
    _ details: [String: Any] = [:]
  ) -> CocoaError {
    var userInfo = details
    userInfo[NSLocalizedDescriptionKey] = message
    if let cause { userInfo[NSUnderlyingErrorKey] = cause }
    return CocoaError(code, userInfo: userInfo)
  }

  static func modelFault(_ message: String) -> CocoaError { make(.coreData, message) }
}
