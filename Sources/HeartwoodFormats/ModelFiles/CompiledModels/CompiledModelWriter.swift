import HeartwoodModel

/// Archives a model as Core Data keeps it in its stores.
///
/// Only what archives of Core Data's have been seen to hold is written, as it is found there; for a model with anything else there is no
/// archive, and never one without it. ``CompiledModelReader`` reads what is written as the same model, but for the order of entities and
/// properties, which an archive does not tell, and for validation predicates that model files have no place for.
struct CompiledModelWriter {
  /// What stands where a dictionary with known keys has no value.
  private static let emptyToken = "__empty_slot_token_4c24_98dc_ac1e_b773__"

  let model: ManagedObjectModel
  var archive = KeyedArchiveWriter()
  /// The number of the model's own object.
  private let root: Int
  /// Indexed by the ordinal of the entity.
  private var entityNumbers: [Int] = []
  /// Indexed by the ordinals of the entity and of the property: inherited ones are objects of their own in each entity.
  private var propertyNumbers: [[Int]] = []

  /// - Throws: ``ArchiveGap`` with what no archive is known to hold.
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
  /// The entities in the order of their names.
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

  /// Lists of names; nil where there is none.
  private mutating func lists(_ lists: [[String]]) -> ArchiveValue? {
    guard !lists.isEmpty else { return nil }
    let items = lists.map { names in archive.list(.mutableArray, names.map { archive.text($0) }) }
    return archive.list(.mutableArray, items)
  }
}

// MARK: Indexes

extension CompiledModelWriter {
  /// The indexes as they are, and those of several properties once more, as older frameworks have them.
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
  /// The configurations; nil where there is none but the one of all entities.
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
