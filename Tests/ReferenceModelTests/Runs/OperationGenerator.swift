import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting

/// Thinks of what to do next with a graph: odd things, but such as are possible.
struct OperationGenerator {
  /// With more objects than these, more are deleted than inserted.
  private static let crowd = 30

  var random: SeededGenerator
  private(set) var lastKey = 0
  /// What is to be done before anything else, so that saves succeed often enough.
  private var repairs: [Operation] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  mutating func next(_ graph: ReferenceGraph) -> Operation {
    if let repair = repairs.popLast() { return repair }
    let context = Int.random(in: 0..<graph.contexts.count, using: &random)
    if graph.hasUndo, random.chance(oneIn: 8) { return undo(context) }
    let isCrowded = graph.store.records.count > Self.crowd
    switch Int.random(in: 0..<1000, using: &random) {
    case 0..<(isCrowded ? 30 : 140): return insert(context, graph)
    case ..<320: return setAttribute(context, graph)
    case ..<640: return relate(context, graph)
    case ..<(isCrowded ? 720 : 690): return onAny(context, graph) { .delete($0, context) }
    case ..<715: return onAny(context, graph) { .read($0, context) }
    case ..<730: return misuse(context, graph)
    case ..<735 where graph.store.history != nil: return history(graph)
    case ..<743: return .fetch(anyEntity(graph), context)
    case ..<755: return .fetchWhere(query(context, graph), context)
    case ..<770: return .count(anyEntity(graph), context)
    case ..<830: return .save(context)
    case ..<850: return .save(context, thenParents: true)
    case ..<860: return .saveWithFault(Int.random(in: 1...15, using: &random), context)
    case ..<880: return .rollback(context)
    case ..<883: return .reset(context)
    case ..<891: return pin(context, graph)
    case ..<897: return .merge(context, from: Int.random(in: 0..<graph.contexts.count, using: &random))
    case ..<925: return refresh(context, graph)
    case ..<965: return onAny(context, graph) { .release($0, context) }
    case ..<975: return .readAll(context)
    case ..<985: return .inspect
    case ..<990: return .reopen
    default: return .convert(graph.schema.storeKinds.randomElement(using: &random) ?? .inMemory)
    }
  }

  private mutating func undo(_ context: Int) -> Operation {
    switch Int.random(in: 0..<6, using: &random) {
    case 0...1: .undo(context)
    case 2...3: .redo(context)
    default: .processPendingChanges(context)
    }
  }

  private mutating func pin(_ context: Int, _ graph: ReferenceGraph) -> Operation {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: .pin(context)
    case 1: .unpin(context)
    default: .pinBack(context, to: Int.random(in: 0...max(0, graph.pinCount - 1), using: &random))
    }
  }

  private mutating func history(_ graph: ReferenceGraph) -> Operation {
    let lastNumber = graph.store.history?.lastNumber ?? 0
    let number = Int.random(in: 0...lastNumber, using: &random)
    if random.chance(oneIn: 4) { return .purgeHistory(number / 2) }
    return .history(
      HistoryRequest(
        number: random.chance(oneIn: 3) ? nil : number,
        author: random.chance(oneIn: 3) ? graph.contexts.randomElement(using: &random)?.author : nil,
        entity: random.chance(oneIn: 3) ? anyEntity(graph) : nil
      )
    )
  }

  mutating func anyEntity(_ graph: ReferenceGraph) -> String {
    graph.schema.model.entities.randomElement(using: &random)?.name ?? ""
  }

  mutating func insert(_ context: Int, _ graph: ReferenceGraph) -> Operation {
    lastKey += 1
    let entities = graph.schema.model.entities.filter { !$0.isAbstract }
    return .insert(lastKey, entities.randomElement(using: &random)?.name ?? "", context)
  }

  mutating func anyObject(_ context: Int, _ graph: ReferenceGraph) -> Key? {
    let roots = graph.schema.model.entities.filter { $0.superentity == nil }
    return roots.flatMap { graph.contexts[context].usableKeys($0).sorted() }.randomElement(using: &random)
  }

  /// An operation on any object; an insertion where there is none.
  private mutating func onAny(_ context: Int, _ graph: ReferenceGraph, _ operation: (Key) -> Operation) -> Operation {
    anyObject(context, graph).map(operation) ?? insert(context, graph)
  }

  private mutating func refresh(_ context: Int, _ graph: ReferenceGraph) -> Operation {
    let mergingChanges = random.chance(oneIn: 2)
    return onAny(context, graph) { .refresh($0, mergingChanges: mergingChanges, context) }
  }
}

// MARK: Values

extension OperationGenerator {
  private mutating func setAttribute(_ context: Int, _ graph: ReferenceGraph) -> Operation {
    guard let key = anyObject(context, graph),
      let attribute = graph.contexts[context].object(key)?.entity.attributes.randomElement(using: &random),
      !graph.hasUndo || !attribute.isTransient
    else { return insert(context, graph) }
    return .set(key, attribute.name, value(of: attribute, graph.schema), anyRoute(), context)
  }

  private mutating func value(of attribute: AttributeDescription, _ schema: Schema) -> PropertyValue {
    let value = anyValue(of: attribute, schema)
    return value.isNaN && !schema.keepsNaN ? .null : value
  }

  private mutating func anyValue(of attribute: AttributeDescription, _ schema: Schema) -> PropertyValue {
    if random.chance(oneIn: 7) { return .null }
    if !attribute.rules.isEmpty || attribute.name == "address" || random.chance(oneIn: 3) {
      return smallValue(of: attribute)
    }
    return schema.isTame
      ? .randomTame(of: attribute.type, using: &random)
      : .random(of: attribute.type, using: &random)
  }

  /// One of few values, so that many are equal.
  mutating func smallValue(of attribute: AttributeDescription) -> PropertyValue {
    switch attribute.type {
    case .integer16, .integer32, .integer64: .integer(Int64.random(in: -1...8, using: &random) * 14)
    case .string: .string(String(repeating: "ab", count: Int.random(in: 0...3, using: &random)))
    case .boolean: .boolean(random.chance(oneIn: 2))
    case .double: .double([0, -0.0, .nan, .infinity, 1].randomElement(using: &random) ?? 0)
    default: attribute.defaultValue
    }
  }

  private mutating func relate(_ context: Int, _ graph: ReferenceGraph) -> Operation {
    guard let key = anyObject(context, graph), let object = graph.contexts[context].object(key),
      let relationship = object.entity.relationships.randomElement(using: &random)
    else { return insert(context, graph) }
    let destination = graph.schema.entity(relationship.destinationEntityName)
    let candidates = graph.contexts[context].usableKeys(destination).sorted()
    let current = object.keys(relationship.name).filter(candidates.contains)
    return .relate(key, relationship.name, keys(relationship, current, candidates), anyRoute(), context)
  }

  private mutating func keys(
    _ relationship: RelationshipDescription,
    _ current: [Key],
    _ candidates: [Key]
  ) -> [Key] {
    guard relationship.isToMany else {
      return random.chance(oneIn: 5) ? [] : candidates.randomElement(using: &random).map { [$0] } ?? []
    }
    var keys = current
    switch Int.random(in: 0..<8, using: &random) {
    case 0: keys = []
    case 1: keys = Array(candidates.shuffled(using: &random).prefix(Int.random(in: 0...5, using: &random)))
    case 2: keys.shuffle(using: &random)
    case 3: if let key = keys.randomElement(using: &random) { keys.removeAll { $0 == key } }
    default:
      if let key = candidates.randomElement(using: &random), !keys.contains(key) {
        keys.insert(key, at: Int.random(in: 0...keys.count, using: &random))
      }
    }
    return keys
  }
}

// MARK: After a save that failed

extension OperationGenerator {
  /// Learns what came of an operation, and may think of how to let the next save succeed.
  mutating func learn(_ outcome: Outcome?, of operation: Operation, _ graph: ReferenceGraph) {
    guard case .save(let context, thenParents: false) = operation else { return }
    switch outcome {
    case .invalid(let problems) where !random.chance(oneIn: 3):
      let sorted = problems.sorted { ($0.key, $0.property) < ($1.key, $1.property) }
      repairs = [.save(context)] + sorted.map { repair($0, context, graph) }
    case .conflict(let keys):
      if random.chance(oneIn: 2) {
        repairs = [.save(context)] + keys.sorted().map { .refresh($0, mergingChanges: true, context) }
      } else if random.chance(oneIn: 2) {
        repairs = [.rollback(context)]
      }
    case .refused(.constraintConflict) where random.chance(oneIn: 2):
      let keys = graph.contexts[context].collisions().map(\.key)
      repairs = [.save(context)] + keys.map { .set($0, "address", .null, .propertyValue, context) }
    default: break
    }
  }

  private mutating func repair(_ problem: ReferenceProblem, _ context: Int, _ graph: ReferenceGraph) -> Operation {
    guard let object = graph.contexts[context].object(problem.key), !object.isDeleted,
      let property = object.entity.property(named: problem.property)
    else { return .rollback(context) }
    switch property {
    case .attribute(let attribute) where attribute.type == .string:
      return .set(problem.key, attribute.name, .string("fine"), .propertyValue, context)
    case .attribute(let attribute): return .set(problem.key, attribute.name, .integer(7), .propertyValue, context)
    case .relationship(let relationship) where relationship.isOptional:
      return .relate(problem.key, relationship.name, [], .propertyValue, context)
    case .relationship: return .delete(problem.key, context)
    }
  }
}

extension PropertyValue {
  /// A random value that every store can keep.
  fileprivate static func randomTame(of type: AttributeType, using generator: inout SeededGenerator) -> PropertyValue {
    switch type {
    case .date: .date(.init(timeIntervalSinceReferenceDate: Double(Int32.random(in: .min ... .max, using: &generator))))
    case .decimal: .decimal(.init(Int32.random(in: .min ... .max, using: &generator)))
    default: .random(of: type, using: &generator)
    }
  }
}
