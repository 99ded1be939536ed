extension EntityDefinition: Codable {
  private enum Key: String, CodingKey {
    case name
    case className = "class"
    case abstract, parent, properties, unique, unenforcedConstraints, fetchedProperties, indexes, composites,
      renamingIdentifier,
      versionHashModifier, userInfo
  }

  /// Encodes the entity as described in `Formats/Model/README.md`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(managedObjectClassName, forKey: .className)
    try container.encodeIfSet(isAbstract, forKey: .abstract)
    try container.encodeIfPresent(superentityName, forKey: .parent)
    try container.encodeIfNotEmpty(properties, forKey: .properties)
    try container.encodeIfNotEmpty(uniquenessConstraints, forKey: .unique)
    try container.encodeIfSet(hasUnenforcedConstraints, forKey: .unenforcedConstraints)
    try container.encodeIfNotEmpty(fetchedProperties, forKey: .fetchedProperties)
    try container.encodeIfNotEmpty(fetchIndexes, forKey: .indexes)
    try container.encodeIfNotEmpty(compositeAttributes, forKey: .composites)
    try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    try container.encodeIfPresent(versionHashModifier, forKey: .versionHashModifier)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  /// Decodes an entity as described in `Formats/Model/README.md`. Names in it are not resolved; a
  /// ``ManagedObjectModel`` checks them.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      managedObjectClassName: try container.text(forKey: .className),
      isAbstract: try container.flag(forKey: .abstract),
      superentityName: try container.text(forKey: .parent),
      properties: try container.list(of: PropertyDescription.self, forKey: .properties),
      uniquenessConstraints: try container.list(of: [String].self, forKey: .unique),
      hasUnenforcedConstraints: try container.flag(forKey: .unenforcedConstraints),
      fetchedProperties: try container.list(of: FetchedPropertyDescription.self, forKey: .fetchedProperties),
      fetchIndexes: try container.list(of: FetchIndexDescription.self, forKey: .indexes),
      compositeAttributes: try container.list(of: CompositeAttributeDescription.self, forKey: .composites),
      renamingIdentifier: try container.text(forKey: .renamingIdentifier),
      versionHashModifier: try container.text(forKey: .versionHashModifier),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }
}

// MARK: FetchIndexDescription: Codable

extension FetchIndexDescription: Codable {
  private enum Key: String, CodingKey {
    case name, elements, predicate
  }

  /// Encodes the index as described in `Formats/Model/README.md`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(elements, forKey: .elements)
    try container.encodeIfPresent(partialIndexPredicate, forKey: .predicate)
  }

  /// Decodes an index as described in `Formats/Model/README.md`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      elements: try container.list(of: FetchIndexElementDescription.self, forKey: .elements),
      partialIndexPredicate: try container.decodeIfPresent(FetchPredicate.self, forKey: .predicate)
    )
  }
}

// MARK: FetchIndexElementDescription: Codable

extension FetchIndexElementDescription: Codable {
  private enum Key: String, CodingKey {
    case property, expression, collation, descending
  }

  /// Encodes the element as described in `Formats/Model/README.md`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch subject {
    case .property(let name): try container.encode(name, forKey: .property)
    case .expression(let expression): try container.encode(expression, forKey: .expression)
    }
    try container.encode(collationType, unless: .binary, forKey: .collation)
    try container.encodeIfSet(!isAscending, forKey: .descending)
  }

  /// Decodes an element as described in `Formats/Model/README.md`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    let subject: Subject
    if let expression = try container.decodeIfPresent(FetchExpression.self, forKey: .expression) {
      guard !container.contains(.property) else {
        throw DecodingError.dataCorruptedError(
          forKey: .property,
          in: container,
          debugDescription: "There is an expression, too. Remove one of them."
        )
      }
      subject = .expression(expression)
    } else {
      subject = .property(try container.decode(String.self, forKey: .property))
    }
    self.init(
      subject,
      collationType: try container.decodeIfPresent(CollationType.self, forKey: .collation) ?? .binary,
      isAscending: try !container.flag(forKey: .descending)
    )
  }
}

// MARK: FetchedPropertyDescription: Codable

extension FetchedPropertyDescription: Codable {
  private enum Key: String, CodingKey {
    case name, request, optional, renamingIdentifier, versionHashModifier, userInfo
  }

  /// Encodes the fetched property as described in `Formats/Model/README.md`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(fetchRequest, forKey: .request)
    try container.encodeIfSet(isOptional, forKey: .optional)
    try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    try container.encodeIfPresent(versionHashModifier, forKey: .versionHashModifier)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  /// Decodes a fetched property as described in `Formats/Model/README.md`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      fetchRequest: try container.decode(FetchRequestTemplate.self, forKey: .request),
      isOptional: try container.flag(forKey: .optional),
      renamingIdentifier: try container.text(forKey: .renamingIdentifier),
      versionHashModifier: try container.text(forKey: .versionHashModifier),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }
}

// MARK: FetchRequestTemplate: Codable

extension FetchRequestTemplate: Codable {
  private enum Key: String, CodingKey {
    case name, entity, predicate, resultType, limit, batchSize
    case withoutSubentities, withoutPropertyValues, withoutPendingChanges, withoutFaults, distinct
  }

  /// Encodes the template as described in `Formats/Model/README.md`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(entityName, forKey: .entity)
    try container.encodeIfPresent(predicate, forKey: .predicate)
    try container.encode(resultType, unless: .objects, forKey: .resultType)
    try container.encode(fetchLimit, unless: 0, forKey: .limit)
    try container.encode(fetchBatchSize, unless: 0, forKey: .batchSize)
    try container.encodeIfSet(!includesSubentities, forKey: .withoutSubentities)
    try container.encodeIfSet(!includesPropertyValues, forKey: .withoutPropertyValues)
    try container.encodeIfSet(!includesPendingChanges, forKey: .withoutPendingChanges)
    try container.encodeIfSet(!returnsObjectsAsFaults, forKey: .withoutFaults)
    try container.encodeIfSet(returnsDistinctResults, forKey: .distinct)
  }

  /// Decodes a template as described in `Formats/Model/README.md`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      entityName: try container.decode(String.self, forKey: .entity),
      predicate: try container.decodeIfPresent(FetchPredicate.self, forKey: .predicate),
      resultType: try container.decodeIfPresent(ResultType.self, forKey: .resultType) ?? .objects,
      fetchLimit: try container.decodeIfPresent(Int.self, forKey: .limit) ?? 0,
      fetchBatchSize: try container.decodeIfPresent(Int.self, forKey: .batchSize) ?? 0,
      includesSubentities: try !container.flag(forKey: .withoutSubentities),
      includesPropertyValues: try !container.flag(forKey: .withoutPropertyValues),
      includesPendingChanges: try !container.flag(forKey: .withoutPendingChanges),
      returnsObjectsAsFaults: try !container.flag(forKey: .withoutFaults),
      returnsDistinctResults: try container.flag(forKey: .distinct)
    )
  }
}
