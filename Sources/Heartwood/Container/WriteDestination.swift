/// How far what ``PersistentContainer/write(to:_:)`` changes is saved.
public enum WriteDestination: String, Sendable, Hashable, CaseIterable {
  /// To the stores, at once. Unsaved changes of the view context have no part in it.
  case stores
  /// To the view context, whose unsaved changes it becomes. Nothing is written before that is saved.
  case viewContext
  /// Through the view context to the stores. What else the view context has to save is saved too.
  case viewContextAndStores
}
