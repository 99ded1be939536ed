/// The members of every managed object, whose names its properties cannot have in Swift.
enum ReservedNames {
  static let members: Set<String> = [
    "awakeFromFetch", "awakeFromInsert", "changedValues", "committedValues", "description", "didSave", "entity",
    "entityDefinition", "entityName", "hasChanges", "hasPersistentChangedValues", "hash", "hashValue", "isDeleted",
    "isFault",
    "isInserted",
    "isUpdated",
    "managedObjectContext", "objectID", "prepareForDeletion", "propertyValidators", "self", "willSave",
  ]
}
