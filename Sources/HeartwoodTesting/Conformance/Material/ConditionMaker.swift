import Heartwood

/// Makes random conditions and sorts for the objects of an entity, with few different values, so that some objects meet
/// the conditions.
struct ConditionMaker {
  private let model: ManagedObjectModel
  private let entity: EntityDescription
  private let pools: [AttributeType: [PropertyValue]]
  private let ids: [ManagedObjectID]
  var generator: SeededGenerator

  /// Creates a generator.
  ///
  /// - Parameters:
  ///   - pools: the values of the attributes, by type.
  ///   - ids: the ids of the objects.
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
  /// The attributes of the entity, and those of the objects in its to-one relationships.
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

// MARK: PlainCondition

/// A condition of a fetch that is tested as simply as possible: object by object, with the values of the object. The
/// results of columns, indexes and overlays are compared with it, so it is written to be read.
indirect enum PlainCondition {
  /// How many of the related objects must meet a condition.
  enum Quantifier: CaseIterable {
    case any, all, none
  }

  case not(PlainCondition)
  case and([PlainCondition])
  case or([PlainCondition])
  /// A comparison of a value at a key path, which may pass through to-one relationships, with a constant.
  case compares([String], FetchComparison.Comparator, PropertyValue)
  case isOneOf([String], [PropertyValue])
  case isBetween([String], PropertyValue, PropertyValue)
  /// A search for a part of a string. It is case-sensitive, unless the constant contains only ASCII.
  case hasText([String], FetchComparison.Comparator, String, ignoresCase: Bool)
  /// A comparison of a to-one relationship with an object or with nil.
  case leads([String], to: ManagedObjectID?)
  /// A comparison of the values of the objects in a to-many relationship with a constant.
  case each(Quantifier, relationship: String, key: String, FetchComparison.Comparator, PropertyValue)
  /// A comparison of the number of objects in a to-many relationship with a constant.
  case count(relationship: String, FetchComparison.Comparator, Int)
}

// MARK: As a predicate

extension PlainCondition {
  /// The same condition as a predicate of the framework.
  var predicate: FetchPredicate {
    switch self {
    case .not(let condition): .not(condition.predicate)
    case .and(let conditions): .and(conditions.map(\.predicate))
    case .or(let conditions): .or(conditions.map(\.predicate))
    default: .comparison(comparison)
    }
  }

  private var comparison: FetchComparison {
    func key(_ path: [String]) -> FetchExpression { .keyPath(of: .selfObject, path.map(FetchKey.property)) }
    switch self {
    case .compares(let path, let comparator, let value): return FetchComparison(key(path), comparator, .value(value))
    case .isOneOf(let path, let values): return FetchComparison(key(path), .in, .aggregate(values.map { .value($0) }))
    case .isBetween(let path, let lower, let upper):
      return FetchComparison(key(path), .between, .aggregate([.value(lower), .value(upper)]))
    case .hasText(let path, let comparator, let text, let ignoresCase):
      let options: FetchComparison.Options = ignoresCase ? .caseInsensitive : []
      return FetchComparison(key(path), comparator, .constant(.string(text)), options: options)
    case .leads(let path, let id):
      return FetchComparison(key(path), .equalTo, .value(id.map(PropertyValue.toOne) ?? .null))
    case .each(let quantifier, let relationship, let name, let comparator, let value):
      let modifier: FetchComparison.Modifier =
        switch quantifier {
        case .any: .any
        case .all: .all
        case .none: .none
        }
      return FetchComparison(key([relationship, name]), comparator, .value(value), modifier: modifier)
    case .count(let relationship, let comparator, let count):
      let left = FetchExpression.keyPath(of: .selfObject, [.property(relationship), .collection(.count)])
      return FetchComparison(left, comparator, .constant(.integer(Int64(count))))
    case .not, .and, .or:
      preconditionFailure("It is no comparison.")
    }
  }

  /// The conditions that are combined in this one.
  var parts: [PlainCondition] {
    switch self {
    case .not(let condition): [condition]
    case .and(let conditions), .or(let conditions): conditions
    default: []
    }
  }
}

// MARK: Testing

extension PlainCondition {
  /// Returns whether an object meets the condition.
  func holds(_ object: ManagedObject) throws -> Bool {
    switch self {
    case .not(let condition): return try !condition.holds(object)
    case .and(let conditions): return try conditions.allSatisfy { try $0.holds(object) }
    case .or(let conditions): return try conditions.contains { try $0.holds(object) }
    case .compares(let path, let comparator, let value):
      return PlainOrder.holds(try object.plainValue(path), comparator, value)
    case .isOneOf(let path, let values):
      let found = try object.plainValue(path)
      return values.contains { PlainOrder.areEqual(found, $0) }
    case .isBetween(let path, let lower, let upper):
      let found = try object.plainValue(path)
      return PlainOrder.holds(found, .greaterThanOrEqualTo, lower) && PlainOrder.holds(found, .lessThanOrEqualTo, upper)
    case .hasText(let path, let comparator, let text, let ignoresCase):
      guard case .string(let found) = try object.plainValue(path) else { return false }
      return PlainOrder.has(found, comparator, text, ignoresCase: ignoresCase)
    case .leads(let path, let id):
      return try object.plainValue(path) == (id.map(PropertyValue.toOne) ?? .null)
    case .each(let quantifier, let relationship, let key, let comparator, let value):
      let values = try object.plainObjects(relationship).map { try $0.plainValue([key]) }
      let passing = values.filter { PlainOrder.holds($0, comparator, value) }
      switch quantifier {
      case .any: return !passing.isEmpty
      case .all: return passing.count == values.count
      case .none: return passing.isEmpty
      }
    case .count(let relationship, let comparator, let count):
      let found = PropertyValue.integer(Int64(try object.plainObjects(relationship).count))
      return PlainOrder.holds(found, comparator, .integer(Int64(count)))
    }
  }
}

extension ManagedObject {
  /// Returns the value at a key path; null if a relationship on the path is empty.
  func plainValue(_ path: [String]) throws -> PropertyValue {
    guard let first = path.first else { return .null }
    let value = try propertyValue(forKey: first)
    if path.count == 1 { return value }
    guard case .toOne(let id) = value, let next = try? managedObjectContext?.existingObject(with: id) else {
      return .null
    }
    return try next.plainValue(Array(path.dropFirst()))
  }

  /// Returns the objects of a to-many relationship that are not deleted.
  func plainObjects(_ relationship: String) throws -> [ManagedObject] {
    guard case .toMany(let ids) = try propertyValue(forKey: relationship) else { return [] }
    return ids.compactMap { try? managedObjectContext?.existingObject(with: $0) }.filter { !$0.isDeleted }
  }
}
