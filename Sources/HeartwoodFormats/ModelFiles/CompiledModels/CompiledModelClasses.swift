/// The classes of Core Data and of predicates that are in compiled models.
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

  /// A dictionary with its keys apart, as stores keep the entities of a model.
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
