import Heartwood

/// Makes random conditions and orders for the objects of an entity, with values of few that are possible, so that they meet.
struct ConditionMaker {
  private let model: ManagedObjectModel
  private let entity: EntityDescription
  private let pools: [AttributeType: [PropertyValue]]
  private let ids: [ManagedObjectID]
  var generator: SeededGenerator

  /// - Parameters:
  ///   - pools: the values that attributes have.
  ///   - ids: the objects that there are.
  init(
    _ model: ManagedObjectModel,
    _ entity: EntityDescription,
    _ pools: [AttributeType: [PropertyValue]],
    _ ids: [ManagedObjectID],
    seed: UInt64
  ) {
    self.model = model
    self.entity = entity
    self.pools = pools
    self.ids = ids
    generator = SeededGenerator(seed: seed)
  }

  mutating func condition(depth: Int) -> PlainCondition {
    switch Int.random(in: depth > 0 ? 0...6 : 3...6, using: &generator) {
    case 0: return .not(condition(depth: depth - 1))
    case 1: return .and((0..<Int.random(in: 1...3, using: &generator)).map { _ in condition(depth: depth - 1) })
    case 2: return .or((0..<Int.random(in: 1...3, using: &generator)).map { _ in condition(depth: depth - 1) })
    case 3: return relationshipCondition() ?? attributeCondition()
    default: return attributeCondition()
    }
  }

  mutating func sorts() -> [FetchSortDescriptor] {
    let paths = attributePaths.filter { Self.hasOrder($0.type) }.map { $0.path.joined(separator: ".") }
    let counts = entity.relationships.filter(\.isToMany).map { "\($0.name).@count" }
    return (0..<Int.random(in: 0...3, using: &generator)).compactMap { _ in
      (paths + counts).randomElement(using: &generator).map {
        FetchSortDescriptor($0, ascending: generator.chance(oneIn: 2))
      }
    }
  }

  static func hasOrder(_ type: AttributeType) -> Bool {
    switch type {
    case .binary, .transformable, .uri: false
    default: true
    }
  }
}

// MARK: Attributes

extension ConditionMaker {
  /// The attributes of the entity, and those of the objects that its to-one relationships lead to.
  private var attributePaths: [(path: [String], type: AttributeType)] {
    let own = entity.attributes.filter { !$0.isTransient }.map { ([$0.name], $0.type) }
    let related = entity.relationships.filter { !$0.isToMany }.flatMap { relationship in
      attributes(of: relationship).map { ([relationship.name, $0.name], $0.type) }
    }
    return own + related
  }

  private func attributes(of relationship: RelationshipDescription) -> [AttributeDescription] {
    model.entity(named: relationship.destinationEntityName)?.attributes ?? []
  }

  private mutating func attributeCondition() -> PlainCondition {
    guard let (path, type) = attributePaths.randomElement(using: &generator) else { return .and([]) }
    switch Int.random(in: 0...5, using: &generator) {
    case 0: return .isOneOf(path, (0..<Int.random(in: 0...4, using: &generator)).map { _ in value(of: type) })
    case 1 where Self.hasOrder(type): return .isBetween(path, value(of: type), value(of: type))
    case 2, 3:
      guard type == .string else { fallthrough }
      return textCondition(path)
    default: return .compares(path, comparator(type), value(of: type))
    }
  }

  private mutating func textCondition(_ path: [String]) -> PlainCondition {
    let comparators: [FetchComparison.Comparator] = [.contains, .beginsWith, .endsWith]
    let comparator = comparators.randomElement(using: &generator) ?? .contains
    let parts = ["", "a", "A b", "\"", ",", "1", "nil", "<"]
    return .hasText(
      path,
      comparator,
      parts.randomElement(using: &generator) ?? "",
      ignoresCase: generator.chance(oneIn: 2)
    )
  }

  private mutating func comparator(_ type: AttributeType) -> FetchComparison.Comparator {
    let equality: [FetchComparison.Comparator] = [.equalTo, .notEqualTo]
    let order: [FetchComparison.Comparator] = [.lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo]
    return (Self.hasOrder(type) ? equality + order : equality).randomElement(using: &generator) ?? .equalTo
  }

  private mutating func value(of type: AttributeType) -> PropertyValue {
    generator.chance(oneIn: 8) ? .null : pools[type]?.randomElement(using: &generator) ?? .null
  }
}

// MARK: Relationships

extension ConditionMaker {
  private mutating func relationshipCondition() -> PlainCondition? {
    guard let relationship = entity.relationships.randomElement(using: &generator) else { return nil }
    if !relationship.isToMany { return .leads([relationship.name], to: id(relationship)) }
    let keys = attributes(of: relationship)
    guard let key = keys.randomElement(using: &generator), generator.chance(oneIn: 2) else {
      let count = Int.random(in: 0...3, using: &generator)
      return .count(relationship: relationship.name, comparator(.integer64), count)
    }
    let quantifier = PlainCondition.Quantifier.allCases.randomElement(using: &generator) ?? .any
    return .each(
      quantifier,
      relationship: relationship.name,
      key: key.name,
      comparator(key.type),
      value(of: key.type)
    )
  }

  private mutating func id(_ relationship: RelationshipDescription) -> ManagedObjectID? {
    guard let destination = model.entity(named: relationship.destinationEntityName), !generator.chance(oneIn: 4) else {
      return nil
    }
    return ids.filter { $0.entity.isKind(of: destination) }.randomElement(using: &generator)
  }
}
