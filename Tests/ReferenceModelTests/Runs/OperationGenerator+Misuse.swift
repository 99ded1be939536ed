import HeartwoodModel
import HeartwoodTesting

// MARK: Misuse

extension OperationGenerator {
  mutating func anyRoute() -> Route { Route.allCases.randomElement(using: &random) ?? .key }

  mutating func misuse(_ context: Int, _ graph: ReferenceGraph) -> Operation {
    guard let key = anyObject(context, graph), let object = graph.contexts[context].object(key) else {
      return insert(context, graph)
    }
    let misuse = Misuse.allCases.randomElement(using: &random) ?? .wrongType
    let name = object.entity.relationships.randomElement(using: &random)?.name ?? ""
    let possible = (1...max(1, lastKey)).map { Operation.misuse(misuse, key, name, $0, context) }.filter(graph.allows)
    return possible.randomElement(using: &random) ?? .misuse(.unknownProperty, key, name, key, context)
  }
}
