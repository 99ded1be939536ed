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
    try results(of: request).map { result in
      guard let result = result as? ResultType else {
        throw CocoaError.make(
          .persistentStoreOperation,
          "The request gives results of the type \(type(of: result)), and is declared for \(ResultType.self)."
        )
      }
      return result
    }
  }

  /// Returns the number of objects that a request is for.
  public final func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
    try fetching { try core.count(for: try request.coreRequest(in: self)) }
  }

  private func results<ResultType>(of request: NSFetchRequest<ResultType>) throws -> [Any] {
    let wanted = try request.coreRequest(in: self)
    switch request.resultType {
    case .managedObjectIDResultType: return try fetching { try core.fetchObjectIDs(wanted) }.map(objectID)
    case .countResultType: return [NSNumber(value: try fetching { try core.count(for: wanted) })]
    case .dictionaryResultType: return try rows(wanted)
    default: return try fetching { try core.fetch(wanted) }.map { facade(of: $0) }
    }
  }

  private func rows(_ request: FetchRequest<ManagedObject>) throws -> [Any] {
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
    hold { facade(with: coreID(objectID)) }
  }

  /// Returns the object of an id.
  ///
  /// - Throws: an error of the code `managedObjectReferentialIntegrity` if there is no such record any more.
  public final func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    try fetching { facade(of: try core.existingObject(with: coreID(objectID))) }
  }

  /// Returns the object of an id if it is registered.
  public final func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    objectID.core.flatMap(registeredFacade)
  }

  private func coreID(_ id: NSManagedObjectID) -> ManagedObjectID {
    guard let core = id.core else { ProgrammerError.stop("The id is of an object that is in no context.") }
    return core
  }
}
