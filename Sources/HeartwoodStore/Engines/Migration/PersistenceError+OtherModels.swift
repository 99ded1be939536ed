extension PersistenceError {
  /// Whether a store that was opened may be of another version of the model: this is how stores refuse such records. Those that tell no
  /// version notice it by the form of their files.
  package var mayBeOfAnotherModel: Bool {
    [.modelIncompatible, .fileMalformed, .entityUnknown, .propertyUnknown, .capabilityMissing].contains(code)
  }
}
