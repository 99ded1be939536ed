import Heartwood
import HeartwoodTesting

/// Makes random conditions on the objects of any entity of a model.
struct PredicateMaker {
  let model: ManagedObjectModel
  var generator: SeededGenerator
  /// The objects that conditions name, of any entity and any store.
  var objectIDs: [ManagedObjectID] = []
  private var variableCount = 0

  init(_ model: ManagedObjectModel, _ generator: SeededGenerator) {
    (self.model, self.generator) = (model, generator)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  mutating func chance(_ times: Int) -> Bool { generator.chance(oneIn: times) }
  mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &generator) }

  /// A condition on `base`, an object of the entity.
  mutating func predicate(
    _ entity: EntityDescription,
    of base: FetchExpression = .selfObject,
    depth: Int
  ) -> FetchPredicate {
    switch number(depth > 0 ? 0...9 : 4...9) {
    case 0: .not(predicate(entity, of: base, depth: depth - 1))
    case 1: .and((0..<number(1...3)).map { _ in predicate(entity, of: base, depth: depth - 1) })
    case 2: .or((0..<number(1...3)).map { _ in predicate(entity, of: base, depth: depth - 1) })
    case 3: .comparison(subquery(entity, base, depth: depth - 1))
    case 4: .comparison(objectComparison(entity, base))
    case 5: .comparison(collectionComparison(entity, base))
    case 6: .comparison(countComparison(entity, base))
    default: .comparison(attributeComparison(entity, base))
    }
  }
}

// MARK: Key paths

extension PredicateMaker {
  /// Some to-one relationships, one after the other, and the entity at their end.
  private mutating func toOnePath(_ entity: EntityDescription, atMost count: Int) -> ([FetchKey], EntityDescription) {
    var (keys, entity) = ([FetchKey](), entity)
    for _ in 0..<count {
      guard chance(2), let next = pick(entity.relationships.filter { !$0.isToMany }) else { break }
      keys.append(.property(next.name))
      entity = model.entity(named: next.destinationEntityName) ?? entity
    }
    return (keys, entity)
  }

  private func keyPath(_ base: FetchExpression, _ keys: [FetchKey]) -> FetchExpression {
    keys.isEmpty ? base : .keyPath(of: base, keys)
  }

  private mutating func toMany(
    _ entity: EntityDescription
  ) -> (keys: [FetchKey], destination: EntityDescription)? {
    let (keys, end) = toOnePath(entity, atMost: 1)
    guard let relationship = pick(end.relationships.filter(\.isToMany)),
      let destination = model.entity(named: relationship.destinationEntityName)
    else { return nil }
    return (keys + [.property(relationship.name)], destination)
  }

  private mutating func attribute(_ entity: EntityDescription) -> AttributeDescription {
    pick(entity.attributes) ?? AttributeDescription(name: QueryModel.tag, type: .integer64)
  }
}

// MARK: Comparisons

extension PredicateMaker {
  private mutating func attributeComparison(
    _ entity: EntityDescription,
    _ base: FetchExpression
  ) -> FetchComparison {
    let (keys, end) = toOnePath(entity, atMost: 2)
    let attribute = attribute(end)
    return comparison(keyPath(base, keys + [.property(attribute.name)]), attribute.type)
  }

  private mutating func comparison(
    _ left: FetchExpression,
    _ type: AttributeType,
    modifier: FetchComparison.Modifier = .direct
  ) -> FetchComparison {
    let comparator = comparator(type)
    let right = operand(type, comparator)
    var options = FetchComparison.Options()
    if type == .string, chance(2) { options = FetchComparison.Options(rawValue: number(1...3)) }
    return FetchComparison(left, comparator, right, modifier: modifier, options: options)
  }

  private mutating func comparator(_ type: AttributeType) -> FetchComparison.Comparator {
    switch type {
    case .string: pick(FetchComparison.Comparator.allCases) ?? .equalTo
    case .uri, .binary, .transformable, .undefined: pick([.equalTo, .notEqualTo, .in]) ?? .equalTo
    default:
      pick([
        .equalTo, .notEqualTo, .in, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between,
      ]) ?? .equalTo
    }
  }

  private mutating func operand(_ type: AttributeType, _ comparator: FetchComparison.Comparator) -> FetchExpression {
    switch comparator {
    case .between: .aggregate([constant(type), constant(type)])
    case .in: .aggregate((0..<number(0...4)).map { _ in constant(type) })
    case .like: .constant(.string(pick(["*abc*", "a*", "?", "*", "*é*", "a?c"]) ?? ""))
    case .matches: .constant(.string(pick(["a.*", "[A-C]+", ".*abc.*", ""]) ?? ""))
    default: constant(type)
    }
  }

  private mutating func constant(_ type: AttributeType) -> FetchExpression {
    .constant(chance(8) ? .null : QueryModel.value(of: type, &generator))
  }

  /// An object, or what a to-one relationship leads to, is one of some, or none.
  private mutating func objectComparison(_ entity: EntityDescription, _ base: FetchExpression) -> FetchComparison {
    let (keys, _) = toOnePath(entity, atMost: 2)
    let left = keyPath(base, keys)
    if chance(3) { return FetchComparison(left, .in, .aggregate((0..<number(0...4)).map { _ in object() })) }
    return FetchComparison(left, chance(2) ? .equalTo : .notEqualTo, object())
  }

  private mutating func object() -> FetchExpression {
    guard !chance(5), let id = pick(objectIDs) else { return .constant(.null) }
    return .value(.toOne(id))
  }

  private mutating func collectionComparison(
    _ entity: EntityDescription,
    _ base: FetchExpression
  ) -> FetchComparison {
    guard let (keys, destination) = toMany(entity) else { return attributeComparison(entity, base) }
    let modifier = pick([FetchComparison.Modifier.any, .all, .none]) ?? .any
    if chance(3) {
      let isIn = chance(2)
      let right: FetchExpression = isIn ? .aggregate((0..<number(0...3)).map { _ in object() }) : object()
      return FetchComparison(keyPath(base, keys), isIn ? .in : .equalTo, right, modifier: modifier)
    }
    let (further, end) = toOnePath(destination, atMost: 1)
    let attribute = attribute(end)
    let path = keyPath(base, keys + further + [.property(attribute.name)])
    return comparison(path, attribute.type, modifier: modifier)
  }

  /// How many objects a relationship leads to, or what their numbers give.
  private mutating func countComparison(_ entity: EntityDescription, _ base: FetchExpression) -> FetchComparison {
    guard let (keys, destination) = toMany(entity) else { return attributeComparison(entity, base) }
    let numbers = destination.attributes.filter { $0.type == .integer16 || $0.type == .integer32 }
    if chance(2), let attribute = pick(numbers) {
      let symbol = pick([CollectionOperator.sum, .min, .max]) ?? .sum
      let path = keyPath(base, keys + [.collection(symbol), .property(attribute.name)])
      return comparison(path, .integer32)
    }
    return FetchComparison(
      keyPath(base, keys + [.collection(.count)]),
      pick([.equalTo, .notEqualTo, .lessThan, .greaterThan]) ?? .equalTo,
      .constant(.integer(Int64(number(0...3))))
    )
  }

  private mutating func subquery(
    _ entity: EntityDescription,
    _ base: FetchExpression,
    depth: Int
  ) -> FetchComparison {
    guard let (keys, destination) = toMany(entity) else { return attributeComparison(entity, base) }
    variableCount += 1
    let name = "v\(variableCount)"
    let condition = predicate(destination, of: .variable(name), depth: depth)
    let found = FetchExpression.subquery(keyPath(base, keys), variable: name, condition)
    return FetchComparison(
      .keyPath(of: found, [.collection(.count)]),
      pick([.equalTo, .greaterThan, .lessThan]) ?? .equalTo,
      .constant(.integer(Int64(number(0...2))))
    )
  }
}

// MARK: Orders

extension PredicateMaker {
  mutating func sorts(_ entity: EntityDescription) -> [FetchSortDescriptor] {
    (0..<number(1...2)).map { _ in
      let (keys, end) = toOnePath(entity, atMost: 1)
      let names = end.attributes.filter { $0.type != .uri }.map(\.name)
      let path = (keys.map(Self.name) + [pick(names) ?? QueryModel.tag]).joined(separator: ".")
      let isText = end.attributesByName[path.split(separator: ".").last.map(String.init) ?? ""]?.type == .string
      return FetchSortDescriptor(
        path,
        ascending: chance(2),
        comparison: isText ? pick(FetchSortDescriptor.Comparison.allCases) ?? .value : .value
      )
    }
  }

  private static func name(_ key: FetchKey) -> String {
    if case .property(let name) = key { name } else { "" }
  }
}
