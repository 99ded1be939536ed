extension PersistenceError {
  /// The kind of a failure. Later versions may have more kinds, so a `switch` over codes needs a default.
  ///
  ///     do {
  ///       try context.save()
  ///     } catch PersistenceError.Code.saveConflict {
  ///       …
  ///     }
  public struct Code: Sendable, Hashable {
    private enum Kind: String {
      case storeTypeUnknown, storeTypeAlreadyRegistered, storeTypeUndetermined
      case storeNotOpen, storeAlreadyOpen, storeReadOnly, storeBusy, storeAccessDenied, timeLimitExceeded
      case fileNotFound, fileExists, fileReadFailed, fileWriteFailed, fileChangedOnDisk
      case fileCorrupt, fileMalformed, fileFormatUnsupported
      case modelIncompatible, modelMissing
      case migrationFailed, migrationCancelled, migrationModelMissing, mappingModelMissing, mappingModelUnusable
      case capabilityMissing, valueUnsupported
      case entityUnknown, propertyUnknown, valueTypeMismatch, objectClassMismatch
      case objectNotFound, duplicateReference, danglingReference
      case saveConflict, constraintConflict, validationFailed, saveNeverSettles
      case historyNotTracked, historyTokenExpired
      case isolationCrossed, coordinatorClosed, queryGenerationUnavailable
      case documentWithoutFile
      case importFailed, importMappingUnusable
      case encryptionKeyMissing, encryptionKeyWrong, encryptionKeyUnusable
    }
    private let kind: Kind

    /// No store class is registered for the type.
    public static let storeTypeUnknown = Code(kind: .storeTypeUnknown)
    /// A store class is registered for the type already.
    public static let storeTypeAlreadyRegistered = Code(kind: .storeTypeAlreadyRegistered)
    /// Neither the name nor the content of the file determines the type of its store.
    public static let storeTypeUndetermined = Code(kind: .storeTypeUndetermined)
    /// The store does not belong to the coordinator, or was removed from it.
    public static let storeNotOpen = Code(kind: .storeNotOpen)
    /// The file is open in the coordinator already.
    public static let storeAlreadyOpen = Code(kind: .storeAlreadyOpen)
    /// The store can only be read: it was opened for reading only, its type is never written, it has a history that is
    /// not tracked, or another program keeps something in the file that a save would lose. The message says which.
    public static let storeReadOnly = Code(kind: .storeReadOnly)
    /// Another process held the file for longer than the store waits. Nothing was changed; try again.
    public static let storeBusy = Code(kind: .storeBusy)
    /// The service or database of the store does not grant this user access, or does not allow this operation.
    public static let storeAccessDenied = Code(kind: .storeAccessDenied)
    /// An operation that a store waits for, such as the answer of a service, did not finish in time.
    public static let timeLimitExceeded = Code(kind: .timeLimitExceeded)
    /// The file does not exist.
    public static let fileNotFound = Code(kind: .fileNotFound)
    /// A file exists at a path at which none was expected.
    public static let fileExists = Code(kind: .fileExists)
    /// The system could not read the file.
    public static let fileReadFailed = Code(kind: .fileReadFailed)
    /// The system could not write the file. The old file is still there, unless only the flush of its folder has
    /// failed: then the new file is.
    public static let fileWriteFailed = Code(kind: .fileWriteFailed)
    /// Another process has written the file since it was read. It was not overwritten.
    public static let fileChangedOnDisk = Code(kind: .fileChangedOnDisk)
    /// The file was truncated or altered: a checksum or a length is wrong.
    public static let fileCorrupt = Code(kind: .fileCorrupt)
    /// The file does not conform to its format.
    public static let fileMalformed = Code(kind: .fileMalformed)
    /// The file is of a version or a kind that this library does not read.
    public static let fileFormatUnsupported = Code(kind: .fileFormatUnsupported)
    /// The store was written with another version of the model.
    public static let modelIncompatible = Code(kind: .modelIncompatible)
    /// A model is needed, and none was given or found.
    public static let modelMissing = Code(kind: .modelMissing)
    /// The records do not fit the new model. The store is unchanged.
    public static let migrationFailed = Code(kind: .migrationFailed)
    /// A migration was cancelled by its caller. The store is unchanged.
    public static let migrationCancelled = Code(kind: .migrationCancelled)
    /// The model that a store was written with is needed to migrate it, and was not found.
    public static let migrationModelMissing = Code(kind: .migrationModelMissing)
    /// There is no mapping model from one version of the model to the other, and none can be inferred. The underlying
    /// error says why.
    public static let mappingModelMissing = Code(kind: .mappingModelMissing)
    /// A mapping model does not fit the models, or refers to a migration policy or to another thing that does not
    /// exist.
    public static let mappingModelUnusable = Code(kind: .mappingModelUnusable)
    /// The store has declared that it cannot do this.
    public static let capabilityMissing = Code(kind: .capabilityMissing)
    /// The store cannot hold this value.
    public static let valueUnsupported = Code(kind: .valueUnsupported)
    /// The model has no such entity, or the store does not keep it.
    public static let entityUnknown = Code(kind: .entityUnknown)
    /// The entity has no such property.
    public static let propertyUnknown = Code(kind: .propertyUnknown)
    /// The value is not of the property's type.
    public static let valueTypeMismatch = Code(kind: .valueTypeMismatch)
    /// The classes of objects that a coordinator was given do not fit its model.
    public static let objectClassMismatch = Code(kind: .objectClassMismatch)
    /// No store has a record with this id, or it has been deleted.
    public static let objectNotFound = Code(kind: .objectNotFound)
    /// Two records have the same reference.
    public static let duplicateReference = Code(kind: .duplicateReference)
    /// A relationship refers to a record that does not exist.
    public static let danglingReference = Code(kind: .danglingReference)
    /// Another context or process has saved the same objects since they were read. The error's context lists them:
    /// ``PersistenceError/Context/mergeConflicts``.
    public static let saveConflict = Code(kind: .saveConflict)
    /// Objects would have equal values of attributes whose values must be unique. The error's context lists them:
    /// ``PersistenceError/Context/constraintConflicts``.
    public static let constraintConflict = Code(kind: .constraintConflict)
    /// Objects are not valid. The error's context lists every fault: ``PersistenceError/Context/validationFaults``.
    public static let validationFailed = Code(kind: .validationFailed)
    /// Objects change again each time that `willSave` is called, so a save would never finish.
    public static let saveNeverSettles = Code(kind: .saveNeverSettles)
    /// The store could keep its history, but does not.
    public static let historyNotTracked = Code(kind: .historyNotTracked)
    /// A token refers to a point that the store's history does not contain, or no longer contains.
    public static let historyTokenExpired = Code(kind: .historyTokenExpired)
    /// A parent context belongs to another isolation domain, and cannot be waited for.
    public static let isolationCrossed = Code(kind: .isolationCrossed)
    /// The coordinator was closed, and its contexts can no longer be used.
    public static let coordinatorClosed = Code(kind: .coordinatorClosed)
    /// A context cannot be pinned to a version of the records, or not to this one.
    public static let queryGenerationUnavailable = Code(kind: .queryGenerationUnavailable)
    /// A document has no file yet, and none was given.
    public static let documentWithoutFile = Code(kind: .documentWithoutFile)
    /// The data cannot be imported, and none of it was. The error's context lists every fault:
    /// ``PersistenceError/Context/importFaults``.
    public static let importFailed = Code(kind: .importFailed)
    /// The import settings in the `userInfo` of a model do not fit the model.
    public static let importMappingUnusable = Code(kind: .importMappingUnusable)
    /// The file is encrypted, and no key was given.
    public static let encryptionKeyMissing = Code(kind: .encryptionKeyMissing)
    /// The file is encrypted with another key.
    public static let encryptionKeyWrong = Code(kind: .encryptionKeyWrong)
    /// The key cannot be used for encryption.
    public static let encryptionKeyUnusable = Code(kind: .encryptionKeyUnusable)
  }
}

extension PersistenceError.Code {
  /// The `CocoaError` code that Core Data reports in the same case; nil if there is none.
  public var cocoaErrorCode: Int? {
    switch kind {
    case .fileNotFound: 260
    case .fileReadFailed: 256
    case .fileWriteFailed: 512
    case .fileExists: 516
    case .fileCorrupt, .fileMalformed, .fileFormatUnsupported: 259
    case .storeReadOnly: 513
    case .storeTypeUnknown, .storeTypeUndetermined: 134_000
    case .storeNotOpen, .storeAlreadyOpen: 134_080
    case .modelIncompatible: 134_100
    case .migrationFailed, .mappingModelUnusable: 134_110
    case .migrationCancelled: 134_120
    case .migrationModelMissing: 134_130
    case .mappingModelMissing: 134_140
    case .saveConflict: 133_020
    case .constraintConflict: 133_021
    case .validationFailed: 1550
    case .objectNotFound: 133_000
    case .historyTokenExpired: 134_301
    default: nil
    }
  }
}

extension PersistenceError.Code: CustomStringConvertible {
  /// The name of the code, as in Swift.
  public var description: String { kind.rawValue }
}

extension PersistenceError {
  /// Returns whether an error has the code: `catch PersistenceError.Code.fileChangedOnDisk`.
  public static func ~= (code: Code, error: PersistenceError) -> Bool { error.code == code }
}

extension PersistenceError.Code {
  /// Returns whether an error has the code, for `catch` patterns. Errors of other types never match.
  public static func ~= (code: PersistenceError.Code, error: any Error) -> Bool {
    (error as? PersistenceError)?.code == code
  }
}
