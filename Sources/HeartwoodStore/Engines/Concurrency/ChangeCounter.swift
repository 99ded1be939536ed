public import Synchronization

/// Counts the changes of something shared, so that whoever has read it can tell without a lock whether there is something newer.
///
/// Read the number first and the thing after it: it is as that change left it, or a later one.
@usableFromInline
package final class ChangeCounter: Sendable {
  @usableFromInline
  let number = Atomic<UInt64>(0)

  package init() {}

  /// How many changes have become visible.
  @inlinable
  package var current: UInt64 { number.load(ordering: .acquiring) }

  /// Counts a change that can be seen already, and returns its number.
  @discardableResult
  package func advance() -> UInt64 { number.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
