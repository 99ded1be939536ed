public import HeartwoodStore

/// A policy that resolves the conflicts of a save: another save has changed the same records, or values violate a
/// uniqueness constraint.
///
///     context.mergePolicy = .mergeByPropertyObjectTrump
///
/// The policy is asked for each conflict; then the save is tried again, a limited number of times. No policy restores a
/// record that another save has deleted: its changes are dropped, and so are new references to it that have an inverse,
/// unless the policy fails the save.
///
/// The inverse relationships of other objects are updated with the relationships that a policy changes.
public struct MergePolicy: Sendable {
  /// The resolution for an object whose record another save has changed.
  public enum Resolution: Sendable, Hashable {
    /// The save fails with ``PersistenceError/Code/saveConflict``.
    case fail
    /// The object's changes are dropped, and it takes the stored values.
    case takeStored
    /// All values of the object are saved, including those that it has not changed.
    case takeObject
    /// The object's changes are saved, except those of properties that the other save has changed too. For a to-many
    /// relationship that both have changed, the result contains the additions of both, and none of the removals of
    /// either.
    case mergePreferringStored
    /// The object's changes are saved, on top of the other save's.
    case mergePreferringObject
  }

  /// The resolution for an object whose values violate a uniqueness constraint.
  public enum ConstraintResolution: Sendable, Hashable {
    /// The save fails with ``PersistenceError/Code/constraintConflict``.
    case fail
    /// The conflicting object stays as it is. A new object is dropped; a changed one loses its changes of the
    /// constraint's attributes.
    case keepConflicting
    /// The conflicting object takes the values of the new one, except nil ones, and keeps its id; the new one is
    /// dropped. The destinations of to-many relationships are combined. For a changed object, the save fails.
    case updateConflicting
    /// The policy itself has changed the objects so that they no longer conflict, and the save is tried again. If they
    /// still do after several attempts, the save fails.
    case resolved
  }

  /// The resolutions of all conflicts of a save, in the order of the conflicts.
  package typealias Resolutions = (conflicts: [Resolution], constraints: [ConstraintResolution])

  let resolution: @Sendable (MergeConflict) throws -> Resolution
  let constraintResolution: @Sendable (ConstraintConflict) throws -> ConstraintResolution
  /// Resolves all conflicts of a save together; nil if each is resolved on its own.
  var together: (@Sendable (ManagedObjectContext, [MergeConflict], [ConstraintConflict]) throws -> Resolutions)?

  /// Creates a custom policy. It may be called again for the same object if others continue to save.
  ///
  ///     let ownChangesWin = MergePolicy { conflict in
  ///       conflict.isDeletedInStore ? .fail : .mergePreferringObject
  ///     }
  ///
  /// - Parameters:
  ///   - conflicts: returns the resolution for an object whose record another save has changed or deleted.
  ///   - constraints: returns the resolution for an object that violates a uniqueness constraint.
  public init(
    conflicts: @escaping @Sendable (MergeConflict) throws -> Resolution,
    constraints: @escaping @Sendable (ConstraintConflict) throws -> ConstraintResolution = { _ in .fail }
  ) {
    resolution = conflicts
    constraintResolution = constraints
  }

  /// Returns the same policy, except that the conflicts of a context's save are resolved together.
  package func resolvingTogether(
    _ resolve: @escaping @Sendable (ManagedObjectContext, [MergeConflict], [ConstraintConflict]) throws -> Resolutions
  ) -> MergePolicy {
    var policy = self
    policy.together = resolve
    return policy
  }

  /// Every conflict makes the save fail. This is the default of contexts.
  public static let error = MergePolicy { _ in .fail }

  /// Properties that another save has changed keep the stored values; the object's other changes are saved. New objects
  /// that violate a uniqueness constraint are dropped.
  public static let mergeByPropertyStoreTrump = MergePolicy { _ in
    .mergePreferringStored
  } constraints: { _ in
    .keepConflicting
  }

  /// The object's changes are saved on top of the other save's. New objects that violate a uniqueness constraint update
  /// the existing ones.
  public static let mergeByPropertyObjectTrump = MergePolicy { _ in
    .mergePreferringObject
  } constraints: { _ in
    .updateConflicting
  }

  /// All values of the object are saved, even over those that another save has changed. New objects that violate a
  /// uniqueness constraint update the existing ones.
  public static let overwrite = MergePolicy { _ in
    .takeObject
  } constraints: { _ in
    .updateConflicting
  }

  /// Changes of objects in conflict are dropped, and so are new objects that violate a uniqueness constraint.
  public static let rollback = MergePolicy { _ in
    .takeStored
  } constraints: { _ in
    .keepConflicting
  }
}
