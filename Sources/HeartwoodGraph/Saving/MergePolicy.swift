public import HeartwoodStore

/// What a context does where a save would change what another save has changed meanwhile, or give an object values that must be unique
/// and that another has.
///
/// A policy is asked for each conflict; then the save is tried again, a few times at most. No policy brings back a record that
/// another save has deleted: its changes are dropped, and so are new links to it that have an inverse, unless the policy fails.
///
/// The inverse relationships of other objects follow what a policy makes of a relationship.
public struct MergePolicy: Sendable {
  /// What becomes of an object whose record another save has changed.
  public enum Resolution: Sendable, Hashable {
    /// The save fails with ``PersistenceError/Code/saveConflict``.
    case fail
    /// The object's changes are dropped.
    case takeStored
    /// All values of the object are saved as they are.
    case takeObject
    /// The object's changes are saved, but for those of properties that the other save has changed too. Of a to-many relationship that both
    /// have changed, what each has added is there, and what one of them has taken away is not.
    case mergePreferringStored
    /// The object's changes are saved, on top of the other save's.
    case mergePreferringObject
  }

  /// What becomes of an object that has values which must be unique and which another has.
  public enum ConstraintResolution: Sendable, Hashable {
    /// The save fails with ``PersistenceError/Code/constraintConflict``.
    case fail
    /// The other object stays as it is. A new object is dropped; a changed one loses its changes of the constraint's attributes.
    case keepConflicting
    /// The other object takes the values that a new one has, nil ones left out, and keeps its id; the new one is dropped. The objects
    /// of to-many relationships are put together. For a changed object the save fails.
    case updateConflicting
  }

  let resolution: @Sendable (MergeConflict) throws -> Resolution
  let constraintResolution: @Sendable (ConstraintConflict) throws -> ConstraintResolution

  /// Makes a policy of one's own. It may be called again for the same object, where others go on saving.
  ///
  /// - Parameters:
  ///   - conflicts: decides on an object whose record another save has changed or deleted.
  ///   - constraints: decides on an object that collides with another.
  public init(
    conflicts: @escaping @Sendable (MergeConflict) throws -> Resolution,
    constraints: @escaping @Sendable (ConstraintConflict) throws -> ConstraintResolution = { _ in .fail }
  ) {
    resolution = conflicts
    constraintResolution = constraints
  }

  /// Every conflict fails the save: what contexts do by default.
  public static let error = MergePolicy { _ in .fail }

  /// What another save has changed stays; the object's other changes are saved. New objects that collide are dropped.
  public static let mergeByPropertyStoreTrump = MergePolicy { _ in
    .mergePreferringStored
  } constraints: { _ in
    .keepConflicting
  }

  /// The object's changes are saved on top of the other save's. New objects that collide update those that are there.
  public static let mergeByPropertyObjectTrump = MergePolicy { _ in
    .mergePreferringObject
  } constraints: { _ in
    .updateConflicting
  }

  /// The object is saved as it is, whatever another save has changed. New objects that collide update those that are there.
  public static let overwrite = MergePolicy { _ in
    .takeObject
  } constraints: { _ in
    .updateConflicting
  }

  /// The changes of an object in conflict are dropped, and new objects that collide.
  public static let rollback = MergePolicy { _ in
    .takeStored
  } constraints: { _ in
    .keepConflicting
  }
}
