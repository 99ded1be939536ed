import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

extension NSManagedObjectContext {
  /// Returns what a request asks for: objects, ids, dictionaries, or the number of objects.
  ///
  /// - Throws: a `CocoaError`; one of the code `persistentStoreOperation` if the predicate or a sort descriptor cannot
  ///   be used for a fetch, or names properties that the entity does not have.
  public final func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    var cast = ResultCast<ResultType>()
    return try results(of: request, &cast)
  }

  /// Returns the number of objects that a request is for.
  public final func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
    try fetching {
      let wanted = try request.coreRequest(in: self)
      guard persistentStoreCoordinator?.hasOwnIncrementalStores == true else { return try core.count(for: wanted) }
      return try RunningFetch(request, wanted.predicate).run { try core.count(for: wanted) }
    }
  }

  private func results<ResultType>(
    of request: NSFetchRequest<ResultType>,
    _ cast: inout ResultCast<ResultType>
  ) throws -> [ResultType] {
    let wanted = try request.coreRequest(in: self)
    guard let coordinator = persistentStoreCoordinator, coordinator.hasOwnIncrementalStores else {
      return try results(of: request, wanted, &cast)
    }
    if request.resultType == .dictionaryResultType,
      let own = coordinator.ownIncrementalStore(ofEntity: wanted.entityName, among: request.affectedStores)
    {
      return try fetching { try own.dictionaries(request) }.map { try cast($0) }
    }
    return try RunningFetch(request, wanted.predicate).run { try results(of: request, wanted, &cast) }
  }

  private func results<ResultType>(
    of request: NSFetchRequest<ResultType>,
    _ wanted: FetchRequest<ManagedObject>,
    _ cast: inout ResultCast<ResultType>
  ) throws -> [ResultType] {
    switch request.resultType {
    case .managedObjectIDResultType:
      return try fetching { try core.fetchObjectIDs(wanted) }.map { try cast(objectID($0)) }
    case .countResultType: return [try cast(NSNumber(value: try fetching { try core.count(for: wanted) }))]
    case .dictionaryResultType: return try rows(wanted).map { try cast($0) }
    default:
      var presenter = ObjectPresenter(self)
      return try fetching { try core.fetch(wanted) }.map { try cast(presenter.facade(of: $0)) }
    }
  }

  private func rows(_ request: FetchRequest<ManagedObject>) throws -> [NSDictionary] {
    let entity = core.persistentStoreCoordinator.managedObjectModel.entity(named: request.entityName)
    return try fetching { try core.fetchRows(request) }.map { row in
      let dictionary = NSMutableDictionary()
      for (name, value) in zip(row.names, row.values) {
        dictionary[name] = self.value(value, entity?.property(named: name)?.attribute)
      }
      return dictionary
    }
  }

  private func value(_ value: PropertyValue, _ attribute: AttributeDescription?) -> Any? {
    if case .toOne(let id) = value { return objectID(id) }
    return attribute.map { StoredValue.object(value, of: $0) } ?? StoredValue.object(value, .undefined)
  }

  private func fetching<Result>(_ body: () throws -> Result) throws -> Result {
    if let failure = takeFailure() { throw CocoaError.of(failure, self) }
    do {
      return try hold(body)
    } catch {
      throw CocoaError.of(error, self)
    }
  }

  // MARK: By id

  /// Returns the object of an id, a fault if it was not registered yet. If there is no such record any more, the object
  /// has no values.
  public final func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    if let shownObjects { return shownObjects.object(with: objectID) }
    return hold { facade(with: coreID(objectID)) }
  }

  /// Returns the object of an id.
  ///
  /// - Throws: an error of the code `managedObjectReferentialIntegrity` if there is no such record any more.
  public final func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    if let shownObjects { return shownObjects.object(with: objectID) }
    return try fetching { facade(of: try core.existingObject(with: coreID(objectID))) }
  }

  /// Returns the object of an id if it is registered.
  public final func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    if let shownObjects { return shownObjects.object(with: objectID) }
    return objectID.core.flatMap(registeredFacade)
  }

  private func coreID(_ id: NSManagedObjectID) -> ManagedObjectID {
    guard let core = id.core else { ProgrammerError.stop("The id is of an object that is in no context.") }
    return core
  }
}

// MARK: Many objects

/// Gives the results of a fetch the type that the request is declared for. Objects of one class are checked once.
private struct ResultCast<ResultType: NSFetchRequestResult> {
  private var checked: ObjectIdentifier?

  init() {}

  mutating func callAsFunction(_ object: AnyObject) throws -> ResultType {
    let identifier = ObjectIdentifier(type(of: object))
    if identifier != checked {
      guard object is ResultType else {
        throw CocoaError.make(
          .persistentStoreOperation,
          "The request gives results of the type \(type(of: object)), and is declared for \(ResultType.self)."
        )
      }
      checked = identifier
    }
    return unsafeDowncast(object, to: ResultType.self)
  }
}

/// Finds or makes the objects of many records, which are mostly of one entity.
private struct ObjectPresenter {
  private let context: NSManagedObjectContext
  private var entity: (core: EntityDescription, description: NSEntityDescription)?

  init(_ context: NSManagedObjectContext) { self.context = context }

  mutating func facade(of object: ManagedObject) -> NSManagedObject {
    guard let record = object as? CoreObject else { return context.facade(of: object) }
    if let facade = record.facade { return facade }
    guard let entity, entity.core === record.entity else {
      let facade = context.facade(of: record)
      self.entity = (record.entity, facade.entity)
      return facade
    }
    return context.makeFacade(of: record, entity.description)
  }
}
