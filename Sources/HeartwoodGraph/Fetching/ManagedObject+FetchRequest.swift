public import HeartwoodModel

extension KeyPathNaming where Self: ManagedObject {
  /// A request for all objects of the class's entity, to be narrowed: `ToDo.fetchRequest()`.
  public static func fetchRequest() -> FetchRequest<Self> { FetchRequest() }
}
