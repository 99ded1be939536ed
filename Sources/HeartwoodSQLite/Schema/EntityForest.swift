import HeartwoodModel
import HeartwoodStore

/// The entities of a store by descent: each topmost one, and below it those that share its table.
struct EntityForest {
  struct Member {
    let entity: EntityDescription
    /// The nearest ancestor that the store keeps too.
    let parent: EntityDescription?
    let root: EntityDescription
    /// The ordinals of the properties that no ancestor of the store has, sorted by name.
    let ownProperties: [Int]
  }

  /// Each topmost entity in alphabetical order, those below it behind it, depth first, in alphabetical order too.
  let members: [Member]
  private let places: [Int: Int]

  init(_ entities: [EntityDescription]) {
    let kept = Set(entities.map(\.ordinal))
    let parents = entities.map { Self.parent(of: $0, in: kept) }
    let children = Dictionary(grouping: zip(entities, parents)) { $0.1?.ordinal ?? -1 }
    var members: [Member] = []
    var pending = Self.sorted((children[-1] ?? []).map(\.0)).map { ($0, $0) }
    while let (entity, root) = pending.popLast() {
      let parent = Self.parent(of: entity, in: kept)
      members.append(Member(entity, parent: parent, root: root))
      pending += Self.sorted((children[entity.ordinal] ?? []).map(\.0)).map { ($0, root) }
    }
    self.members = members
    places = Dictionary(members.enumerated().map { ($0.element.entity.ordinal, $0.offset) }) { first, _ in first }
  }

  /// The member of an entity, or nil where the store does not keep it.
  subscript(entity: Int) -> Member? { places[entity].map { members[$0] } }

  /// The member that has the property first: the entity itself or an ancestor.
  func declaring(_ property: Int, of entity: Int) -> Member? {
    var member = self[entity]
    while let current = member, !current.ownProperties.contains(property) {
      member = current.parent.flatMap { self[$0.ordinal] }
    }
    return member
  }

  /// Whether entities of the store inherit from this one.
  func hasSubentities(_ entity: EntityDescription) -> Bool {
    entity.subentityOrdinals.contains { places[$0] != nil }
  }

  /// The numbers that Core Data gives to entities of a new file.
  var numbers: [String: Int] {
    Dictionary(members.enumerated().map { ($0.element.entity.name, $0.offset + 1) }) { first, _ in first }
  }

  /// In the reverse of alphabetical order, whatever the case, for a stack.
  private static func sorted(_ entities: [EntityDescription]) -> [EntityDescription] {
    entities.map { (Array($0.name.lowercased().utf8), $0) }.sorted { left, right in
      if left.0 != right.0 { return right.0.lexicographicallyPrecedes(left.0) }
      return right.1.name.utf8.lexicographicallyPrecedes(left.1.name.utf8)
    }.map(\.1)
  }

  private static func parent(of entity: EntityDescription, in kept: Set<Int>) -> EntityDescription? {
    var parent = entity.superentity
    while let current = parent, !kept.contains(current.ordinal) { parent = current.superentity }
    return parent
  }
}

extension EntityForest.Member {
  fileprivate init(_ entity: EntityDescription, parent: EntityDescription?, root: EntityDescription) {
    self.init(
      entity: entity,
      parent: parent,
      root: root,
      ownProperties: ((parent?.properties.count ?? 0)..<entity.properties.count).sorted {
        entity.properties[$0].name.utf8.lexicographicallyPrecedes(entity.properties[$1].name.utf8)
      }
    )
  }
}
