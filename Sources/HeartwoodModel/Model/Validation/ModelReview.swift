/// Warnings about a model that is valid but probably has a mistake, like those of Xcode.
///
///     for warning in ModelReview(model).warnings { print(warning) }
public struct ModelReview: Sendable {
  /// A part of a model that is probably a mistake.
  public struct Warning: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a warning. The raw value is a stable name for programs.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// A relationship without an inverse.
      case missingInverse
      /// A relationship whose inverse has another inverse.
      case oneSidedInverse
      /// A required attribute without a default value: a migration has no value for existing records.
      case missingDefault
      /// An entity with the name of a class of the framework, or a property with the name of a member of every managed
      /// object.
      case reservedName
      /// An entity whose name begins with a lowercase letter, or a property whose name begins with an uppercase letter.
      case nameCase
      /// An entity without properties and subentities.
      case noProperties
      /// An abstract entity without subentities, so that it never has objects.
      case abstractWithoutSubentities
      /// A relationship with the delete rule “no action”, so that the other end still refers to a deleted object.
      case noAction
      /// A transformable attribute that names no transformer.
      case missingTransformer
      /// A required to-many relationship without a least count: it may still be empty.
      case impossibleCount
      /// An ordered to-one relationship.
      case orderOfOne
      /// A part of the model whose effect on Core Data's version hash is unknown, so that Core Data may not open a
      /// store with the model.
      case uncertainHash
      /// A uniqueness constraint that names a relationship or a transient attribute, which no store enforces.
      case unenforcedConstraint
      /// An index that atomic stores do not use.
      case unusedIndex
    }

    /// The kind of the warning.
    public let kind: Kind
    /// The path of an entity (`ToDo`) or a property (`ToDo.memo`).
    public let path: String
    /// The problem, and what to do.
    public let message: String

    /// The path and the message.
    public var description: String { "\(path): \(message)" }
  }

  /// The warnings, in the order of the entities and properties.
  public let warnings: [Warning]

  /// Checks `model`. O(n) in the number of properties.
  public init(_ model: ManagedObjectModel) {
    var reviewer = ModelReviewer()
    for entity in model.entities { reviewer.review(entity) }
    warnings = reviewer.warnings
  }
}

private struct ModelReviewer {
  private typealias Kind = ModelReview.Warning.Kind

  private(set) var warnings: [ModelReview.Warning] = []

  private mutating func warn(_ kind: Kind, _ path: String, _ message: String) {
    warnings.append(ModelReview.Warning(kind: kind, path: path, message: message))
  }

  mutating func review(_ entity: EntityDescription) {
    let definition = entity.definition
    if ReservedNames.entities.contains(entity.name) {
      warn(.reservedName, entity.name, "The name is that of a class of the framework. Choose another.")
    }
    if entity.name.first?.isLowercase == true {
      warn(
        .nameCase,
        entity.name,
        "The name begins with a small letter, as those of properties do. Begin it with a capital."
      )
    }
    if entity.properties.isEmpty && entity.subentityOrdinals.isEmpty {
      warn(.noProperties, entity.name, "The entity has no properties. Add some, or remove it.")
    }
    if entity.isAbstract && entity.subentityOrdinals.isEmpty {
      let advice = "Make another entity inherit from it, or make it concrete."
      warn(.abstractWithoutSubentities, entity.name, "The entity is abstract and no other inherits from it. \(advice)")
    }
    for names in definition.uniquenessConstraints where !isEnforced(names, in: entity) {
      let message =
        "The uniqueness constraint “\(names.joined(separator: ", "))” is not enforced. Use only stored attributes in it."
      warn(.unenforcedConstraint, entity.name, message)
    }
    if definition.uniquenessConstraints.count > 1 {
      warnOfHash(entity.name, "several uniqueness constraints")
    }
    for property in definition.properties { review(property, of: entity) }
    for index in definition.fetchIndexes where !entity.fetchIndexPlans.contains(where: { $0.name == index.name }) {
      let reason =
        "It begins with an expression, an R-tree or a property without an order, or its condition needs more than a record"
      warn(.unusedIndex, "\(entity.name).\(index.name)", "Atomic stores have no use for the index. \(reason) itself.")
    }
    for composite in definition.compositeAttributes {
      warnOfHash("\(entity.name).\(composite.name)", "a composite attribute")
    }
  }

  private func isEnforced(_ names: [String], in entity: EntityDescription) -> Bool {
    names.allSatisfy { entity.property(named: $0)?.attribute?.isTransient == false }
  }

  /// Adds a warning about a feature whose effect on Core Data's version hash is unknown.
  private mutating func warnOfHash(_ path: String, _ feature: String) {
    let message =
      "It is not known how Core Data's version hash includes \(feature), so Apple's own Core Data may refuse to open a store"
    warn(.uncertainHash, path, message + " with this model.")
  }

  private mutating func review(_ property: PropertyDescription, of entity: EntityDescription) {
    let path = "\(entity.name).\(property.name)"
    if ReservedNames.properties.contains(property.name) {
      warn(.reservedName, path, "The name is that of a member of every managed object. Choose another.")
    }
    if property.name.first?.isUppercase == true {
      warn(.nameCase, path, "The name begins with a capital, as those of entities do. Begin it with a small letter.")
    }
    switch property {
    case .attribute(let attribute): review(attribute, path)
    case .relationship(let relationship): review(relationship, path)
    }
  }

  private mutating func review(_ attribute: AttributeDescription, _ path: String) {
    let isFilled = !attribute.defaultValue.isNull || attribute.derivationExpression != nil
    if !attribute.isOptional, !attribute.isTransient, !isFilled {
      let advice = "Give it one, or make it optional: otherwise a migration has no value for existing records."
      warn(.missingDefault, path, "The attribute is required and has no default value. \(advice)")
    }
    if attribute.type == .transformable, attribute.valueTransformerName == nil {
      let advice = "Name one, or use a Codable type in code."
      warn(.missingTransformer, path, "The attribute is transformable and names no transformer. \(advice)")
    }
    if attribute.derivationExpression != nil { warnOfHash(path, "a derived attribute") }
    if attribute.allowsExternalBinaryDataStorage && attribute.preservesValueInHistoryOnDeletion {
      warnOfHash(path, "an attribute that is stored externally and preserved on deletion")
    }
  }

  private mutating func review(_ relationship: RelationshipDescription, _ path: String) {
    if relationship.inverseRelationshipName == nil {
      let advice = "Add one: otherwise the other end is not updated when an object changes or is deleted."
      warn(.missingInverse, path, "The relationship has no inverse. \(advice)")
    } else if relationship.hasOneSidedInverse {
      warn(.oneSidedInverse, path, "The inverse has another inverse. Make the two name each other.")
    }
    if relationship.isOrdered, !relationship.isToMany {
      warn(.orderOfOne, path, "A relationship to one object is ordered. Make it to-many, or not ordered.")
    }
    if relationship.deleteRule == .noAction {
      let advice = "Choose nullify, cascade or deny, unless the application removes them."
      warn(
        .noAction,
        path,
        "The delete rule is “no action”, which leaves references to a deleted object at the other end. \(advice)"
      )
    }
    if relationship.isToMany, !relationship.isOptional, relationship.minCount == 0 {
      warn(
        .impossibleCount,
        path,
        "The relationship is required and has no least count, so it may be empty. Give it a least count of 1, or make it optional."
      )
    }
  }
}

// MARK: ReservedNames

/// Names that would hide classes of the framework, or members of them.
package enum ReservedNames {
  static let entities: Set<String> = [
    "ManagedObject", "ManagedObjectContext", "ManagedObjectID", "ManagedObjectModel", "EntityDescription",
    "FetchRequest", "PersistentStore", "NSManagedObject", "Object", "Class", "Type", "Self", "Any", "Protocol",
  ]

  /// The members of every managed object. The macros, which have no access to models, repeat the list.
  package static let properties: Set<String> = [
    "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent", "committedValues",
    "description",
    "didSave", "didTurnIntoFault", "entity", "entityDefinition", "entityName", "fetchExpression", "hasChanges",
    "hasPersistentChangedValues", "hash", "hashValue", "init", "isDeleted", "isFault", "isInserted", "isUpdated",
    "managedObjectContext", "objectID", "prepareForDeletion", "propertyValidators", "savedVersion", "self", "Type",
    "validateForDelete",
    "validateForInsert", "validateForUpdate", "willAccessValue", "willSave", "willTurnIntoFault",
  ]
}
