import HeartwoodModel
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentStoreCoordinator {
  /// The derived attributes of the model as they are computed now; nil where it has none. They are compiled once.
  ///
  /// - Throws: `FetchPredicateError` where an expression does not fit its entity.
  func derivedAttributes() throws(FetchPredicateError) -> DerivedAttributes? {
    guard managedObjectModel.hasDerivedAttributes else { return nil }
    let derived = try derivation.withLock { compiled throws(FetchPredicateError) in
      let derived = if let compiled { compiled } else { try DerivedAttributes(managedObjectModel) }
      compiled = derived
      return derived
    }
    return try derived.at(Date())
  }
}
