public import HeartwoodModel
public import HeartwoodStore

extension FetchRequest {
  /// The request that a template stands for.
  ///
  /// - Parameter values: what to put in for its variables. One that stays without a value is an error of the fetch.
  public init(_ template: FetchRequestTemplate, substituting values: [String: any FetchArgument] = [:]) {
    self.init(
      entityName: template.entityName,
      where: template.predicate?.substituting(values),
      limit: template.fetchLimit > 0 ? template.fetchLimit : nil
    )
    includesSubentities = template.includesSubentities
    includesPendingChanges = template.includesPendingChanges
    returnsDistinctResults = template.returnsDistinctResults
  }
}

extension ManagedObjectContext {
  /// The request that the model holds under `name`, with values for its variables; see ``FetchRequest``.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown`` where the model has no such template.
  public func fetchRequest<Object>(
    fromTemplate name: String,
    as objectClass: Object.Type = ManagedObject.self,
    substituting values: [String: any FetchArgument] = [:]
  ) throws(PersistenceError) -> FetchRequest<Object> {
    let model = persistentStoreCoordinator.managedObjectModel
    if let template = model.fetchRequestTemplate(named: name) { return FetchRequest(template, substituting: values) }
    let names = model.fetchRequestTemplates.map(\.name).joined(separator: ", ")
    throw PersistenceError(
      .propertyUnknown,
      names.isEmpty ? "The model holds no fetch requests." : "The model holds no such fetch request.",
      recovery: names.isEmpty ? nil : "Name one of \(names).",
      context: .init(property: name)
    )
  }
}
