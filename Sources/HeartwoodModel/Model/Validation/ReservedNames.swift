/// Names that would hide members of the framework's classes, or those classes.
package enum ReservedNames {
  static let entities: Set<String> = [
    "ManagedObject", "ManagedObjectContext", "ManagedObjectID", "ManagedObjectModel", "EntityDescription",
    "FetchRequest", "PersistentStore", "NSManagedObject", "Object", "Class", "Type", "Self", "Any", "Protocol",
  ]

  /// The members of every managed object. The macros, which know no model, have the same list.
  package static let properties: Set<String> = [
    "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent", "committedValues",
    "description",
    "didSave", "didTurnIntoFault", "entity", "entityDefinition", "entityName", "fetchExpression", "hasChanges",
    "hasPersistentChangedValues", "hash", "hashValue", "init", "isDeleted", "isFault", "isInserted", "isUpdated",
    "managedObjectContext", "objectID", "prepareForDeletion", "propertyValidators", "self", "Type", "validateForDelete",
    "validateForInsert", "validateForUpdate", "willAccessValue", "willSave", "willTurnIntoFault",
  ]
}
