import HeartwoodFoundation
public import HeartwoodModel
import HeartwoodStore

extension ManagedObjectModel {
  /// Creates a model of classes that describe their entities (``ManagedObject/entityDefinition``), with the entities in
  /// the order of the classes:
  ///
  ///     let model = try ManagedObjectModel(of: [ToDo.self, List.self])
  ///
  /// Of two relationships that are inverses of each other, one may omit the name of its inverse.
  ///
  /// - Throws: ``PersistenceError/Code/objectClassMismatch`` if a class describes no entity; ``ModelValidationError``,
  ///   which lists every fault and its place; and the errors that a class throws, such as ``FetchPredicateError`` for a
  ///   derived attribute.
  public convenience init(
    of objectClasses: [ManagedObject.Type],
    configurations: [String: [String]] = [:],
    versionIdentifiers: [String] = [],
    fetchRequestTemplates: [FetchRequestTemplate] = []
  ) throws {
    try self.init(
      entities: InverseCompletion(try objectClasses.map(Self.definition)).completed(),
      configurations: configurations,
      versionIdentifiers: versionIdentifiers,
      fetchRequestTemplates: fetchRequestTemplates
    )
  }

  private static func definition(of objectClass: ManagedObject.Type) throws -> EntityDefinition {
    if let definition = try objectClass.entityDefinition { return definition }
    throw PersistenceError(
      .objectClassMismatch,
      "The class \(objectClass) describes no entity.",
      recovery: "Mark it with @Entity, or override its entityDefinition."
    )
  }
}

// MARK: PropertyDescription: keys

// Descriptions of properties by their typed keys, so that type, optionality and destination are stated only once.

extension PropertyDescription {
  /// Returns an attribute described by its key, the short form for models written in code.
  ///
  /// - Parameters:
  ///   - key: the name of the attribute and the Swift type of its values.
  ///   - type: the type in which the values are stored; nil stands for the best fit of the Swift type, such as
  ///     `integer64` for an `Int`.
  ///   - isOptional: whether an object may be saved without a value; nil stands for the optionality of the Swift type.
  public static func attribute<Value: AttributeValue>(
    _ key: AttributeKey<Value>,
    _ type: AttributeType? = nil,
    optional isOptional: Bool? = nil,
    transient isTransient: Bool = false,
    default defaultValue: Value? = nil,
    rules: AttributeRules = AttributeRules(),
    derivedFrom derivationExpression: FetchExpression? = nil,
    externalStorage: Bool = false,
    preservedOnDeletion: Bool = false,
    renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    guard let type = type ?? AttributeType(of: Value.self) else {
      ProgrammerError.stop("\(Value.self) fits no attribute. Correct its fits(_:).")
    }
    return .attribute(
      AttributeDescription(
        name: key.name,
        type: type,
        isOptional: isOptional ?? (Value.self is any OptionalAttributeValue.Type),
        isTransient: isTransient,
        defaultValue: defaultValue?.propertyValue ?? .null,
        rules: rules,
        derivationExpression: derivationExpression,
        allowsExternalBinaryDataStorage: externalStorage,
        preservesValueInHistoryOnDeletion: preservedOnDeletion,
        renamingIdentifier: renamingIdentifier,
        versionHashModifier: versionHashModifier,
        userInfo: userInfo
      )
    )
  }

  /// Returns a transformable attribute described by its key, the short form for models written in code.
  ///
  /// - Parameter transformer: the name under which its transformer is registered with ``AttributeTransformers``.
  public static func attribute<Value>(
    _ key: TransformedKey<Value>,
    transformer: String,
    optional isOptional: Bool = true,
    transient isTransient: Bool = false,
    externalStorage: Bool = false,
    preservedOnDeletion: Bool = false,
    renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    .attribute(
      AttributeDescription(
        name: key.name,
        type: .transformable,
        isOptional: isOptional,
        isTransient: isTransient,
        allowsExternalBinaryDataStorage: externalStorage,
        preservesValueInHistoryOnDeletion: preservedOnDeletion,
        valueTransformerName: transformer,
        attributeValueClassName: String(describing: Value.self),
        renamingIdentifier: renamingIdentifier,
        versionHashModifier: versionHashModifier,
        userInfo: userInfo
      )
    )
  }

  /// Returns a to-one relationship described by its key, the short form for models written in code.
  ///
  /// - Parameter inverse: the name of the inverse relationship: `List.itemsKey.name`. Either side may omit it in a
  ///   model that is made of classes, but not both.
  public static func toOne<Destination: ManagedObject>(
    _ key: ToOneKey<Destination>,
    inverse: String? = nil,
    oneSidedInverse: Bool = false,
    optional isOptional: Bool = true,
    transient isTransient: Bool = false,
    deleteRule: DeleteRule = .nullify,
    minCount: Int = 0,
    renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: key.name,
        destinationEntityName: Destination.entityName,
        inverseRelationshipName: inverse,
        hasOneSidedInverse: oneSidedInverse,
        isOptional: isOptional,
        isTransient: isTransient,
        deleteRule: deleteRule,
        minCount: minCount,
        renamingIdentifier: renamingIdentifier,
        versionHashModifier: versionHashModifier,
        userInfo: userInfo
      )
    )
  }

  /// Returns a to-many relationship described by its key, the short form for models written in code.
  ///
  /// - Parameters:
  ///   - inverse: the name of the inverse relationship: `ToDo.listKey.name`. Either side may omit it in a model that is
  ///     made of classes, but not both.
  ///   - maxCount: the greatest number of objects; 0 stands for any number.
  public static func toMany<Destination: ManagedObject>(
    _ key: ToManyKey<Destination>,
    inverse: String? = nil,
    oneSidedInverse: Bool = false,
    ordered isOrdered: Bool = false,
    optional isOptional: Bool = true,
    transient isTransient: Bool = false,
    deleteRule: DeleteRule = .nullify,
    minCount: Int = 0,
    maxCount: Int = 0,
    renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: key.name,
        destinationEntityName: Destination.entityName,
        inverseRelationshipName: inverse,
        hasOneSidedInverse: oneSidedInverse,
        isToMany: true,
        isOrdered: isOrdered,
        isOptional: isOptional,
        isTransient: isTransient,
        deleteRule: deleteRule,
        minCount: minCount,
        maxCount: maxCount,
        renamingIdentifier: renamingIdentifier,
        versionHashModifier: versionHashModifier,
        userInfo: userInfo
      )
    )
  }
}

// MARK: AttributeType: value

extension AttributeType {
  /// Each Swift type takes the first of these that fits it.
  private static let byPreference: [AttributeType] = [
    .integer64, .integer32, .integer16, .double, .float, .decimal, .string, .boolean, .date, .binary, .uuid, .uri,
    .transformable,
  ]

  /// Returns the type of attributes that store values of a Swift type: the widest integer that it accepts,
  /// `transformable` for a ``CodableAttributeValue``; nil if no type fits.
  public init?(of valueType: any AttributeValue.Type) {
    let type = (valueType as? any OptionalAttributeValue.Type)?.wrappedType ?? valueType
    if type is any CodableAttributeValue.Type {
      self = .transformable
      return
    }
    guard let fitting = Self.byPreference.first(where: type.fits) else { return nil }
    self = fitting
  }
}

/// A type whose values may be nil.
protocol OptionalAttributeValue {
  static var wrappedType: any AttributeValue.Type { get }
}

extension Optional: OptionalAttributeValue where Wrapped: AttributeValue {
  static var wrappedType: any AttributeValue.Type { Wrapped.self }
}

// MARK: InverseCompletion

/// Completes the names of inverses that only the relationship at the other end states.
struct InverseCompletion {
  private var definitions: [EntityDefinition]
  private let ordinals: [String: Int]

  init(_ definitions: [EntityDefinition]) {
    self.definitions = definitions
    ordinals = Dictionary(
      definitions.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Returns the definitions, with the names of inverses on both sides.
  func completed() -> [EntityDefinition] {
    var completion = self
    for definition in definitions {
      for relationship in definition.properties.compactMap(\.relationship) where !relationship.hasOneSidedInverse {
        completion.answer(relationship, of: definition.name)
      }
    }
    return completion.definitions
  }

  /// Sets the inverse of the relationship that `relationship` names as its own, unless that one names an inverse
  /// itself.
  private mutating func answer(_ relationship: RelationshipDescription, of entityName: String) {
    guard let inverse = relationship.inverseRelationshipName,
      let place = place(of: inverse, in: relationship.destinationEntityName),
      var other = definitions[place.entity].properties[place.property].relationship,
      other.inverseRelationshipName == nil, other.destinationEntityName == entityName
    else { return }
    other.inverseRelationshipName = relationship.name
    definitions[place.entity].properties[place.property] = .relationship(other)
  }

  /// Returns the place of a property in an entity or in one that it inherits from.
  private func place(of property: String, in entityName: String) -> (entity: Int, property: Int)? {
    var visited: Set<Int> = []
    var current = ordinals[entityName]
    while let entity = current, visited.insert(entity).inserted {
      if let index = definitions[entity].properties.firstIndex(where: { $0.name == property }) {
        return (entity, index)
      }
      current = definitions[entity].superentityName.flatMap { ordinals[$0] }
    }
    return nil
  }
}
