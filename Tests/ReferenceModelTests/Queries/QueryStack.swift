import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting

/// Files of several types, whose stores are opened in one coordinator again and again.
final class QueryStack {
  private static let types: [[StoreType]] = [
    [.sqlite], [.sqlite, .binary], [.binary, .sqlite], [.sqlite, .sqlite], [.sqlite, .xml, .binary],
    [.propertyList, .sqlite], [.coreDataBinary, .sqlite], [.binary, .propertyList],
  ]

  let types: [StoreType]
  private let folder: ScratchFolder
  private(set) var coordinator: PersistentStoreCoordinator

  init(_ generator: inout SeededGenerator) throws {
    types = Self.types.randomElement(using: &generator) ?? [.sqlite]
    folder = try ScratchFolder()
    coordinator = try Self.open(types, folder)
  }

  /// Opens the stores anew, so that nothing has been read.
  func reopen() throws {
    coordinator.close()
    coordinator = try Self.open(types, folder)
  }

  var stores: [PersistentStore] { coordinator.persistentStores }

  private static func open(_ types: [StoreType], _ folder: ScratchFolder) throws -> PersistentStoreCoordinator {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: QueryModel.model,
      registry: try StoreRegistry([
        BinaryStore.self, XMLStore.self, PropertyListStore.self, CoreDataBinaryStore.self, SQLiteStore.self,
      ])
    )
    var options = StoreOptions()
    options[.sqliteSynchronization] = .normal
    for (number, type) in types.enumerated() {
      let url = folder.url.appending(path: "store\(number)")
      try coordinator.addPersistentStore(type: type, at: url, options: options)
    }
    return coordinator
  }
}

/// All objects of a context, to be looked at one by one.
struct PlainObjects: PredicateSource {
  let objects: [ManagedObject]
  private let context: ManagedObjectContext
  private let objectsByID: [ManagedObjectID: ManagedObject]

  init(_ context: ManagedObjectContext) throws {
    self.context = context
    let roots = QueryModel.model.entities.filter { $0.superentity == nil }
    objects = try roots.flatMap { try context.fetch(entityName: $0.name) }
    objectsByID = Dictionary(objects.map { ($0.objectID, $0) }) { first, _ in first }
  }

  func value(_ ordinal: Int, of subject: ManagedObject) -> PropertyValue {
    (try? subject.propertyValue(forKey: subject.entity.properties[ordinal].name)) ?? .null
  }

  func objectID(of subject: ManagedObject) -> ManagedObjectID? { subject.objectID }

  func subject(_ id: ManagedObjectID) -> ManagedObject? { objectsByID[id] }

  /// The objects of a request's entity that meet its condition.
  func matching(_ request: FetchRequest<ManagedObject>) throws -> [ManagedObject] {
    guard let entity = QueryModel.model.entity(named: request.entityName) else { return [] }
    let plan = try request.predicate.map { try PredicateCompiler.compile($0, for: entity, in: QueryModel.model) }
    let evaluator = PredicateEvaluator(self)
    return objects.filter { object in
      let isMember = request.includesSubentities ? object.entity.isKind(of: entity) : object.entity === entity
      let stores = request.affectedStores.map { $0.map(\.identifier) }
      let isStored = object.isInserted || object.objectID.storeIdentifier.flatMap { stores?.contains($0) } ?? true
      return isMember && isStored && plan.map { evaluator.matches($0, object) } ?? true
    }
  }

  /// What an object is sorted by.
  func keys(_ object: ManagedObject, _ sorts: [CompiledSort]) -> [PropertyValue] {
    let evaluator = PredicateEvaluator(self)
    return sorts.map { evaluator.value($0.expression, object).scalar }
  }

  /// What all objects have, by their tags; relationships by the tags of what they lead to.
  ///
  /// - Parameter gone: the tags of objects that are left out.
  func texts(without gone: Set<Int64> = []) throws -> [Int64: [String: String]] {
    var texts: [Int64: [String: String]] = [:]
    for object in objects {
      var values = ["entity": object.entity.name, "store": "\(object.objectID.storeIdentifier, default: "")"]
      for property in object.entity.properties { values[property.name] = try text(property, object, gone) }
      texts[try Self.tag(object)] = values
    }
    return texts.filter { !gone.contains($0.key) }
  }

  private func text(_ property: PropertyDescription, _ object: ManagedObject, _ gone: Set<Int64>) throws -> String {
    guard let relationship = property.relationship else {
      return "\(try object.propertyValue(forKey: property.name))"
    }
    let value = try object.value(forKey: property.name)
    let others = (value as? [ManagedObject]) ?? (value as? ManagedObject).map { [$0] } ?? []
    let tags = try others.filter { !$0.isDeleted }.map(Self.tag).filter { !gone.contains($0) }
    return "\(relationship.isOrdered ? tags : tags.sorted())"
  }

  static func tag(_ object: ManagedObject) throws -> Int64 {
    if case .integer(let tag) = try object.propertyValue(forKey: QueryModel.tag) { return tag }
    throw Mismatch("\(object.entity.name) has no tag")
  }
}
