/// The members of every managed object, whose names its properties cannot have in Swift. The review of models has the same list.
enum ReservedNames {
  static let members: Set<String> = [
    "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent", "committedValues",
    "description",
    "didSave", "didTurnIntoFault", "entity", "entityDefinition", "entityName", "fetchExpression", "hasChanges",
    "hasPersistentChangedValues", "hash", "hashValue", "init", "isDeleted", "isFault", "isInserted", "isUpdated",
    "managedObjectContext", "objectID", "prepareForDeletion", "propertyValidators", "self", "Type", "validateForDelete",
    "validateForInsert", "validateForUpdate", "willAccessValue", "willSave", "willTurnIntoFault",
  ]
}
