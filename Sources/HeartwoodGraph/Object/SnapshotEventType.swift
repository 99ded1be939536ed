/// What has changed an object's values, beside setting them.
public struct SnapshotEventType: OptionSet, Sendable, Hashable {
  /// The bits of the events.
  public let rawValue: Int

  /// Makes events of bits.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// The insertion of the object was undone.
  public static let undoInsertion = SnapshotEventType(rawValue: 1)
  /// The deletion of the object was undone.
  public static let undoDeletion = SnapshotEventType(rawValue: 2)
  /// Changes of the object were undone.
  public static let undoUpdate = SnapshotEventType(rawValue: 4)
  /// The context was rolled back.
  public static let rollback = SnapshotEventType(rawValue: 8)
  /// The object took the newest values of its store under its own changes.
  public static let refresh = SnapshotEventType(rawValue: 16)
}
