import HeartwoodModel

/// Makes relationships and their inverses agree after a migration that created one side, made two relationships
/// inverses of each other, or removed links from one.
struct InverseSettlement {
  private let plan: MigrationPlan
  private(set) var tables: [NodeTable]
  /// The numbers of records whose relationship got other links, by entity and property.
  private(set) var restored: [(entity: String, property: String, count: Int)] = []
  /// The numbers of records that would get several destinations from the inverse although only one is allowed, by
  /// entity and property.
  private(set) var severalObjects: [(entity: String, property: String, count: Int)] = []

  /// - Parameter narrowed: the relationships that lost links because they became to-one.
  static func settle(
    _ tables: [NodeTable],
    _ plan: MigrationPlan,
    narrowed: Set<ColumnKey>
  ) -> InverseSettlement {
    var settlement = InverseSettlement(plan: plan, tables: tables)
    settlement.run(narrowed)
    return settlement
  }

  private init(plan: MigrationPlan, tables: [NodeTable]) {
    self.plan = plan
    self.tables = tables
  }

  /// Returns whether a plan makes links from inverses, regardless of the records.
  static func isNeeded(_ plan: MigrationPlan) -> Bool {
    let settlement = InverseSettlement(plan: plan, tables: [])
    return settlement.relationships.contains { relationship in
      relationship.inverse.map { settlement.mayDiffer(relationship, $0) } ?? false
    }
  }

  private mutating func run(_ narrowed: Set<ColumnKey>) {
    for relationship in relationships {
      guard let inverse = relationship.inverse else { continue }
      let isNarrowed = narrowed.contains(relationship.key)
      let mayDiffer = mayDiffer(relationship, inverse)
      if inverse.key == relationship.key {
        if isNarrowed || mayDiffer { settleWithItself(relationship, isNarrowed: isNarrowed) }
      } else if mayDiffer {
        if !relationship.isSecond { join(relationship, inverse) }
      } else if isNarrowed, follow(inverse) > 0 {
        _ = follow(relationship)
      }
    }
  }

  /// Returns whether one side of a pair may have links that the other lacks, although no links were removed.
  private func mayDiffer(_ relationship: Relationship, _ inverse: Relationship) -> Bool {
    let (isMapped, isInverseMapped) = (isMapped(relationship), isMapped(inverse))
    if isMapped, isMade(inverse) || (isInverseMapped && !wereInverse(relationship, inverse)) { return true }
    return isInverseMapped && isMade(relationship)
  }

  /// Gives both sides of a pair the links of either, as far as they have room for them.
  private mutating func join(_ relationship: Relationship, _ inverse: Relationship) {
    note(relationship, severalCount: gather(relationship))
    let severalCount = follow(inverse)
    note(inverse, severalCount: severalCount)
    if severalCount > 0 { _ = follow(relationship) }
  }

  private mutating func note(_ relationship: Relationship, severalCount: Int) {
    guard severalCount > 0 else { return }
    severalObjects.append((relationship.entity.name, relationship.name, severalCount))
  }
}

/// A property of an entity. A relationship is identified by the entity that declares it.
struct ColumnKey: Hashable, Sendable {
  let entityOrdinal: Int
  let ordinal: Int
}

extension InverseSettlement {
  private struct Relationship {
    let entity: EntityDescription
    let ordinal: Int
    let target: RelationshipTarget
    let model: ManagedObjectModel

    var name: String { entity.properties[ordinal].name }

    var isToMany: Bool { entity.traits[ordinal].isToMany }

    var key: ColumnKey { ColumnKey(entityOrdinal: entity.ordinal, ordinal: ordinal) }

    /// The inverse; nil if stores do not keep one.
    var inverse: Relationship? {
      guard let inverse = target.inverseOrdinal else { return nil }
      let other = model.entities[target.entityOrdinal].declaring(inverse)
      guard !other.traits[inverse].isTransient else { return nil }
      return other.relationshipTargets[inverse].map {
        Relationship(entity: other, ordinal: inverse, target: $0, model: model)
      }
    }

    /// Whether it comes after its inverse among all relationships.
    var isSecond: Bool {
      inverse.map { ($0.entity.ordinal, $0.ordinal) < (entity.ordinal, ordinal) } ?? false
    }
  }

  private var relationships: [Relationship] {
    plan.destination.entities.flatMap { entity -> [Relationship] in
      let inherited = entity.superentity?.properties.count ?? 0
      return entity.properties.indices.dropFirst(inherited).compactMap { ordinal -> Relationship? in
        guard !entity.traits[ordinal].isTransient, let target = entity.relationshipTargets[ordinal] else { return nil }
        return Relationship(entity: entity, ordinal: ordinal, target: target, model: plan.destination)
      }
    }
  }

  /// Returns the ordinals in the old model of the sources of the relationship, entity by entity.
  private func sources(_ relationship: Relationship) -> [(entity: EntityDescription, ordinal: Int)?] {
    plan.destination.concreteEntities(under: relationship.entity).compactMap { plan.entities[$0.ordinal] }.map {
      entity in
      entity.columns[relationship.ordinal].sourceOrdinal.map { (entity.source, $0) }
    }
  }

  private func isMapped(_ relationship: Relationship) -> Bool {
    sources(relationship).contains { $0 != nil }
  }

  /// Returns whether some records have the relationship that had no source for it before.
  private func isMade(_ relationship: Relationship) -> Bool {
    sources(relationship).contains { $0 == nil }
  }

  /// Returns whether the source of one was the inverse of the source of the other, and of nothing else.
  private func wereInverse(_ relationship: Relationship, _ inverse: Relationship) -> Bool {
    let (old, oldInverse) = (formerRelationships(relationship), formerRelationships(inverse))
    let (keys, inverseKeys) = (Set(old.map(\.key)), Set(oldInverse.map(\.key)))
    return old.allSatisfy { $0.inverse.map { inverseKeys.contains($0.key) } ?? false }
      && oldInverse.allSatisfy { $0.inverse.map { keys.contains($0.key) } ?? false }
  }

  /// Returns the sources of the relationship in the old model, each for the entity that declares it.
  private func formerRelationships(_ relationship: Relationship) -> [Relationship] {
    sources(relationship).compactMap(\.self).compactMap { entity, ordinal in
      entity.relationshipTargets[ordinal].map {
        Relationship(entity: entity.declaring(ordinal), ordinal: ordinal, target: $0, model: plan.source)
      }
    }
  }
}

// MARK: Following

extension InverseSettlement {
  /// Sets the destinations of a relationship to the records that refer to it by the inverse, and to no others.
  ///
  /// - Returns: the number of records that had room for only one of several destinations.
  private mutating func follow(_ relationship: Relationship) -> Int {
    let leading = leading(relationship)
    return replaceLinks(of: relationship) { key, old in
      let found = leading[key] ?? []
      return Self.merged(old, found, keeping: Set(found))
    }
  }

  /// Adds the records that refer to it by the inverse to the destinations of a relationship.
  ///
  /// - Returns: the number of records that had room for only one of several destinations.
  private mutating func gather(_ relationship: Relationship) -> Int {
    guard let inverse = relationship.inverse else { return 0 }
    let leading = leading(relationship)
    let records = Set(links(inverse).map(\.key))
    return replaceLinks(of: relationship) { key, old in Self.merged(old, leading[key] ?? [], keeping: records) }
  }

  /// - Parameter new: returns the new links of a record for its old links.
  /// - Returns: the number of records that had room for only one of several destinations.
  @discardableResult
  private mutating func replaceLinks(
    of relationship: Relationship,
    by new: (_ key: RecordKey, _ old: [RecordKey]) -> [RecordKey]
  ) -> Int {
    let isToMany = relationship.isToMany
    var (changed, severalCount) = (0, 0)
    for entity in plan.destination.concreteEntities(under: relationship.entity) {
      let table = tables[entity.ordinal]
      let groups = table.groups.map { group in
        let builder = ColumnBuilder(kind: isToMany ? .toMany : .toOne)
        for row in 0..<group.rowCount {
          guard group.isLive(row) else {
            builder.append([], isToMany: isToMany)
            continue
          }
          let old = group.columns[relationship.ordinal].recordKeys(row)
          var links = new(RecordKey(entityOrdinal: entity.ordinal, reference: group.references[row]), old)
          if !isToMany, links.count > 1 {
            severalCount += 1
            links.removeLast(links.count - 1)
          }
          if links != old { changed += 1 }
          builder.append(links, isToMany: isToMany)
        }
        return group.replacing(relationship.ordinal, by: builder.sealed())
      }
      if table.count > 0 { tables[entity.ordinal] = NodeTable(entity: entity, groups: groups) }
    }
    note(relationship, changed)
    return severalCount
  }

  private mutating func note(_ relationship: Relationship, _ count: Int) {
    guard count > 0 else { return }
    restored.append((relationship.entity.name, relationship.name, count))
  }

  /// Returns the records that refer to each record by the inverse.
  private func leading(_ relationship: Relationship) -> [RecordKey: [RecordKey]] {
    guard let inverse = relationship.inverse else { return [:] }
    var leading: [RecordKey: [RecordKey]] = [:]
    for (key, targets) in links(inverse) {
      for target in targets { leading[target, default: []].append(key) }
    }
    return leading
  }

  /// Returns the destinations of the relationship of each record, in the order of the records.
  private func links(_ relationship: Relationship) -> [(key: RecordKey, targets: [RecordKey])] {
    plan.destination.concreteEntities(under: relationship.entity).flatMap { entity in
      tables[entity.ordinal].liveRows.map { row -> (key: RecordKey, targets: [RecordKey]) in
        let group = tables[entity.ordinal].groups[row.group]
        let key = RecordKey(entityOrdinal: entity.ordinal, reference: group.references[row.row])
        return (key: key, targets: group.columns[relationship.ordinal].recordKeys(row.row))
      }
    }
  }

  /// Returns the old links to the kept destinations, in their order, followed by the new links.
  private static func merged(_ old: [RecordKey], _ found: [RecordKey], keeping kept: Set<RecordKey>) -> [RecordKey] {
    let kept = old.filter(kept.contains)
    let known = Set(kept)
    return kept + found.filter { !known.contains($0) }
  }
}

// MARK: A relationship that is its own inverse

extension InverseSettlement {
  /// Makes the links of a relationship that is its own inverse symmetric: records get all links of both sides, or, if
  /// there is room for only one, form pairs.
  ///
  /// - Parameter isNarrowed: whether the links are what remained of several.
  private mutating func settleWithItself(_ relationship: Relationship, isNarrowed: Bool) {
    guard !relationship.isToMany else {
      _ = gather(relationship)
      return
    }
    let links = links(relationship)
    let keys = Set(links.map(\.key))
    let wishes = links.flatMap { key, targets in
      targets.prefix(1).filter(keys.contains).map { (key: key, target: $0) }
    }
    let partners = Self.partners(wishes, keepsPairs: !isNarrowed)
    replaceLinks(of: relationship) { key, _ in partners[key].map { [$0] } ?? [] }
  }

  /// Returns the partner of each record: the first record that refers to it, and has no partner yet.
  ///
  /// - Parameter keepsPairs: whether two records that refer to each other take precedence over all others.
  private static func partners(
    _ wishes: [(key: RecordKey, target: RecordKey)],
    keepsPairs: Bool
  ) -> [RecordKey: RecordKey] {
    var partners: [RecordKey: RecordKey] = [:]
    func pair(_ wish: (key: RecordKey, target: RecordKey)) {
      guard partners[wish.key] == nil, partners[wish.target] == nil else { return }
      (partners[wish.key], partners[wish.target]) = (wish.target, wish.key)
    }
    if keepsPairs {
      let targets = Dictionary(wishes.map { ($0.key, $0.target) }, uniquingKeysWith: { first, _ in first })
      for wish in wishes where targets[wish.target] == wish.key { pair(wish) }
    }
    for wish in wishes { pair(wish) }
    return partners
  }
}

extension EntityDescription {
  /// Returns the entity, this one or one of its superentities, that declares the property with `ordinal`.
  func declaring(_ ordinal: Int) -> EntityDescription {
    var entity = self
    while let parent = entity.superentity, ordinal < parent.properties.count { entity = parent }
    return entity
  }
}

extension ColumnBuilder {
  /// Appends the destinations of a relationship; only the first for a to-one relationship.
  func append(_ links: [RecordKey], isToMany: Bool) {
    if isToMany { return append(toMany: links.map { ($0.reference, $0.entityOrdinal) }) }
    guard let first = links.first else { return appendNull() }
    append(toOne: first.reference, entityOrdinal: first.entityOrdinal)
  }
}
