import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

/// Makes a model from the records of a file: from the names of entities and relationships, the kinds of values, and the
/// keys that relationships refer to.
struct CoreDataBinaryRecovery {
  /// A kind of values, as far as it determines an attribute's type.
  private enum Kind: Hashable {
    case boolean, integer, real, text, data, date, uuid, uri, decimal, other
  }

  private struct Link: Hashable {
    let source: Int64
    let destination: Int64
  }

  private struct Relationship {
    var isToMany = false
    var isOrdered = false
    var links: Set<Link> = []
    var destinations: Set<String> = []
    var inverse: String?
  }

  private struct Entity {
    var count = 0
    /// The kinds of values at each position.
    var kinds: [Set<Kind>] = []
    var relationships: [String: Relationship] = [:]
    var parent: String?
    var isAbstract = false
  }

  private var entities: [String: Entity] = [:]
  private var notes: [String] = []
  private let nodes: CoreDataBinaryNodes
  private let path: String
  /// Whether records that cannot be read are passed over.
  private let isLenient: Bool

  init(_ file: StoreInput) throws(PersistenceError) {
    path = file.path
    isLenient = false
    let region = try file.file.mapped().region
    let head = try CoreDataBinaryHead(file, region)
    for name in head.metadata.modelVersionHashes.keys { entities[name] = Entity() }
    do throws(PropertyListFault) {
      nodes = try CoreDataBinaryNodes(region, head.header)
      try survey()
    } catch {
      throw CoreDataBinaryHead.malformed("\(error.reason)", at: head.header.records.lowerBound + error.offset, path)
    }
  }

  /// Makes a model from the records of a damaged file that can be read.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` if no records are found.
  init(remainsOf file: StoreInput) throws(PersistenceError) {
    path = file.path
    isLenient = true
    let remains = try CoreDataBinaryRemains(file)
    guard let archive = remains.archive else {
      throw remains.faults.first ?? CoreDataBinaryHead.malformed("The records are missing.", at: 0, file.path)
    }
    var names: Set<String> = []
    if case .dictionary(let hashes)? = remains.members[CoreDataBinaryWords.hashes] { names = Set(hashes.keys) }
    for name in names { entities[name] = Entity() }
    // Without the metadata, the names in the records are all that is known.
    nodes = CoreDataBinaryNodes(remainsOf: archive) { names.isEmpty || names.contains($0) }
    do throws(PropertyListFault) {
      try survey()
    } catch {
      throw CoreDataBinaryHead.malformed("\(error.reason)", at: archive.start + error.offset, path)
    }
  }

  /// Returns the model, in which all properties are optional.
  func recovered() throws(PersistenceError) -> RecoveredModel {
    var recovery = self
    recovery.findParents()
    recovery.findInverses()
    let definitions = recovery.entities.sorted { $0.key < $1.key }.map { recovery.definition($0.key, $0.value) }
    do throws(ModelValidationError) {
      let model = try ManagedObjectModel(
        entities: definitions,
        versionIdentifiers: [ManagedObjectModel.recoveredVersionIdentifier]
      )
      return RecoveredModel(model: model, notes: recovery.allNotes)
    } catch {
      throw PersistenceError(
        .modelMissing,
        "No model can be made of the records. \(error)",
        recovery: .giveModel,
        context: .init(path: path, storeType: .coreDataBinary)
      )
    }
  }

  private var allNotes: [String] {
    let names = entities.filter { $0.value.kinds.contains { !$0.isEmpty } }.keys.sorted()
    guard !names.isEmpty else { return notes }
    return notes + [
      "The file has the positions of attributes and not their names, so they were made up (attribute1 …): \(names.joined(separator: ", "))."
    ]
  }

  // MARK: Records

  private mutating func survey() throws(PropertyListFault) {
    let entityNames = Dictionary(
      nodes.nodes.map { ($0.key, $0.entityName) },
      uniquingKeysWith: { first, _ in first }
    )
    // An object that is referred to many times is counted once for each reference.
    let allowance = BinaryPropertyListReader.allowance(nodes.archive.list)
    for node in nodes.nodes {
      var entity = entities.removeValue(forKey: node.entityName) ?? Entity()
      defer { entities[node.entityName] = entity }
      entity.count += 1
      try tolerating { () throws(PropertyListFault) in try survey(node, &entity, allowance) }
      try tolerating { () throws(PropertyListFault) in
        for link in try nodes.relationships(of: node) {
          try tolerating { () throws(PropertyListFault) in try survey(link, of: node, &entity, entityNames, allowance) }
        }
      }
    }
  }

  /// Calls `body`. If the file is damaged, its faults are ignored, because reading the records reports them.
  private func tolerating(_ body: () throws(PropertyListFault) -> Void) throws(PropertyListFault) {
    do throws(PropertyListFault) {
      try body()
    } catch {
      if !isLenient { throw error }
    }
  }

  private func survey(
    _ node: CoreDataBinaryNodes.Node,
    _ entity: inout Entity,
    _ allowance: RecordAllowance
  ) throws(PropertyListFault) {
    let values = try nodes.values(of: node)
    guard values.count <= CoreDataBinaryNames.mostPositions, allowance.take(values.count) else {
      throw PropertyListFault(
        offset: try nodes.archive.list.offset(node.object),
        reason: "A record has too many values."
      )
    }
    while entity.kinds.count < values.count { entity.kinds.append([]) }
    for index in 0..<values.count {
      try tolerating { () throws(PropertyListFault) in
        if let kind = try Self.kind(nodes.archive.value(try nodes.archive.target(values[index]))) {
          entity.kinds[index].insert(kind)
        }
      }
    }
  }

  private func survey(
    _ link: (name: Int, list: Int),
    of node: CoreDataBinaryNodes.Node,
    _ entity: inout Entity,
    _ entityNames: [Int64: String],
    _ allowance: RecordAllowance
  ) throws(PropertyListFault) {
    let offset = try nodes.archive.list.offset(link.list)
    guard let name = try nodes.archive.text(link.name), let items = try nodes.archive.items(link.list),
      allowance.take(items.count * 64)
    else {
      throw PropertyListFault(
        offset: offset,
        reason: "A relationship has no name, or does not refer to a list of records."
      )
    }
    var relationship = entity.relationships.removeValue(forKey: name) ?? Relationship()
    let className = try nodes.archive.className(link.list) ?? ""
    // Core Data archives the one object of a to-one relationship as an array that is not mutable.
    relationship.isToMany = relationship.isToMany || items.count > 1 || className != ArchivedClass.array.name
    relationship.isOrdered = relationship.isOrdered || className.hasSuffix("OrderedSet")
    for index in 0..<items.count {
      let key = try nodes.key(items[index])
      relationship.links.insert(Link(source: node.key, destination: key))
      if let name = entityNames[key] { relationship.destinations.insert(name) }
    }
    entity.relationships[name] = relationship
  }

  private static func kind(_ value: ArchivedObjects.Value) -> Kind? {
    switch value {
    case .null: nil
    case .uuid: .uuid
    case .uri: .uri
    case .decimal: .decimal
    case .other: .other
    case .scalar(.boolean): .boolean
    case .scalar(.integer): .integer
    case .scalar(.real): .real
    case .scalar(.date): .date
    case .scalar(.text), .scalar(.wideText): .text
    case .scalar(.data): .data
    }
  }

  // MARK: Inheritance

  /// Gives a common parent to entities that the same relationship refers to, with the relationships that all of them
  /// have.
  private mutating func findParents() {
    for names in siblings() {
      let parent = parentName(of: names)
      var above = entities[parent] ?? Entity()
      above.isAbstract = above.count == 0
      let common = names.map { Set(entities[$0, default: Entity()].relationships.keys) }
        .reduce(nil) { (common: Set<String>?, own) in common?.intersection(own) ?? own }
      for name in common ?? [] { above.relationships[name] = joined(name, of: names) }
      for name in names {
        entities[name]?.parent = parent
        for relationship in common ?? [] { entities[name]?.relationships[relationship] = nil }
      }
      entities[parent] = above
    }
    for (name, entity) in entities {
      for (relationship, found) in entity.relationships {
        let only = destination(of: found.destinations)
        entities[name]?.relationships[relationship]?.destinations = only.map { [$0] } ?? []
      }
    }
  }

  /// Returns the sets of entities that relationships refer to together; no entity is in two of them.
  private func siblings() -> [[String]] {
    var sets: [Set<String>] = []
    let all = entities.values.flatMap { $0.relationships.values.map(\.destinations) }.filter { $0.count > 1 }
    for destinations in Set(all) {
      let touched = sets.filter { !$0.isDisjoint(with: destinations) }
      sets.removeAll { touched.contains($0) }
      sets.append(touched.reduce(destinations) { $0.union($1) })
    }
    return sets.map { $0.sorted() }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  private mutating func parentName(of names: [String]) -> String {
    let list = names.joined(separator: ", ")
    let unused = entities.filter { $0.value.count == 0 && $0.value.relationships.isEmpty }.keys
    if let only = unused.first, unused.count == 1 {
      notes.append(
        "Relationships refer to \(list), so these were taken for subentities of \(only), which has no records."
      )
      return only
    }
    var name = names.joined(separator: "Or")
    while entities[name] != nil { name += "s" }
    notes.append("Relationships refer to \(list), so an entity above these was made up: \(name).")
    return name
  }

  private func joined(_ name: String, of names: [String]) -> Relationship {
    names.compactMap { entities[$0]?.relationships[name] }.reduce(into: Relationship()) { all, own in
      all.isToMany = all.isToMany || own.isToMany
      all.isOrdered = all.isOrdered || own.isOrdered
      all.links.formUnion(own.links)
      all.destinations.formUnion(own.destinations)
    }
  }

  private func destination(of names: Set<String>) -> String? {
    guard names.count > 1 else { return names.first }
    return names.lazy.compactMap { entities[$0]?.parent }.first
  }

  // MARK: Inverses

  /// Pairs relationships as inverses if each refers back to the records that the other one refers from.
  private mutating func findInverses() {
    let all = entities.flatMap { name, entity in entity.relationships.keys.map { (entity: name, name: $0) } }
      .sorted { ($0.entity, $0.name) < ($1.entity, $1.name) }
    for (index, one) in all.enumerated() {
      guard let first = entities[one.entity]?.relationships[one.name], first.inverse == nil else { continue }
      let back = Set(first.links.map { Link(source: $0.destination, destination: $0.source) })
      let match = all[(index + 1)...].first { other in
        guard let second = entities[other.entity]?.relationships[other.name], second.inverse == nil else {
          return false
        }
        return first.destinations == [other.entity] && second.destinations == [one.entity] && second.links == back
      }
      guard let match else { continue }
      entities[one.entity]?.relationships[one.name]?.inverse = match.name
      entities[match.entity]?.relationships[match.name]?.inverse = one.name
    }
  }

  // MARK: Definitions

  private func definition(_ name: String, _ entity: Entity) -> EntityDefinition {
    let attributes = entity.kinds.enumerated().compactMap { position, kinds in
      Self.type(kinds).map {
        PropertyDescription.attribute(CoreDataBinaryNames.attribute(atPosition: position), $0, optional: true)
      }
    }
    let relationships = entity.relationships.sorted { $0.key < $1.key }.compactMap { key, found in
      found.destinations.first.map { destination in
        found.isToMany
          ? PropertyDescription.toMany(key, destination, inverse: found.inverse, ordered: found.isOrdered)
          : PropertyDescription.toOne(key, destination, inverse: found.inverse)
      }
    }
    return EntityDefinition(
      name: name,
      isAbstract: entity.isAbstract,
      superentityName: entity.parent,
      properties: attributes + relationships
    )
  }

  /// Returns the type that has values of all of the kinds; nil if there are none.
  private static func type(_ kinds: Set<Kind>) -> AttributeType? {
    let types: [(Set<Kind>, AttributeType)] = [
      ([], .undefined), ([.boolean], .boolean), ([.boolean, .integer], .integer64), ([.integer, .real], .double),
      ([.integer, .decimal], .decimal), ([.text], .string), ([.data], .binary), ([.date], .date), ([.uuid], .uuid),
      ([.uri], .uri),
    ]
    guard !kinds.isEmpty else { return nil }
    return types.first { kinds.isSubset(of: $0.0) }?.1 ?? .transformable
  }
}

// MARK: CoreDataBinaryStore: recovery

extension CoreDataBinaryStore {
  /// True: a model can be made from the records of a file.
  public static var recoversModels: Bool { true }

  /// Makes a model from the records of the file at `path`, as ``inferModel(from:options:)`` does, with notes about
  /// guesses.
  public static func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel? {
    let file = try StoreInput(try POSIXFileSystem().openFile(atPath: path))
    return try file.reading { try CoreDataBinaryRecovery(file).recovered() }
  }

  /// Makes a model from the records of a file that contains none: attributes have their positions as names, everything
  /// is optional, and the destinations of relationships are those of the records. O(bytes).
  ///
  /// If the file is damaged, the model is made of the records that can be read, for a salvage. Opening the file reports
  /// the damage.
  public static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    do throws(PersistenceError) {
      return try CoreDataBinaryRecovery(file).recovered().model
    } catch {
      // try?: the first error says what is wrong with the file.
      guard let model = try? CoreDataBinaryRecovery(remainsOf: file).recovered().model else { throw error }
      return model
    }
  }
}
