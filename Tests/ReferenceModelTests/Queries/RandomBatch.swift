import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting

/// A batch that updates or deletes what meets a condition.
struct RandomBatch {
  private let request: FetchRequest<ManagedObject>
  /// The attribute that gets a value; nil where the objects are deleted.
  private var attribute: String?
  private var value = PropertyValue.null
  private var storeIdentifiers: Set<UUID>?

  init(_ maker: inout PredicateMaker, _ stores: [PersistentStore]) {
    let entity = maker.pick(maker.model.entities) ?? maker.model.entities[0]
    var request = FetchRequest<ManagedObject>(entityName: entity.name, where: maker.predicate(entity, depth: 1))
    request.includesSubentities = !maker.chance(3)
    if maker.chance(4) { storeIdentifiers = Set(stores.filter { _ in maker.chance(2) }.map(\.identifier)) }
    if !maker.chance(3), let attribute = maker.pick(entity.attributes.filter { $0.name != QueryModel.tag }) {
      self.attribute = attribute.name
      let isNull = attribute.isOptional && maker.chance(5)
      value = isNull ? .null : QueryModel.value(of: attribute.type, &maker.generator)
    }
    self.request = request
  }

  /// How many objects it takes, and what there is then.
  func expected(_ plain: PlainObjects) throws -> (count: Int, texts: [Int64: [String: String]]) {
    let taken = try plain.matching(request).filter { object in
      storeIdentifiers.map { ids in object.objectID.storeIdentifier.map(ids.contains) ?? false } ?? true
    }
    let tags = try taken.map(PlainObjects.tag)
    guard let attribute else {
      // The delete rules of the model take nothing else along, and all that led to them leads nowhere.
      return (tags.count, try plain.texts(without: Set(tags)))
    }
    var texts = try plain.texts()
    for tag in tags { texts[tag]?[attribute] = "\(value)" }
    return (tags.count, texts)
  }

  func run(on coordinator: PersistentStoreCoordinator, _ stores: [PersistentStore], _ count: Int) throws {
    let affected = storeIdentifiers.map { identifiers in stores.filter { identifiers.contains($0.identifier) } }
    let result: BatchResult
    if let attribute {
      var update = BatchUpdateRequest(
        entityName: request.entityName,
        where: request.predicate,
        propertiesToUpdate: [attribute: FetchExpression.constant(value)]
      )
      update.includesSubentities = request.includesSubentities
      update.affectedStores = affected
      result = try coordinator.execute(update)
    } else {
      var deletion = BatchDeleteRequest(entityName: request.entityName, where: request.predicate)
      deletion.includesSubentities = request.includesSubentities
      deletion.affectedStores = affected
      result = try coordinator.execute(deletion)
    }
    try require(result.count, equals: count, "the count of \(self)")
  }
}

extension RandomBatch: CustomStringConvertible {
  var description: String {
    let what = attribute.map { "\($0) = \(value)" } ?? "deletion"
    return """
      a batch, \(what), of \(request.entityName)\(request.includesSubentities ? "" : " alone") \
      where \(request.predicate.map { "\($0)" } ?? "all")\(storeIdentifiers.map { ", of \($0.count) stores" } ?? "")
      """
  }
}
