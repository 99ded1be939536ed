package import HeartwoodModel

/// An incremental store that can tell which records come into question, where it cannot tell just which are meant.
package protocol NarrowingStore: IncrementalStore {
  /// The part of a fetch that the store can answer by ``IncrementalStore/fetch(_:)``; nil where there is none.
  func narrowed(_ fetch: RecordFetch) throws -> NarrowedFetch?
}

/// The part of a fetch that a store can answer, and what is left of it.
package struct NarrowedFetch: Sendable {
  /// Finds all records that are meant, among others, whatever the limits of the fetch are. Only its plans say what it is.
  let part: RecordFetch
  /// What the records that were found have to meet still; nil where they are just those that are meant.
  let rest: PlanPredicate?
  /// Whether the records come in the order of the fetch, and not in the store's.
  let isSorted: Bool

  package init(part: RecordFetch, rest: PlanPredicate?, isSorted: Bool) {
    self.part = part
    self.rest = rest
    self.isSorted = isSorted
  }
}
