public import HeartwoodModel

extension ManagedObject: FetchArgument {
  /// The object as a constant, by its id.
  public final var fetchExpression: FetchExpression { .value(.toOne(objectID)) }
}
