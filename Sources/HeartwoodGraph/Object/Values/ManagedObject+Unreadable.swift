import HeartwoodModel
import HeartwoodStore
import Logging

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A value that a store has and cannot read, such as large data in a file that is missing, costs that value alone: the object is there with all
// its others. In its column stands empty data, which is never given for it.

extension ManagedObject {
  /// Why the value that the object has for a property cannot be read; nil if it can, or if it has been set since.
  final func unreadable(at ordinal: Int) -> PersistenceError? {
    if case .fault = content { fireFault() }
    if case .changed(let changes) = content, changes.value(at: ordinal) != nil { return nil }
    return committedUnreadable(at: ordinal)
  }

  /// Why the value that the object was read with cannot be read; nil if it can.
  final func committedUnreadable(at ordinal: Int) -> PersistenceError? {
    guard let group, !binding.traits[ordinal].isTransient,
      var error = group.unreadable(row: rowID.row, ordinal: ordinal)
    else { return nil }
    error.context.objectIDs = [objectID]
    return error
  }

  /// - Throws: the reason why a value cannot be read.
  final func checkReadable(_ ordinals: some Sequence<Int>) throws(PersistenceError) {
    for ordinal in ordinals {
      if let error = unreadable(at: ordinal) { throw error }
    }
  }

  /// A value, or none if it is one that cannot be read, which is noted then.
  ///
  /// - Parameter value: what is known of the value at `ordinal`.
  final func readable(_ value: PropertyValue, at ordinal: Int) -> PropertyValue {
    guard value.isEmptyData, let error = unreadable(at: ordinal) else { return value }
    noteUnreadable(error)
    return .null
  }

  /// Says what a getter could not read that cannot throw.
  final func noteUnreadable(_ error: PersistenceError) {
    managedObjectContext?.noteReadFailure(error)
  }

  /// Lets a property have the value that it had before a change. Where that could not be read, it is the stored one again.
  final func changeBack(_ ordinal: Int, to value: PropertyValue) {
    guard value.isEmptyData, committedUnreadable(at: ordinal) != nil else { return change(ordinal, to: value) }
    forgetChange(ordinal)
  }
}

extension PropertyValue {
  /// Whether it is what stands where a value could not be read.
  var isEmptyData: Bool {
    if case .binary(let data) = self { data.isEmpty } else { false }
  }
}
