import HeartwoodModel
import HeartwoodTesting

extension OperationGenerator {
  mutating func query(_ context: Int, _ graph: ReferenceGraph) -> FetchQuery {
    let entity = graph.schema.entity(anyEntity(graph))
    let attributes = Self.comparable(entity)
    return FetchQuery(
      entity: entity.name,
      condition: random.chance(oneIn: 5) ? nil : condition(on: entity, attributes, context, graph, depth: 0),
      sort: random.chance(oneIn: 3) ? nil : attributes.randomElement(using: &random)?.name,
      isAscending: random.chance(oneIn: 2),
      offset: random.chance(oneIn: 2) ? 0 : Int.random(in: 0...4, using: &random),
      limit: random.chance(oneIn: 2) ? nil : Int.random(in: 0...6, using: &random)
    )
  }

  private static func comparable(_ entity: EntityDescription) -> [AttributeDescription] {
    entity.attributes.filter { attribute in
      switch attribute.type {
      case .integer16, .integer32, .integer64, .string: !attribute.isTransient
      default: false
      }
    }
  }

  private mutating func condition(
    on entity: EntityDescription,
    _ attributes: [AttributeDescription],
    _ context: Int,
    _ graph: ReferenceGraph,
    depth: Int
  ) -> FetchCondition? {
    if depth < 2, random.chance(oneIn: 3) {
      guard let left = condition(on: entity, attributes, context, graph, depth: depth + 1),
        let right = condition(on: entity, attributes, context, graph, depth: depth + 1)
      else { return nil }
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return .not(left)
      case 1: return .and(left, right)
      default: return .or(left, right)
      }
    }
    if random.chance(oneIn: 3) { return link(from: entity, context, graph) }
    return attributes.randomElement(using: &random).map { comparison($0) }
  }

  private mutating func link(from entity: EntityDescription, _ context: Int, _ graph: ReferenceGraph) -> FetchCondition?
  {
    guard let relationship = entity.relationships.randomElement(using: &random) else { return nil }
    let destination = graph.schema.entity(relationship.destinationEntityName)
    let keys = graph.contexts[context].usableKeys(destination).sorted()
    return keys.randomElement(using: &random).map { .leads(relationship.name, $0) }
  }

  private mutating func comparison(_ attribute: AttributeDescription) -> FetchCondition {
    let isText = attribute.type == .string
    let comparators: [FetchCondition.Comparator] =
      isText ? [.equal, .notEqual, .contains, .beginsWith] : [.equal, .notEqual, .less, .notLess]
    let comparator = comparators.randomElement(using: &random) ?? .equal
    let mayBeNull = comparator == .equal || comparator == .notEqual
    let value = mayBeNull && random.chance(oneIn: 3) ? .null : smallValue(of: attribute)
    return .compare(attribute.name, comparator, value)
  }
}
