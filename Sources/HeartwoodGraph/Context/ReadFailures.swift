import HeartwoodModel
import HeartwoodStore

/// What a context could not read, and what it has to do once it can.
final class ReadFailures {
  /// The oldest failures are forgotten once there are more.
  static let mostFailures = 100

  /// The failures that no call has thrown, the newest last.
  fileprivate(set) var all: [PersistenceError] = []
  /// What changes ask of records that could not be read.
  var postponed: [PostponedChange] = []
  /// Why what a child has saved could not be taken in.
  var arrival: PersistenceError?
  /// Why children cannot see what has changed here.
  var publishing: PersistenceError?
  /// Whether a call that can throw is under way, which takes the failures.
  private var isCatching = false
  /// The first failure of that call.
  private var caught: PersistenceError?
}

extension ReadFailures {
  /// Notes a failure.
  ///
  /// - Returns: whether it is a new one that nobody throws.
  func note(_ error: PersistenceError) -> Bool {
    if isCatching {
      caught = caught ?? error
      return false
    }
    let known = all.firstIndex { $0.isSameFailure(as: error) }
    if let known { all.remove(at: known) }
    all.append(error)
    if all.count > Self.mostFailures { all.removeFirst() }
    return known == nil
  }

  func forget() { all = [] }

  /// What a call has to put back when it ends.
  typealias Outer = (isCatching: Bool, caught: PersistenceError?)

  /// Begins a call that throws what cannot be read.
  func beginCatching() -> Outer {
    defer { (isCatching, caught) = (true, nil) }
    return (isCatching, caught)
  }

  /// Ends it, and returns the first failure.
  func endCatching(_ outer: Outer) -> PersistenceError? {
    defer { (isCatching, caught) = outer }
    return caught
  }
}

extension PersistenceError {
  /// Whether both say the same of the same records.
  fileprivate func isSameFailure(as other: PersistenceError) -> Bool {
    code == other.code && message == other.message && context.entity == other.context.entity
      && context.property == other.context.property && context.objectIDs == other.context.objectIDs
  }

  /// The failure to read records.
  ///
  /// - Parameters:
  ///   - ids: the records.
  ///   - place: the entity and the property that were asked for, if it was a property.
  ///   - entity: the entity of the records, if these are not known.
  static func unreadable(
    _ ids: [ManagedObjectID],
    for place: (entity: EntityDescription, ordinal: Int)? = nil,
    in entity: EntityDescription? = nil,
    _ error: any Error
  ) -> PersistenceError {
    let cause = PersistenceError.of(error, .fileReadFailed, "The store cannot be read.")
    var context = cause.context
    context.objectIDs = ids
    context.entity = place?.entity.name ?? ids.first?.entity.name ?? entity?.name ?? context.entity
    context.property = place.map { $0.entity.properties[$0.ordinal].name } ?? context.property
    let records = ids.isEmpty ? "Records" : ids.count == 1 ? "A record" : "\(ids.count) records"
    return PersistenceError(
      cause.code,
      "\(records) could not be read, so nobody knows what is there. Mend the store, or try again.",
      context: context,
      underlyingError: cause
    )
  }
}
