import HeartwoodModel

// A link that both ends have is kept. One that only one end has is kept if the other end has no value, because it was
// lost, and has room for the link; if the other end has a different value, it is unknown which one is right, and the
// link is dropped.

extension SalvageSettlement {
  /// A relationship in the entity that declares it.
  private struct Side: Hashable {
    let entityOrdinal: Int
    let ordinal: Int
  }

  /// Makes relationships and their inverses agree.
  mutating func settleInverses() throws {
    for (side, inverse) in pairs {
      let agreement = LinkAgreement(contents)
      let (one, other) = (agreementSide(side), agreementSide(inverse))
      // For a relationship that is its own inverse, the quick check does not show whether it agrees with itself.
      if side != inverse, try agreement.oneSidedLink(one, other) == nil { continue }
      settle(side, inverse)
    }
  }

  private func agreementSide(_ side: Side) -> RelationshipSide {
    RelationshipSide(contents.model.entities[side.entityOrdinal], side.ordinal)
  }

  /// Each pair of relationships once.
  private var pairs: [(Side, Side)] {
    var pairs: [(Side, Side)] = []
    var seen: Set<Side> = []
    for entity in contents.model.entities {
      let inherited = entity.superentity?.properties.count ?? 0
      for ordinal in entity.properties.indices.dropFirst(inherited) where !entity.traits[ordinal].isTransient {
        let side = Side(entityOrdinal: entity.ordinal, ordinal: ordinal)
        guard !seen.contains(side), let inverse = inverse(of: side) else { continue }
        seen.formUnion([side, inverse])
        pairs.append((side, inverse))
      }
    }
    return pairs
  }

  /// Returns the inverse relationship; nil if there is none that stores keep, or if its inverse is another
  /// relationship.
  private func inverse(of side: Side) -> Side? {
    let entities = contents.model.entities
    guard let target = entities[side.entityOrdinal].relationshipTargets[side.ordinal],
      let ordinal = target.inverseOrdinal
    else { return nil }
    let entity = entities[target.entityOrdinal].declaring(ordinal)
    guard !entity.traits[ordinal].isTransient, let back = entity.relationshipTargets[ordinal],
      back.inverseOrdinal == side.ordinal
    else { return nil }
    return Side(entityOrdinal: entity.ordinal, ordinal: ordinal)
  }

  private func isToMany(_ side: Side) -> Bool {
    contents.model.entities[side.entityOrdinal].traits[side.ordinal].isToMany
  }

  private func entities(_ side: Side) -> [EntityDescription] {
    contents.model.concreteEntities(under: contents.model.entities[side.entityOrdinal])
  }

  private mutating func settle(_ side: Side, _ inverse: Side) {
    let (links, backLinks) = (links(of: side), side == inverse ? [] : links(of: inverse))
    var ends = SettledLinks(isToMany: isToMany(side), isInverseToMany: isToMany(inverse), isOwnInverse: side == inverse)
    ends.isDerived = derived.contains(agreementSide(side))
    ends.isInverseDerived = derived.contains(agreementSide(inverse))
    ends.settle(links, backLinks)
    apply(ends.forward, to: side)
    if side != inverse { apply(ends.backward, to: inverse) }
  }

  /// Returns the destinations of the relationship for each record, in the order of the records; records without
  /// destinations are left out.
  private func links(of side: Side) -> [(owner: RecordKey, targets: [RecordKey])] {
    entities(side).flatMap { entity -> [(owner: RecordKey, targets: [RecordKey])] in
      contents.tables[entity.ordinal].groups.flatMap { group in
        group.liveRuns.joined().compactMap { row -> (owner: RecordKey, targets: [RecordKey])? in
          let targets = group.columns[side.ordinal].recordKeys(row)
          let owner = RecordKey(entityOrdinal: entity.ordinal, reference: group.references[row])
          return targets.isEmpty ? nil : (owner, targets)
        }
      }
    }
  }

  /// Sets the links of the records to those that were settled, and notes the changes.
  private mutating func apply(_ settled: [RecordKey: [RecordKey]], to side: Side) {
    for entity in entities(side) {
      var groups = contents.tables[entity.ordinal].groups
      for index in groups.indices { groups[index] = applied(settled, side, entity, groups[index]) }
      replace(entity.ordinal, by: groups)
    }
  }

  private mutating func applied(
    _ settled: [RecordKey: [RecordKey]],
    _ side: Side,
    _ entity: EntityDescription,
    _ group: RowGroup
  ) -> RowGroup {
    var changed: [Int: [RecordKey]] = [:]
    for row in group.liveRuns.joined() {
      let old = group.columns[side.ordinal].recordKeys(row)
      let owner = RecordKey(entityOrdinal: entity.ordinal, reference: group.references[row])
      let accepted = settled[owner] ?? []
      let (isAccepted, isOld) = (Set(accepted), Set(old))
      // Existing links stay in their order.
      let new = old.filter(isAccepted.contains) + accepted.filter { !isOld.contains($0) }
      guard new != old else { continue }
      changed[row] = new
      noteChange(
        of: owner,
        side,
        dropped: old.filter { !isAccepted.contains($0) },
        added: new.filter { !isOld.contains($0) }
      )
    }
    guard !changed.isEmpty else { return group }
    return group.withLinks(of: side.ordinal, isToMany: isToMany(side)) { changed[$0] }
  }

  private mutating func noteChange(of owner: RecordKey, _ side: Side, dropped: [RecordKey], added: [RecordKey]) {
    let entity = contents.model.entities[owner.entityOrdinal]
    let changes: [(SalvageReport.Loss.Kind, [RecordKey], String)] = [
      (.links, dropped, "which does not refer back."),
      (.restoredLinks, added, "as at the other end; this end had no value."),
    ]
    for (kind, keys, reason) in changes {
      guard let first = keys.first else { continue }
      note(
        .init(
          kind,
          entity: entity.name,
          property: entity.properties[side.ordinal].name,
          references: [owner.reference],
          count: keys.count,
          reason: "It refers to \(text(first)), \(reason)"
        )
      )
    }
  }
}

/// Links from both ends of a pair of relationships, and those of them that are kept.
private struct SettledLinks {
  let isToMany: Bool
  let isInverseToMany: Bool
  /// Whether the relationship is its own inverse, so that both ends are the same.
  let isOwnInverse: Bool
  /// Whether the file stores the links at the other end only.
  var isDerived = false
  var isInverseDerived = false
  /// The destinations of the relationship, by record.
  private(set) var forward: [RecordKey: [RecordKey]] = [:]
  private var inverse: [RecordKey: [RecordKey]] = [:]
  private var accepted: Set<Link> = []

  private struct Link: Hashable {
    let owner: RecordKey
    let target: RecordKey
  }

  init(isToMany: Bool, isInverseToMany: Bool, isOwnInverse: Bool) {
    self.isToMany = isToMany
    self.isInverseToMany = isInverseToMany
    self.isOwnInverse = isOwnInverse
  }

  /// The destinations of the inverse, by record.
  var backward: [RecordKey: [RecordKey]] { isOwnInverse ? forward : inverse }

  mutating func settle(
    _ links: [(owner: RecordKey, targets: [RecordKey])],
    _ backLinks: [(owner: RecordKey, targets: [RecordKey])]
  ) {
    let all = links.flatMap { owner, targets in targets.map { Link(owner: owner, target: $0) } }
    let back =
      isOwnInverse
      ? all.map { Link(owner: $0.target, target: $0.owner) }
      : backLinks.flatMap { owner, targets in targets.map { Link(owner: $0, target: owner) } }
    let (known, knownBack) = (Set(all), Set(back))
    for link in all where knownBack.contains(link) { accept(link) }
    // An end that is derived from the other one adds no information.
    let talkers = isDerived ? [] : Set(links.map(\.owner))
    let backTalkers = isOwnInverse ? talkers : isInverseDerived ? [] : Set(backLinks.map(\.owner))
    if !isDerived {
      for link in all where !knownBack.contains(link) && !backTalkers.contains(link.target) { accept(link) }
    }
    if !isInverseDerived {
      for link in back where !known.contains(link) && !talkers.contains(link.owner) { accept(link) }
    }
  }

  /// Keeps a link if both ends have room for it.
  private mutating func accept(_ link: Link) {
    if accepted.contains(link) { return }
    let hasPlace = isToMany || forward[link.owner] == nil
    let hasPlaceBack = isInverseToMany || backward(of: link.target) == nil
    guard hasPlace, hasPlaceBack else { return }
    accepted.insert(link)
    forward[link.owner, default: []].append(link.target)
    guard isOwnInverse else { return inverse[link.target, default: []].append(link.owner) }
    if accepted.insert(Link(owner: link.target, target: link.owner)).inserted {
      forward[link.target, default: []].append(link.owner)
    }
  }

  private func backward(of record: RecordKey) -> [RecordKey]? {
    isOwnInverse ? forward[record] : inverse[record]
  }
}
