import HeartwoodModel
import HeartwoodStore

extension ManagedObject {
  /// The objects of a fetched property, as they are now: the fetch is done anew each time.
  ///
  /// In its predicate `$FETCH_SOURCE` is this object with its unsaved values, and `$FETCHED_PROPERTY` the property, of which there are
  /// `name` and `userInfo`: `owner == $FETCH_SOURCE AND kind == $FETCHED_PROPERTY.userInfo.kind`.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown`` where the entity has no such fetched property; what fetching throws.
  public final func fetchedValue<Object: ManagedObject>(
    forKey name: String,
    as objectClass: Object.Type = ManagedObject.self
  ) throws -> [Object] {
    guard let property = entity.fetchedProperties.first(where: { $0.name == name }) else {
      throw PersistenceError(
        .propertyUnknown,
        "The entity has no such fetched property.",
        context: .init(entity: entity.name, property: name)
      )
    }
    guard let context = managedObjectContext else { return [] }
    var request = FetchRequest<Object>(property.fetchRequest)
    request.predicate = try property.fetchRequest.predicate.map { try bound($0, to: property, in: context) }
    return try context.fetch(request)
  }

  /// The predicate with the values of this object in the place of what is read from it.
  private final func bound(
    _ predicate: FetchPredicate,
    to property: FetchedPropertyDescription,
    in context: ManagedObjectContext
  ) throws -> FetchPredicate {
    let model = context.persistentStoreCoordinator.managedObjectModel
    return try predicate.replacing { expression throws(FetchPredicateError) in
      switch expression {
      case .variable("FETCH_SOURCE"): return fetchExpression
      case .keyPath(of: .variable("FETCH_SOURCE"), let keys):
        let path = FetchExpression.keyPath(of: .selfObject, keys)
        let plan = try PredicateCompiler.compile(path, for: entity, in: model)
        return PredicateEvaluator(ContextSource(context: context)).value(plan, self).expression
      case .keyPath(of: .variable("FETCHED_PROPERTY"), let keys): return property.value(of: keys)
      default: return nil
      }
    }
  }
}

extension FetchedPropertyDescription {
  /// What a key path leads to from the description; nil where it leads nowhere.
  fileprivate func value(of keys: [FetchKey]) -> FetchExpression? {
    if keys == [.property("name")] { return .constant(.string(name)) }
    guard keys.count == 2, keys[0] == .property("userInfo"), case .property(let key) = keys[1] else { return nil }
    return userInfo[key].map { .constant(.string($0)) } ?? .constant(.null)
  }
}
