import HeartwoodModel
import HeartwoodStore

/// A property, with the entity that declares it.
struct PropertySlot: Hashable {
  let entity: Int
  let property: Int
}

/// The content of a column of a table of records.
enum ColumnRole: Hashable {
  /// The key, the number of the entity, or the count of versions.
  case row(String)
  /// The value of an attribute, or the key of the destination of a to-one relationship.
  case value(PropertySlot)
  /// The number of that destination's entity.
  case entity(PropertySlot)
  /// The position of the row in the ordered inverse of a to-one relationship.
  case order(PropertySlot)
  /// The key of the owner in a to-many relationship without an inverse.
  case owner(PropertySlot)
  /// The position of the row in that relationship.
  case ownerOrder(PropertySlot)
}

/// The tables and columns that Core Data would create, each with its purpose.
struct SchemaPlan {
  struct Column {
    var name: String
    let type: SQLiteColumnType
    let role: ColumnRole
  }

  /// The table of a root entity.
  struct Table {
    var name: String
    let root: EntityDescription
    var columns: [Column]
  }

  /// A table of a relationship and its inverse.
  struct Join {
    var name: String
    /// The relationship after which the table is named.
    let relationship: PropertySlot
    let inverse: PropertySlot
    /// The column with the keys of the owners of the relationship.
    var ownColumn: String
    /// The column with the keys of the relationship's destinations.
    var otherColumn: String
    /// The column with the order of the relationship's objects, if they have one.
    var orderColumn: String?
    /// The column with the order of the inverse's objects, if they have one.
    var inverseOrderColumn: String?

    var isReflexive: Bool { relationship == inverse }
  }

  let model: ManagedObjectModel
  let forest: EntityForest
  let numbers: [String: Int]
  /// The tables, in the order of the forest.
  var tables: [Table] = []
  var joins: [Join] = []

  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if the destination of a relationship is an entity that the
  ///   store does not keep.
  init(
    model: ManagedObjectModel,
    forest: EntityForest,
    numbers: [String: Int]
  ) throws(PersistenceError) {
    self.model = model
    self.forest = forest
    self.numbers = numbers
    try checkDestinations()
    var names = UniqueNames(reserved: [
      SQLiteName.primaryKeyTable, SQLiteName.metadataTable, SQLiteName.modelCacheTable,
    ])
    for member in forest.members where member.parent == nil {
      tables.append(table(of: member, name: names.unique(SQLiteName.plain(member.entity.name))))
    }
    joins = makeJoins(&names)
  }

  private func checkDestinations() throws(PersistenceError) {
    for slot in slots {
      guard let destination = destination(of: slot), forest[destination.ordinal] == nil else { continue }
      let entity = model.entities[slot.entity]
      throw PersistenceError(
        .capabilityMissing,
        "A relationship refers to \(destination.name), which the store does not keep.",
        recovery: "Put both entities into the configuration.",
        context: .init(storeType: .sqlite, entity: entity.name, property: entity.properties[slot.property].name)
      )
    }
  }
}

// MARK: Properties

extension SchemaPlan {
  /// All properties that the store keeps, entity by entity.
  var slots: [PropertySlot] { forest.members.flatMap(ownSlots) }

  /// Returns the stored properties that an entity adds to those of its ancestors.
  func ownSlots(_ member: EntityForest.Member) -> [PropertySlot] {
    member.ownProperties.filter { !member.entity.properties[$0].isTransient }
      .map { PropertySlot(entity: member.entity.ordinal, property: $0) }
  }

  /// Returns the slot of a property of an entity, whether declared or inherited.
  func slot(_ property: Int, of entity: EntityDescription) -> PropertySlot? {
    forest.declaring(property, of: entity.ordinal).map { PropertySlot(entity: $0.entity.ordinal, property: property) }
  }

  func property(_ slot: PropertySlot) -> PropertyDescription { model.entities[slot.entity].properties[slot.property] }

  func relationship(_ slot: PropertySlot) -> RelationshipDescription? { property(slot).relationship }

  func name(_ slot: PropertySlot) -> String { property(slot).name }

  func number(_ entity: EntityDescription) -> Int { numbers[entity.name] ?? 0 }

  func destination(of slot: PropertySlot) -> EntityDescription? {
    model.entities[slot.entity].relationshipTargets[slot.property].map { model.entities[$0.entityOrdinal] }
  }

  /// Returns the inverse relationship. One whose own inverse is another one is used if it is to-one, because its column
  /// exists.
  func inverse(of slot: PropertySlot) -> PropertySlot? {
    guard let destination = destination(of: slot) else { return nil }
    if let ordinal = model.entities[slot.entity].relationshipTargets[slot.property]?.inverseOrdinal {
      return self.slot(ordinal, of: destination)
    }
    guard let relationship = relationship(slot), relationship.hasOneSidedInverse,
      let ordinal = relationship.inverseRelationshipName.flatMap(destination.ordinal(ofProperty:)),
      destination.properties[ordinal].relationship?.isToMany == false
    else { return nil }
    return self.slot(ordinal, of: destination)
  }

  func isToMany(_ slot: PropertySlot) -> Bool { relationship(slot)?.isToMany ?? false }

  func isOrdered(_ slot: PropertySlot) -> Bool { isToMany(slot) && relationship(slot)?.isOrdered == true }
}

// MARK: Tables of relationships

extension SchemaPlan {
  private func makeJoins(_ names: inout UniqueNames) -> [Join] {
    var columns = UniqueNames()
    var seen: Set<PropertySlot> = []
    var joins: [Join] = []
    for slot in slots where isToMany(slot) && !seen.contains(slot) {
      guard let inverse = inverse(of: slot), isToMany(inverse) else { continue }
      seen.formUnion([slot, inverse])
      let (first, second) = comesFirst(slot, before: inverse) ? (slot, inverse) : (inverse, slot)
      joins.append(join(first, second, &names, &columns))
    }
    return joins
  }

  /// Returns whether a table is named after `slot` rather than after its inverse. For a relationship of an entity with
  /// itself there is only one sample, in which the ordered one comes first.
  private func comesFirst(_ slot: PropertySlot, before inverse: PropertySlot) -> Bool {
    let (left, right) = (number(model.entities[slot.entity]), number(model.entities[inverse.entity]))
    if left != right { return left < right }
    if isOrdered(slot) != isOrdered(inverse) { return isOrdered(slot) }
    return !name(inverse).utf8.lexicographicallyPrecedes(name(slot).utf8)
  }

  private func join(
    _ relationship: PropertySlot,
    _ inverse: PropertySlot,
    _ names: inout UniqueNames,
    _ columns: inout UniqueNames
  ) -> Join {
    let owner = number(destination(of: inverse) ?? model.entities[relationship.entity])
    let other = number(destination(of: relationship) ?? model.entities[inverse.entity])
    let isReflexive = relationship == inverse
    let ownColumn = columns.unique(SQLiteName.join(owner, name(inverse)))
    let otherColumn = isReflexive ? SQLiteName.reflexive : columns.unique(SQLiteName.join(other, name(relationship)))
    return Join(
      name: names.unique(SQLiteName.join(number(model.entities[relationship.entity]), name(relationship))),
      relationship: relationship,
      inverse: inverse,
      ownColumn: ownColumn,
      otherColumn: otherColumn,
      orderColumn: isOrdered(relationship) ? SQLiteName.joinOrder(isReflexive ? ownColumn : otherColumn) : nil,
      inverseOrderColumn: isOrdered(inverse) && !isReflexive ? SQLiteName.joinOrder(ownColumn) : nil
    )
  }
}

// MARK: EntityForest

/// The entities of a store by inheritance: the root entities, each with the subentities that share its table.
struct EntityForest {
  struct Member {
    let entity: EntityDescription
    /// The nearest ancestor that the store keeps too.
    let parent: EntityDescription?
    let root: EntityDescription
    /// The ordinals of the properties that no ancestor in the store has, sorted by name.
    let ownProperties: [Int]
  }

  /// The root entities in alphabetical order, each followed by its subentities, depth first and also in alphabetical
  /// order.
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

  /// Returns the member of an entity; nil if the store does not keep it.
  subscript(entity: Int) -> Member? { places[entity].map { members[$0] } }

  /// Returns the member that declares the property: the entity itself or an ancestor.
  func declaring(_ property: Int, of entity: Int) -> Member? {
    var member = self[entity]
    while let current = member, !current.ownProperties.contains(property) {
      member = current.parent.flatMap { self[$0.ordinal] }
    }
    return member
  }

  /// Returns whether the store has subentities of this entity.
  func hasSubentities(_ entity: EntityDescription) -> Bool {
    entity.subentityOrdinals.contains { places[$0] != nil }
  }

  /// The numbers that Core Data gives to entities of a new file.
  var numbers: [String: Int] {
    Dictionary(members.enumerated().map { ($0.element.entity.name, $0.offset + 1) }) { first, _ in first }
  }

  /// Returns entities in reverse alphabetical order, ignoring case, for a stack.
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
