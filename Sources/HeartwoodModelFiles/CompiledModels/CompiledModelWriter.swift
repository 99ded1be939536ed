@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodModel

/// Archives a model in the form in which Core Data keeps it in its stores.
///
/// It writes only what is known from archives of Core Data, in the form that they have. A model with anything else
/// cannot be archived; nothing is ever left out. ``CompiledModelReader`` reads the archive as the same model, except
/// for the order of entities and properties, which archives do not contain, and for validation predicates that model
/// files cannot represent.
struct CompiledModelWriter {
  /// The placeholder for a missing value in a dictionary with known keys.
  private static let emptyToken = "__empty_slot_token_4c24_98dc_ac1e_b773__"

  let model: ManagedObjectModel
  var archive = KeyedArchiveWriter()
  /// The number of the model's object in the archive.
  private let root: Int
  /// The numbers of the entities' objects, by ordinal.
  private var entityNumbers: [Int] = []
  /// The numbers of the properties' objects, by the ordinals of the entity and the property. Each entity has objects of
  /// its own for inherited properties.
  private var propertyNumbers: [[Int]] = []

  /// - Throws: ``ArchiveGap`` if the archived form of something in the model is not known.
  static func bytes(of model: ManagedObjectModel) throws(ArchiveGap) -> [UInt8] {
    var writer = CompiledModelWriter(model)
    return try writer.write()
  }

  private init(_ model: ManagedObjectModel) {
    self.model = model
    root = archive.reserve()
    for entity in model.entities {
      entityNumbers.append(archive.reserve())
      propertyNumbers.append(entity.properties.map { _ in archive.reserve() })
    }
  }

  private mutating func write() throws(ArchiveGap) -> [UInt8] {
    for entity in model.entities { try write(entity) }
    var members: [String: ArchiveValue] = [
      "NSEntities": entities,
      "NSVersionIdentifiers": archive.list(.set, model.versionIdentifiers.map { archive.text($0) }),
      "NSFetchRequestTemplates": try fetchRequests(),
    ]
    members["NSConfigurations"] = configurations
    archive.set(root, .model, members)
    return archive.bytes(root: .reference(root))
  }

  func reference(to entity: EntityDescription?) -> ArchiveValue {
    entity.map { .reference(entityNumbers[$0.ordinal]) } ?? .nothing
  }

  func number(ofProperty ordinal: Int, ofEntity entity: Int) -> Int { propertyNumbers[entity][ordinal] }
}

// MARK: Entities

extension CompiledModelWriter {
  /// The entities, sorted by name.
  private var entities: ArchiveValue {
    mutating get {
      let sorted = model.entities.sorted { $0.name < $1.name }
      let keys = archive.list(.array, sorted.map { archive.text($0.name) })
      let mapping = archive.object(
        .knownKeys,
        ["keys": keys, "length": .integer(Int64(sorted.count)), "version": .integer(1)]
      )
      return archive.object(
        .knownKeysDictionary,
        [
          "searchMapping": mapping, "values": archive.list(.array, sorted.map(reference(to:))),
          "emptyToken": archive.text(Self.emptyToken), "version": .integer(1),
        ]
      )
    }
  }

  private mutating func write(_ entity: EntityDescription) throws(ArchiveGap) {
    guard entity.compositeAttributes.isEmpty else { throw ArchiveGap("the composite attributes of \(entity.name)") }
    var properties: [(key: String, value: ArchiveValue)] = []
    for (ordinal, property) in entity.properties.enumerated() {
      try write(property, ordinal, of: entity)
      properties.append((property.name, .reference(number(ofProperty: ordinal, ofEntity: entity.ordinal))))
    }
    for property in entity.fetchedProperties {
      properties.append((property.name, try fetchedProperty(property, of: entity)))
    }
    let subentities = model.entities.filter { $0.superentity === entity }
    var members: [String: ArchiveValue] = [
      "NSEntityName": archive.text(entity.name),
      "NSClassNameForEntity": archive.text(entity.managedObjectClassName),
      "NSManagedObjectModel": .reference(root),
      "NSSuperentity": reference(to: entity.superentity),
      "NSSubentities": archive.dictionary(
        .mutableDictionary,
        subentities.map { ($0.name, reference(to: $0)) }
      ),
      "NSProperties": archive.dictionary(.mutableDictionary, properties),
      "NSUserInfo": userInfo(entity.userInfo),
      "NSVersionHashModifier": archive.text(entity.versionHashModifier),
      "NSRenamingIdentifier": archive.text(entity.renamingIdentifier ?? entity.name),
    ]
    if entity.isAbstract { members["NSIsAbstract"] = .boolean(true) }
    members["NSUniqueTuples"] = lists(entity.definition.uniquenessConstraints)
    members.merge(try indexes(of: entity)) { own, _ in own }
    archive.set(entityNumbers[entity.ordinal], .entity, members)
  }

  mutating func userInfo(_ entries: [String: String]) -> ArchiveValue {
    archive.dictionary(.dictionary, entries.sorted { $0.key < $1.key }.map { ($0.key, archive.text($0.value)) })
  }

  /// Returns lists of names; nil if there are none.
  private mutating func lists(_ lists: [[String]]) -> ArchiveValue? {
    guard !lists.isEmpty else { return nil }
    let items = lists.map { names in archive.list(.mutableArray, names.map { archive.text($0) }) }
    return archive.list(.mutableArray, items)
  }
}

// MARK: Indexes

extension CompiledModelWriter {
  /// Returns the indexes, and in addition those of several properties in the form of older frameworks.
  private mutating func indexes(of entity: EntityDescription) throws(ArchiveGap) -> [String: ArchiveValue] {
    let indexes = entity.definition.fetchIndexes
    guard !indexes.isEmpty else { return [:] }
    let descriptions = try indexes.map { index throws(ArchiveGap) in try fetchIndex(index, of: entity) }
    var members = ["NSFetchIndexDescriptions": archive.list(.mutableArray, descriptions)]
    let compounds = indexes.map { $0.elements.compactMap(\.propertyName) }.filter { $0.count > 1 }
    members["NSCompoundIndexes"] = lists(compounds)
    return members
  }

  private mutating func fetchIndex(
    _ index: FetchIndexDescription,
    of entity: EntityDescription
  ) throws(ArchiveGap) -> ArchiveValue {
    let number = archive.reserve()
    let elements = try index.elements.map { element throws(ArchiveGap) in
      guard let name = element.propertyName, element.collationType == .binary else {
        throw ArchiveGap("an expression or an R-tree in the index \(index.name) of \(entity.name)")
      }
      let members: [String: ArchiveValue] = [
        "NSPropertyName": archive.text(name), "NSFetchIndexElementType": .integer(0),
        "NSFetchIndexDescription": .reference(number), "NSAscending": .boolean(element.isAscending),
      ]
      return archive.object(.fetchIndexElement, members)
    }
    let condition = try ArchivedPredicate.archive(index.partialIndexPredicate, in: &archive)
    archive.set(
      number,
      .fetchIndex,
      [
        "NSIndexName": archive.text(index.name), "NSPartialIndexPredicate": condition,
        "NSIndexElements": archive.list(.array, elements), "NSEntity": reference(to: entity),
      ]
    )
    return .reference(number)
  }
}

// MARK: Beside the entities

extension CompiledModelWriter {
  /// The configurations; nil if there is only the default one.
  private var configurations: ArchiveValue? {
    mutating get {
      guard !model.configurations.isEmpty else { return nil }
      let sorted = model.configurations.sorted { $0.key < $1.key }
      return archive.dictionary(
        .mutableDictionary,
        sorted.map { name, members in
          let entities = members.compactMap { model.entity(named: $0) }.map(reference(to:))
          return (name, archive.list(.set, entities))
        }
      )
    }
  }

  private mutating func fetchRequests() throws(ArchiveGap) -> ArchiveValue {
    guard !model.fetchRequestTemplates.isEmpty else { return .nothing }
    let members = try model.fetchRequestTemplates.map { request throws(ArchiveGap) in
      (key: request.name, value: try fetchRequest(request))
    }
    return archive.dictionary(.mutableDictionary, members)
  }

  mutating func fetchRequest(_ request: FetchRequestTemplate) throws(ArchiveGap) -> ArchiveValue {
    guard request.includesSubentities, request.includesPropertyValues, request.includesPendingChanges,
      request.returnsObjectsAsFaults, !request.returnsDistinctResults
    else { throw ArchiveGap("what the fetch request \(request.name) says of how objects are found") }
    let predicate = try ArchivedPredicate.archive(request.predicate, in: &archive)
    var members: [String: ArchiveValue] = [
      "NSEntity": reference(to: model.entity(named: request.entityName)), "NSPredicate": predicate,
      "NSFetchLimit": .integer(Int64(request.fetchLimit)), "NSFetchOffset": .integer(0),
      "NSBatchSize": .integer(Int64(request.fetchBatchSize)), "NSAllocationType": .integer(0),
      "NSResultType": .integer(Int64(request.resultType.dataModelNumber)),
      "NSHasFetchRequestFlags": .boolean(true),
      "NSFetchRequestFlags": .integer(Int64(CompiledModelFlag.usualFetchRequest)),
    ]
    let absent = [
      "NSSortDescriptors", "NSValuesToFetch", "NSValuesToGroupBy", "NSHavingPredicate",
      "NSRelationshipKeyPathsForPrefetching",
    ]
    for key in absent { members[key] = .nothing }
    return archive.object(.fetchRequest, members)
  }
}

// MARK: Properties

extension CompiledModelWriter {
  mutating func write(
    _ property: PropertyDescription,
    _ ordinal: Int,
    of entity: EntityDescription
  ) throws(ArchiveGap) {
    let number = number(ofProperty: ordinal, ofEntity: entity.ordinal)
    var members = common(property.name, of: entity, property.renamingIdentifier)
    addTraits(
      isOptional: property.isOptional,
      isReadOnly: property.attribute?.derivationExpression != nil,
      isTransient: property.isTransient,
      to: &members
    )
    addNotes(property.versionHashModifier, property.userInfo, to: &members)
    switch property {
    case .attribute(let attribute):
      try add(attribute, to: &members)
      archive.set(number, attribute.derivationExpression == nil ? .attribute : .derivedAttribute, flagged(members))
    case .relationship(let relationship):
      add(relationship, to: &members)
      archive.set(number, .relationship, flagged(members))
    }
  }

  mutating func fetchedProperty(
    _ property: FetchedPropertyDescription,
    of entity: EntityDescription
  ) throws(ArchiveGap) -> ArchiveValue {
    var members = common(property.name, of: entity, property.renamingIdentifier)
    addTraits(isOptional: property.isOptional, isReadOnly: true, isTransient: true, to: &members)
    addNotes(property.versionHashModifier, property.userInfo, to: &members)
    members["NSFetchRequest"] = try fetchRequest(property.fetchRequest)
    members["_NSFetchRequestEntityName"] = archive.text(property.fetchRequest.entityName)
    return archive.object(.fetchedProperty, flagged(members))
  }

  // MARK: Common members of properties

  private mutating func common(
    _ name: String,
    of entity: EntityDescription,
    _ renamingIdentifier: String?
  ) -> [String: ArchiveValue] {
    [
      "NSPropertyName": archive.text(name), "NSEntity": reference(to: entity),
      "NSRenamingIdentifier": archive.text(renamingIdentifier ?? name),
    ]
  }

  private func addTraits(
    isOptional: Bool,
    isReadOnly: Bool,
    isTransient: Bool,
    to members: inout [String: ArchiveValue]
  ) {
    if isOptional { members["NSIsOptional"] = .boolean(true) }
    if isReadOnly { members["NSIsReadOnly"] = .boolean(true) }
    if isTransient { members["NSIsTransient"] = .boolean(true) }
  }

  private mutating func addNotes(
    _ versionHashModifier: String?,
    _ notes: [String: String],
    to members: inout [String: ArchiveValue]
  ) {
    if let versionHashModifier { members["NSVersionHashModifier"] = archive.text(versionHashModifier) }
    if !notes.isEmpty { members["NSUserInfo"] = userInfo(notes) }
  }

  /// Returns the members with flags for the settings that the property has and does not have.
  private func flagged(_ members: [String: ArchiveValue]) -> [String: ArchiveValue] {
    let present: [(key: String, bit: Int64)] = [
      ("NSIsOptional", 1 << 1), ("NSIsReadOnly", 1 << 2), ("NSIsTransient", 1 << 3), ("NSIsOrdered", 1 << 10),
    ]
    let absent: [(key: String, bit: Int64)] = [
      ("NSValidationPredicates", 1 << 4), ("NSValidationWarnings", 1 << 5), ("NSUserInfo", 1 << 6),
      ("NSVersionHashModifier", 1 << 7),
    ]
    var bits: Int64 = 1
    for (key, bit) in present where members[key] != nil { bits |= bit }
    for (key, bit) in absent where members[key] == nil { bits |= bit }
    return members.merging(["_P": .integer(bits)]) { own, _ in own }
  }
}

// MARK: Attributes

extension CompiledModelWriter {
  private mutating func add(
    _ attribute: AttributeDescription,
    to members: inout [String: ArchiveValue]
  ) throws(ArchiveGap) {
    let flags =
      (attribute.allowsExternalBinaryDataStorage ? CompiledModelFlag.externalStorage : 0)
      | (attribute.preservesValueInHistoryOnDeletion ? CompiledModelFlag.preservedOnDeletion : 0)
    members["NSAttributeType"] = .integer(Int64(attribute.type.coreDataCode))
    members["NSFlagsKey"] = .integer(Int64(flags))
    members["NSAttributeValueClassName"] = archive.text(
      attribute.attributeValueClassName ?? attribute.type.valueClassName
    )
    members["NSValueTransformerName"] = archive.text(attribute.valueTransformerName)
    members["NSDefaultValue"] = try defaultValue(of: attribute)
    if let expression = attribute.derivationExpression {
      members["NSDerivationExpression"] = try ArchivedPredicate.archive(expression, in: &archive)
      members["NSFilteringPredicate"] = .nothing
    }
    let rules = ArchivedRules.predicates(of: attribute)
    guard !rules.isEmpty else { return }
    let predicates = try rules.map { rule throws(ArchiveGap) in
      try ArchivedPredicate.archive(rule.predicate, in: &archive)
    }
    members["NSValidationPredicates"] = archive.list(.array, predicates)
    members["NSValidationWarnings"] = archive.list(.array, rules.map { archive.text($0.warning) })
  }

  private mutating func defaultValue(of attribute: AttributeDescription) throws(ArchiveGap) -> ArchiveValue {
    guard attribute.defaultValue.isNull || (attribute.type != .binary && attribute.type != .transformable) else {
      throw ArchiveGap("the default value of \(attribute.name)")
    }
    return try ArchivedValue.archive(attribute.defaultValue, in: &archive)
  }
}

extension AttributeType {
  /// The class of the values; nil if only the attribute can name it.
  fileprivate var valueClassName: String? {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .binary: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    case .transformable, .undefined: nil
    }
  }
}

// MARK: Relationships

extension CompiledModelWriter {
  private mutating func add(
    _ relationship: RelationshipDescription,
    to members: inout [String: ArchiveValue]
  ) {
    // Any number is written as the greatest integer, which the version hash distinguishes from 0.
    let isBounded = relationship.maxCount != Int.max
    members["NSMinCount"] = .integer(Int64(relationship.minCount))
    members["NSMaxCount"] = .integer(relationship.isToMany ? (isBounded ? Int64(relationship.maxCount) : -1) : 1)
    members["NSDeleteRule"] = .integer(
      Int64(CompiledModelFlag.deleteRules.firstIndex(of: relationship.deleteRule) ?? 1)
    )
    members["_NSDestinationEntityName"] = archive.text(relationship.destinationEntityName)
    if relationship.isOrdered { members["NSIsOrdered"] = .boolean(true) }
    let destination = model.entity(named: relationship.destinationEntityName)
    if let destination { members["NSDestinationEntity"] = reference(to: destination) }
    guard let name = relationship.inverseRelationshipName else { return }
    members["_NSInverseRelationshipName"] = archive.text(name)
    if let destination, let inverse = destination.ordinal(ofProperty: name) {
      members["NSInverseRelationship"] = .reference(number(ofProperty: inverse, ofEntity: destination.ordinal))
    }
  }
}
