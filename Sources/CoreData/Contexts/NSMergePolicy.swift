public import Foundation
import HeartwoodGraph

/// How the conflicts of a save are resolved.
public enum NSMergePolicyType: UInt, Sendable {
  case errorMergePolicyType = 0
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  case overwriteMergePolicyType = 3
  case rollbackMergePolicyType = 4
}

/// A policy that resolves the conflicts of a save. It cannot be subclassed: policies of one's own are not there.
public final class NSMergePolicy: NSObject, Sendable {
  /// What the policy does.
  public let mergeType: NSMergePolicyType

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

  var core: MergePolicy {
    switch mergeType {
    case .errorMergePolicyType: .error
    case .mergeByPropertyStoreTrumpMergePolicyType: .mergeByPropertyStoreTrump
    case .mergeByPropertyObjectTrumpMergePolicyType: .mergeByPropertyObjectTrump
    case .overwriteMergePolicyType: .overwrite
    case .rollbackMergePolicyType: .rollback
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
