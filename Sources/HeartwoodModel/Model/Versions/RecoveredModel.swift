extension ManagedObjectModel {
  /// What is among the ``versionIdentifiers`` of a model that was recovered from the tables of a store.
  public static let recoveredVersionIdentifier = "recovered from a store by Heartwood"

  /// Whether the model was recovered from the tables of a store, and is not the one that its records were written with.
  ///
  /// Such a model is good for reading. A store whose version hashes differ from the model's is opened with it and refuses to be saved.
  public var isRecovered: Bool { versionIdentifiers.contains(Self.recoveredVersionIdentifier) }
}
