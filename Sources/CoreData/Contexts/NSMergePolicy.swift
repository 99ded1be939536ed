public import Foundation
import HeartwoodGraph
import HeartwoodStore

/// How the conflicts of a save are resolved.
public enum NSMergePolicyType: UInt, Sendable {
  case errorMergePolicyType = 0
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  case overwriteMergePolicyType = 3
  case rollbackMergePolicyType = 4
}

/// A policy that resolves the conflicts of a save.
///
/// A subclass overrides ``resolve(mergeConflicts:)``, ``resolve(optimisticLockingConflicts:)`` or
/// ``resolve(constraintConflicts:)``. It may change the objects in conflict, hand conflicts on to `super`, which
/// resolves them as the type of the policy says, or throw an error, with which the save fails.
///
///     final class KeepLongerMemo: NSMergePolicy {
///       override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
///         for conflict in list { … }
///         try super.resolve(optimisticLockingConflicts: list)
///       }
///     }
///
/// Changes of an object whose conflict is not handed on are saved on top of the stored values; a violation of a
/// constraint must have been removed by then.
open class NSMergePolicy: NSObject, @unchecked Sendable {
  // `@unchecked Sendable`: the class itself is constant, and a subclass is used on the queues of its contexts, as in
  // Core Data's API.

  /// What the policy does.
  public final let mergeType: NSMergePolicyType

  /// Creates a policy.
  public init(merge type: NSMergePolicyType) { mergeType = type }

  /// The save fails if there are conflicts.
  public static let error = NSMergePolicy(merge: .errorMergePolicyType)
  /// Conflicting properties take the stored values.
  public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
  /// Conflicting properties keep the context's values.
  public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  /// Conflicting objects are saved whole.
  public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  /// Conflicting objects take the stored values.
  public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

  // MARK: For subclasses to override

  /// Resolves all conflicts of a save.
  ///
  /// - Parameter list: an ``NSMergeConflict`` for each object that another save has changed, and an
  ///   ``NSConstraintConflict`` for each set of values that must be unique and are not.
  /// - Throws: an error if the save is to fail.
  open func resolve(mergeConflicts list: [Any]) throws {
    let conflicts = list.compactMap { $0 as? NSMergeConflict }
    let violations = list.compactMap { $0 as? NSConstraintConflict }
    if !conflicts.isEmpty { try resolve(optimisticLockingConflicts: conflicts) }
    if !violations.isEmpty { try resolve(constraintConflicts: violations) }
  }

  /// Resolves the conflicts of objects that another save has changed or deleted.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    for conflict in list { conflict.isHandedOn = true }
  }

  /// Resolves the conflicts of objects whose values violate a uniqueness constraint.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    for conflict in list { conflict.isHandedOn = true }
  }

  // MARK: For Heartwood

  /// The policy in Heartwood's form.
  final var core: MergePolicy {
    if Swift.type(of: self) == NSMergePolicy.self { return plain }
    return plain.resolvingTogether { [self] context, conflicts, violations in
      try resolutions(context, conflicts, violations)
    }
  }

  /// What the type of the policy says.
  private final var plain: MergePolicy {
    switch mergeType {
    case .errorMergePolicyType: .error
    case .mergeByPropertyStoreTrumpMergePolicyType: .mergeByPropertyStoreTrump
    case .mergeByPropertyObjectTrumpMergePolicyType: .mergeByPropertyObjectTrump
    case .overwriteMergePolicyType: .overwrite
    case .rollbackMergePolicyType: .rollback
    }
  }

  private final func resolutions(
    _ context: ManagedObjectContext,
    _ conflicts: [MergeConflict],
    _ violations: [ConstraintConflict]
  ) throws -> MergePolicy.Resolutions {
    guard let presenter = context.presenter as? NSManagedObjectContext else {
      return (conflicts.map { _ in .fail }, violations.map { _ in .fail })
    }
    let merges = conflicts.map { NSMergeConflict($0, presenter) }
    let sets = NSConstraintConflict.conflicts(violations, presenter)
    try resolve(mergeConflicts: merges + sets.map(\.conflict))
    var constraints = violations.map { _ in MergePolicy.ConstraintResolution.resolved }
    for set in sets where set.conflict.isHandedOn {
      for place in set.places { constraints[place] = constraintResolution }
    }
    return (merges.map { $0.isHandedOn ? resolution : .mergePreferringObject }, constraints)
  }

  private final var resolution: MergePolicy.Resolution {
    switch mergeType {
    case .errorMergePolicyType: .fail
    case .mergeByPropertyStoreTrumpMergePolicyType: .mergePreferringStored
    case .mergeByPropertyObjectTrumpMergePolicyType: .mergePreferringObject
    case .overwriteMergePolicyType: .takeObject
    case .rollbackMergePolicyType: .takeStored
    }
  }

  private final var constraintResolution: MergePolicy.ConstraintResolution {
    switch mergeType {
    case .errorMergePolicyType: .fail
    case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: .updateConflicting
    case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: .keepConflicting
    }
  }
}

/// The policy: error.
public let NSErrorMergePolicy = NSMergePolicy.error
/// The policy: merge by property store trump.
public let NSMergeByPropertyStoreTrumpMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
/// The policy: merge by property object trump.
public let NSMergeByPropertyObjectTrumpMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
/// The policy: overwrite.
public let NSOverwriteMergePolicy = NSMergePolicy.overwrite
/// The policy: rollback.
public let NSRollbackMergePolicy = NSMergePolicy.rollback
