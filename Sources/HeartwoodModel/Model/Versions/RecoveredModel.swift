extension ManagedObjectModel {
  /// The entry in ``versionIdentifiers`` of a model that was recovered from the tables of a store.
  public static let recoveredVersionIdentifier = "recovered from a store by Heartwood"

  /// Whether the model was recovered from the tables of a store, and is not the model with which its records were
  /// written.
  ///
  /// Such a model is meant for reading. A store whose version hashes differ from those of the model can be opened with
  /// it, but refuses to be saved.
  public var isRecovered: Bool { versionIdentifiers.contains(Self.recoveredVersionIdentifier) }
}
