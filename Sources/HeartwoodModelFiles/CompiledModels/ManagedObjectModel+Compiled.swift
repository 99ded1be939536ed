@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
public import HeartwoodModel

extension ManagedObjectModel {
  /// Reads the compiled model in the store at `path`.
  ///
  /// - Throws: ``ModelFileError`` with the path and the reason.
  public convenience init(compiled bytes: [UInt8], path: String) throws(ModelFileError) {
    let source: DataModelSource
    do {
      source = try DataModelSource.compiled(bytes, URL(filePath: path))
    } catch let error as ArchiveError {
      throw ModelFileError(file: path, error, "The model in the store")
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(file: path, "\(error)")
    }
    try self.init(source)
  }

  /// Returns the model in the form in which Core Data keeps it in its stores; nil if it has something for which Core
  /// Data's archived form is not known, such as composite attributes.
  public func compiled() -> [UInt8]? {
    // try?: nil means that Core Data's archived form is not known.
    try? CompiledModelWriter.bytes(of: self)
  }
}

// MARK: CompiledModelClasses

/// The classes of Core Data and of predicates in compiled models.
extension ArchivedClass {
  static let model = ArchivedClass("NSManagedObjectModel")
  static let entity = ArchivedClass("NSEntityDescription")
  static let attribute = ArchivedClass("NSAttributeDescription", "NSPropertyDescription")
  static let derivedAttribute = ArchivedClass(
    "NSDerivedAttributeDescription",
    "NSAttributeDescription",
    "NSPropertyDescription"
  )
  static let relationship = ArchivedClass("NSRelationshipDescription", "NSPropertyDescription")
  static let fetchedProperty = ArchivedClass("NSFetchedPropertyDescription", "NSPropertyDescription")
  static let fetchRequest = ArchivedClass("NSFetchRequest", "NSPersistentStoreRequest")
  static let fetchIndex = ArchivedClass("NSFetchIndexDescription")
  static let fetchIndexElement = ArchivedClass("NSFetchIndexElementDescription")

  /// A dictionary with separate keys, in which stores keep the entities of a model.
  static let knownKeysDictionary = ArchivedClass(
    "NSKnownKeysDictionary1",
    "NSKnownKeysDictionary",
    "NSMutableDictionary",
    "NSDictionary"
  )
  static let knownKeys = ArchivedClass("NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy")
}

extension ArchivedClass {
  static let comparison = ArchivedClass("NSComparisonPredicate", "NSPredicate")
  static let compound = ArchivedClass("NSCompoundPredicate", "NSPredicate")

  static let orderOperator = ArchivedClass("NSComparisonPredicateOperator", "NSPredicateOperator")
  static let equalityOperator = ArchivedClass("NSEqualityPredicateOperator", "NSPredicateOperator")
  static let inOperator = ArchivedClass("NSInPredicateOperator", "NSPredicateOperator")
  static let matchingOperator = ArchivedClass(
    "NSMatchingPredicateOperator",
    "NSStringPredicateOperator",
    "NSPredicateOperator"
  )
  static let likeOperator = ArchivedClass(
    "NSLikePredicateOperator",
    "NSMatchingPredicateOperator",
    "NSStringPredicateOperator",
    "NSPredicateOperator"
  )

  static let selfExpression = ArchivedClass("NSSelfExpression", "NSExpression")
  static let constant = ArchivedClass("NSConstantValueExpression", "NSExpression")
  static let variable = ArchivedClass("NSVariableExpression", "NSExpression")
  static let function = ArchivedClass("NSFunctionExpression", "NSExpression")
  static let keyPath = ArchivedClass("NSKeyPathExpression", "NSFunctionExpression", "NSExpression")
  static let keyPathSpecifier = ArchivedClass("NSKeyPathSpecifierExpression", "NSExpression")
}

// MARK: CompiledModelFlag

/// Numbers for settings in compiled models.
enum CompiledModelFlag {
  static let externalStorage = 4
  static let preservedOnDeletion = 16
  /// The flags of a fetch request with default settings.
  static let usualFetchRequest = 30

  /// The delete rules, at the indexes that archives use for them.
  static let deleteRules: [DeleteRule] = [.noAction, .nullify, .cascade, .deny]
}
