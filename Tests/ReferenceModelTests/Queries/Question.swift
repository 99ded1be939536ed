import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting

/// A random request, and what came of it.
struct Question {
  enum Kind: CaseIterable {
    case objects, ids, count, groups
  }

  enum Answer {
    case ids([ManagedObjectID])
    case count(Int)
    case groups([[PropertyValue]])
  }

  private(set) var request: FetchRequest<ManagedObject>
  private let kind: Kind
  private let entity: EntityDescription
  private var answer: Answer?
  /// The name of a number that groups are told the sum of.
  private var summed = QueryModel.tag

  init(_ maker: inout PredicateMaker, _ stores: [PersistentStore], isChild: Bool) {
    entity = maker.pick(maker.model.entities) ?? maker.model.entities[0]
    kind = maker.chance(5) ? .groups : maker.pick([.objects, .ids, .count]) ?? .objects
    request = FetchRequest(entityName: entity.name)
    if !maker.chance(6) { request.predicate = maker.predicate(entity, depth: 2) }
    request.includesSubentities = !maker.chance(4)
    request.includesPendingChanges = isChild || !maker.chance(5)
    if maker.chance(5) { request.affectedStores = stores.filter { _ in maker.chance(2) } }
    if kind == .groups { group(&maker) }
    guard kind != .groups else { return }
    if maker.chance(2) { request.sortDescriptors = maker.sorts(entity) }
    if maker.chance(3) { request.fetchOffset = maker.number(0...4) }
    if maker.chance(3) { request.fetchLimit = maker.number(0...12) }
  }

  private mutating func group(_ maker: inout PredicateMaker) {
    let numbers = entity.attributes.filter { [.integer16, .integer32, .integer64, .double].contains($0.type) }
    summed = maker.pick(numbers.map(\.name)) ?? QueryModel.tag
    let key = ExpressionDescription(maker.pick(entity.attributes.map(\.name)) ?? QueryModel.tag)
    request.propertiesToGroupBy = [key]
    request.propertiesToFetch = [
      key, .count(as: "number"), .sum(of: summed, as: "s"), .minimum(of: summed, as: "least"),
      .maximum(of: summed, as: "most"),
    ]
  }

  /// The question with what the context answers.
  func asked(_ context: ManagedObjectContext) throws -> Question {
    var question = self
    do {
      question.answer =
        switch kind {
        case .objects: .ids(try context.fetch(request).map(\.objectID))
        case .ids: .ids(try context.fetchObjectIDs(request))
        case .count: .count(try context.count(for: request))
        case .groups: .groups(try context.fetchRows(request).map(\.values))
        }
    } catch {
      throw Mismatch("\(error), for \(self)")
    }
    return question
  }
}

// MARK: Checking

extension Question {
  /// - Throws: ``Mismatch`` where the objects give another answer, one by one.
  func check(_ plain: PlainObjects) throws {
    let matching = try plain.matching(request)
    switch answer {
    case .ids(let ids): try check(ids, matching, plain)
    case .count(let count): try require(count, equals: slice(matching).count, "the count of \(self)")
    case .groups(let rows):
      try require(Set(rows.map(Self.text)), equals: Set(try groups(matching)), "the groups of \(self)")
      try require(rows.count, equals: Set(rows.map(Self.text)).count, "the number of groups of \(self)")
    case nil: throw Mismatch("\(self) was not asked")
    }
  }

  private func slice<Element>(_ elements: [Element]) -> ArraySlice<Element> {
    elements.dropFirst(request.fetchOffset).prefix(request.fetchLimit ?? .max)
  }

  private func check(_ ids: [ManagedObjectID], _ matching: [ManagedObject], _ plain: PlainObjects) throws {
    try require(ids.count, equals: slice(matching).count, "the number of objects of \(self)")
    let wanted = Set(matching.map(\.objectID))
    if Set(ids).count != ids.count { throw Mismatch("an object is found twice by \(self)") }
    if let other = ids.first(where: { !wanted.contains($0) }) { throw Mismatch("\(other) is found by \(self)") }
    let sorts = try request.sortDescriptors.map { try CompiledSort($0, for: entity, in: QueryModel.model) }
    guard !sorts.isEmpty else { return }
    let expected = matching.map { plain.keys($0, sorts) }.sorted { sorts.comes($0, before: $1) }
    for (id, keys) in zip(ids, slice(expected)) {
      guard let object = plain.subject(id) else { continue }
      let found = plain.keys(object, sorts)
      if sorts.comes(found, before: keys) || sorts.comes(keys, before: found) {
        throw Mismatch("\(found) stands for \(keys) in \(self)")
      }
    }
  }

  private static func text(_ row: [PropertyValue]) -> String {
    // As bytes: texts that are equivalent make several groups.
    "\(Array("\(row[0])".utf8)): "
      + row.dropFirst().map { "\($0.number.map { "\($0)" } ?? "nil")" }.joined(separator: ", ")
  }

  private func groups(_ objects: [ManagedObject]) throws -> [String] {
    let key = request.propertiesToGroupBy[0].name
    let groups = Dictionary(grouping: objects) { (try? $0.propertyValue(forKey: key)) ?? .null }
    return try groups.map { key, members in
      let numbers = try members.compactMap { try $0.propertyValue(forKey: summed).number }
      let sum = PropertyValue.double(numbers.reduce(0, +))
      let ends = [numbers.min(), numbers.max()].map { $0.map(PropertyValue.double) ?? .null }
      return Self.text([key, .integer(Int64(members.count)), sum] + ends)
    }
  }
}

extension PropertyValue {
  fileprivate var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }
}

extension Question: CustomStringConvertible {
  var description: String {
    let order = request.sortDescriptors.map { "\($0.keyPath) \($0.isAscending ? "up" : "down") \($0.comparison)" }
    return """
      \(kind) of \(request.entityName)\(request.includesSubentities ? "" : " alone"), \
      \(request.predicate.map { "\($0)" } ?? "all"), sorted by \(order), from \(request.fetchOffset), \
      at most \(request.fetchLimit.map { "\($0)" } ?? "all")\(request.includesPendingChanges ? "" : ", as saved")\
      \(request.affectedStores.map { ", of \($0.count) stores" } ?? "")\
      \(request.propertiesToFetch.isEmpty ? "" : ", columns \(request.propertiesToFetch.map(\.name)), sum of \(summed)")
      """
  }
}
