import Heartwood

/// All that a store keeps, by the tags of its objects and by the numbers of entities and properties of a ``ModelDraft``.
struct TaggedGraph: Equatable {
  struct Record: Equatable {
    var entity: Int
    var values: [Int: PropertyValue] = [:]
    var links: [Int: [Int64]] = [:]
  }

  var records: [Int64: Record] = [:]

  init() {}

  /// Reads all objects of a context.
  init(_ context: ManagedObjectContext, _ draft: ModelDraft) throws {
    for entity in draft.entities where !entity.isAbstract {
      for object in try context.fetchMembers(entity.name) {
        let tag = try Self.tag(object)
        if records[tag] != nil { throw Mismatch("two objects have the tag \(tag)") }
        records[tag] = try Self.record(object, entity.id, draft)
      }
    }
  }

  static func tag(_ object: ManagedObject) throws -> Int64 {
    guard case .integer(let tag) = try object.propertyValue(forKey: ModelDraft.tag) else {
      throw Mismatch("an object of \(object.entity.name) has no tag")
    }
    return tag
  }

  private static func record(_ object: ManagedObject, _ entity: Int, _ draft: ModelDraft) throws -> Record {
    var record = Record(entity: entity)
    for property in draft.properties(of: entity) {
      switch property.kind {
      case .attribute(let attribute) where attribute.isTransient: continue
      case .attribute: record.values[property.id] = try object.propertyValue(forKey: property.name)
      case .link(let link):
        let value = try object.value(forKey: property.name)
        let others = (value as? [ManagedObject]) ?? (value as? ManagedObject).map { [$0] } ?? []
        let tags = try others.map(tag)
        record.links[property.id] = link.isToMany && link.isOrdered ? tags : tags.sorted()
      }
    }
    return record
  }
}

extension ManagedObjectContext {
  /// The objects of an entity, without those of its subentities.
  func fetchMembers(_ entity: String) throws -> [ManagedObject] {
    var request = FetchRequest<ManagedObject>(entityName: entity)
    request.includesSubentities = false
    return try fetch(request)
  }
}

/// What an inferred migration has to make of a graph.
struct ExpectedMigration {
  let old: ModelDraft
  let new: ModelDraft
  private(set) var graph = TaggedGraph()
  /// The relationships that also lead to what leads back, in an order that is not said.
  private var joined: Set<Int> = []
  /// The relationships of which some objects had to let go, and it is not said which.
  private(set) var narrowed: Set<Int> = []
  /// How many values have no form in their new type.
  private(set) var unfitCount = 0
  /// How many required values would be missing.
  private(set) var missingCount = 0

  init(of graph: TaggedGraph, from old: ModelDraft, to new: ModelDraft) {
    (self.old, self.new) = (old, new)
    for (tag, record) in graph.records where new.entity(record.entity) != nil {
      self.graph.records[tag] = migrated(record, graph)
    }
    followInverses()
    narrow()
    sortUnordered()
  }

  private mutating func migrated(_ record: TaggedGraph.Record, _ graph: TaggedGraph) -> TaggedGraph.Record {
    var migrated = TaggedGraph.Record(entity: record.entity)
    for property in new.properties(of: record.entity) {
      let source = old.properties(of: record.entity).first { property.origins.contains($0.id) }
      switch property.kind {
      case .attribute(let attribute) where attribute.isTransient: continue
      case .attribute(let attribute):
        migrated.values[property.id] = value(source.flatMap { record.values[$0.id] }, attribute)
      case .link(let link):
        // What leads to records that are gone, or where it may not lead any more, is left out.
        migrated.links[property.id] = (source.flatMap { record.links[$0.id] } ?? []).filter { tag in
          graph.records[tag].map { new.isKind($0.entity, of: link.destination) } ?? false
        }
      }
    }
    return migrated
  }

  /// - Parameter value: what the property was; nil where there was none.
  private mutating func value(_ value: PropertyValue?, _ attribute: ModelDraft.Attribute) -> PropertyValue {
    guard let value else { return attribute.defaultValue }
    if value.isNull { return attribute.isOptional ? .null : attribute.defaultValue }
    if let migrated = value.migrated(to: attribute.type) { return migrated }
    unfitCount += 1
    if !attribute.isOptional, attribute.defaultValue.isNull { missingCount += 1 }
    return attribute.defaultValue
  }
}

// MARK: Relationships

extension ExpectedMigration {
  /// A relationship leads to what leads back too, be it new or of another inverse.
  private mutating func followInverses() {
    for (_, property, link) in new.links {
      guard let inverse = link.inverse else { continue }
      for (tag, record) in graph.records {
        for target in record.links[inverse] ?? []
        where graph.records[target]?.links[property.id]?.contains(tag) == false {
          graph.records[target]?.links[property.id]?.append(tag)
          joined.insert(property.id)
        }
      }
    }
  }

  private mutating func narrow() {
    for (_, property, link) in new.links where !link.isToMany {
      if graph.records.values.contains(where: { ($0.links[property.id] ?? []).count > 1 }) {
        narrowed.insert(property.id)
        if let inverse = link.inverse { narrowed.insert(inverse) }
      }
    }
  }

  private mutating func sortUnordered() {
    for (_, property, link) in new.links where !(link.isToMany && link.isOrdered && wasOrdered(property)) {
      for tag in graph.records.keys { graph.records[tag]?.links[property.id]?.sort() }
    }
  }

  private func wasOrdered(_ property: ModelDraft.Property) -> Bool {
    guard !joined.contains(property.id) else { return false }
    let links = old.links.filter { property.origins.contains($0.property.id) }.map(\.link)
    return !links.isEmpty && links.allSatisfy { $0.isToMany && $0.isOrdered }
  }

  /// - Throws: ``Mismatch`` where `found` is something else.
  func check(_ found: TaggedGraph) throws {
    try require(found.records.keys.sorted(), equals: graph.records.keys.sorted(), "the objects")
    for (tag, record) in found.records.sorted(by: { $0.key < $1.key }) {
      guard let expected = graph.records[tag] else { continue }
      try require(record.entity, equals: expected.entity, "the entity of \(tag)")
      for property in new.properties(of: record.entity) {
        let name = "\(new.entity(record.entity)?.name ?? "").\(property.name) of \(tag)"
        try require(record.values[property.id], equals: expected.values[property.id], name)
        guard case .link(let link) = property.kind, let links = record.links[property.id] else { continue }
        let wanted = expected.links[property.id] ?? []
        if narrowed.contains(property.id) {
          try checkNarrowed(links, wanted, tag, link, found, name)
        } else {
          try require(wasOrdered(property) ? links : links.sorted(), equals: wanted, name)
        }
      }
    }
  }

  /// Links of which some had to go are among those that were, and both ends agree.
  private func checkNarrowed(
    _ links: [Int64],
    _ wanted: [Int64],
    _ tag: Int64,
    _ link: ModelDraft.Link,
    _ found: TaggedGraph,
    _ name: String
  ) throws {
    if !Set(links).isSubset(of: wanted) { throw Mismatch("\(name) is \(links), and should be of \(wanted)") }
    guard let inverse = link.inverse else {
      return try require(links.isEmpty, equals: wanted.isEmpty, "whether \(name) is empty")
    }
    for other in links where found.records[other]?.links[inverse]?.contains(tag) != true {
      throw Mismatch("\(name) is \(links), and \(other) does not lead back")
    }
  }
}
