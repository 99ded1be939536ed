/// What becomes of objects that others have changed or whose values are not unique.
enum ReferencePolicy: CaseIterable {
  case error, storeTrump, objectTrump, overwrite, rollback
}

extension ReferencePolicy {
  /// Whether a deletion is taken back, and a new object with the values of another is dropped.
  var prefersStore: Bool { self == .storeTrump || self == .rollback }
}
