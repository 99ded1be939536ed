@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodModel

/// Reads a compiled mapping model of Xcode: a keyed archive of the mapping model that Core Data uses, with all
/// expressions filled in.
struct CompiledMappingReader {
  private static let modelClass = "NSMappingModel"
  /// The mapping types, at the indexes that archives use for them.
  private static let types: [EntityMapping.MappingType] = [.undefined, .custom, .add, .remove, .copy, .transform]
  /// The members of the objects that are read, or that have no meaning for a migration.
  private static let entityKeys: Set<String> = [
    "$class", "NSMappingName", "NSMappingType", "NSSourceEntityName", "NSDestinationEntityName",
    "NSSourceEntityVersionHash", "NSDestinationEntityVersionHash", "NSSourceExpression",
    "NSEntityMigrationPolicyClassName", "NSAttributeMappings", "NSRelationshipMappings", "NSUserInfo",
  ]
  private static let propertyKeys: Set<String> = [
    "$class", "NSDestinationPropertyName", "NSValueExpression", "NSUserInfo",
  ]

  private(set) var problems = MappingProblems()
  private(set) var entityMappings: [EntityMappingDraft] = []

  init(_ bytes: [UInt8]) throws(ArchiveError) {
    let archive = try KeyedArchive(bytes)
    guard let model = archive.root, model.className == Self.modelClass, let mappings = model["NSEntityMappings"] else {
      throw ArchiveError(message: "The archive does not contain a mapping model.")
    }
    entityMappings = mappings.items.map { entityMapping($0) }
    guard !archive.isExhausted else {
      throw ArchiveError(
        message: "The objects refer to one another too many times. This is not a mapping model that a compiler made."
      )
    }
  }

  private mutating func entityMapping(_ node: ArchiveNode) -> EntityMappingDraft {
    let (source, destination) = (node["NSSourceEntityName"]?.string, node["NSDestinationEntityName"]?.string)
    let name = EntityMappingDraft.name(node["NSMappingName"]?.string, from: source, to: destination)
    check(node, Self.entityKeys, name)
    let policy = node["NSEntityMigrationPolicyClassName"]?.string
    return EntityMappingDraft(
      mapping: EntityMapping(
        name: name,
        mappingType: mappingType(node, name),
        sourceEntityName: source,
        destinationEntityName: destination,
        sourceEntityVersionHash: hash(node["NSSourceEntityVersionHash"]),
        destinationEntityVersionHash: hash(node["NSDestinationEntityVersionHash"]),
        sourcePredicate: sourcePredicate(node["NSSourceExpression"], of: source, name),
        entityMigrationPolicyClassName: policy,
        userInfo: userInfo(node, name, isRead: policy != nil)
      ),
      attributes: properties(node["NSAttributeMappings"], of: name, hasPolicy: policy != nil),
      relationships: properties(node["NSRelationshipMappings"], of: name, hasPolicy: policy != nil)
    )
  }

  private mutating func mappingType(_ node: ArchiveNode, _ mapping: String) -> EntityMapping.MappingType {
    let number = node["NSMappingType"]?.integer ?? 0
    if Self.types.indices.contains(number) { return Self.types[number] }
    problems.append("\(mapping): the mapping type \(number) is not known")
    return .undefined
  }

  private func hash(_ node: ArchiveNode?) -> Data? {
    if case .data(let hash)? = node?.value { hash } else { nil }
  }

  /// Returns the condition for the records of a mapping.
  private mutating func sourcePredicate(
    _ node: ArchiveNode?,
    of entity: String?,
    _ mapping: String
  ) -> FetchPredicate? {
    guard let node else { return nil }
    guard let fetch = ArchivedSourceFetch(node), fetch.entityName == entity else {
      problems.appendSourceExpression(of: mapping)
      return nil
    }
    return problems.predicate(format: fetch.predicate, of: mapping)
  }

  private mutating func properties(
    _ list: ArchiveNode?,
    of mapping: String,
    hasPolicy: Bool
  ) -> [EntityMappingDraft.Property] {
    var properties: [EntityMappingDraft.Property] = []
    for node in list?.items ?? [] {
      guard let name = node["NSDestinationPropertyName"]?.string else {
        problems.append("\(mapping): an expression is of a property that has no name")
        continue
      }
      let place = "\(mapping).\(name)"
      check(node, Self.propertyKeys, place)
      let written = node["NSValueExpression"]
      let expression = written.flatMap(ArchivedMappingExpression.expression)
      if written != nil, expression == nil { problems.append("\(place): the value expression is not understood") }
      let info = userInfo(node, place, isRead: hasPolicy)
      properties.append(
        .init(
          mapping: PropertyMapping(name: name, valueExpression: expression, userInfo: info),
          isGenerated: false,
          sourceMappingName: nil
        )
      )
    }
    return properties.sorted { $0.mapping.name < $1.mapping.name }
  }

  /// Reports the members of an object that are not known.
  private mutating func check(_ node: ArchiveNode, _ known: Set<String>, _ place: String) {
    guard case .dictionary(let members) = node.value else { return }
    for key in members.keys.sorted() where !known.contains(key) && node[key] != nil {
      problems.append("\(place): the value “\(key)” is not known")
    }
  }

  private mutating func userInfo(_ node: ArchiveNode, _ place: String, isRead: Bool) -> [String: String] {
    problems.userInfo(node["NSUserInfo"]?.members ?? [], place, isReadByPolicy: isRead)
  }
}

// MARK: ArchivedSourceFetch

/// The expression with which a mapping fetches its records, in the form that Xcode writes:
/// `FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Person", "TRUEPREDICATE"), $manager.sourceContext, NO)`.
struct ArchivedSourceFetch {
  private static let function = "fetchRequestForSourceEntityNamed:predicateString:"

  let entityName: String
  /// The format of the predicate.
  let predicate: String

  /// Returns nil if the expression has another form.
  init?(_ node: ArchiveNode) {
    guard node.className == "NSFetchRequestExpression", node["NSCountOnlyFlag"]?.isTrue != true,
      let request = node["NSFRExpression"].flatMap(ArchivedMappingExpression.expression),
      case .function(on: .variable(MappingExpression.Name.manager), name: Self.function, let arguments) = request,
      arguments.count == 2, case .constant(.string(let entityName)) = arguments[0],
      case .constant(.string(let predicate)) = arguments[1],
      let context = node["NSMOCExpression"].flatMap(ArchivedMappingExpression.expression),
      case .keyPath(of: .variable(MappingExpression.Name.manager), "sourceContext") = context
    else { return nil }
    (self.entityName, self.predicate) = (entityName, predicate)
  }
}
