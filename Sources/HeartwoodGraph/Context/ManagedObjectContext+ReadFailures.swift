import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// What could not be read by calls that cannot throw, the newest last: at most the last hundred failures.
  ///
  /// A getter such as `list.items` gives what could be read, and leaves the failure here, with the ids of the records, the entity and the
  /// property in its ``PersistenceError/context``, and the cause as its ``PersistenceError/underlyingError``. The coordinator's logger is told, too.
  ///
  ///     show(list.items)
  ///     if let failure = context.takeReadFailures().last { show(failure) }
  ///
  /// To have the failure thrown instead, use ``ManagedObject/read(_:)-(ToManyKey<Destination>)`` or ``reading(_:)``. A change or a deletion that
  /// depends on what could not be read is made once it can be, before the next save; ``save()`` throws while it cannot.
  public var readFailures: [PersistenceError] { failures.all }

  /// Returns ``readFailures``, and forgets them.
  @discardableResult
  public func takeReadFailures() -> [PersistenceError] {
    defer { failures.forget() }
    return failures.all
  }

  /// Calls `body`, and throws the first thing that could not be read in it, where a getter alone would give what is known.
  ///
  ///     let titles = try context.reading { list.items.map(\.title) }
  ///
  /// Changes that `body` makes stay, whether it throws or not. What is thrown is not among ``readFailures``.
  ///
  /// - Throws: what `body` throws, and else a ``PersistenceError`` that names the records in its context.
  public func reading<Result>(_ body: () throws -> Result) throws -> Result {
    let outer = failures.beginCatching()
    let result = Swift.Result(catching: body)
    let failure = failures.endCatching(outer)
    let value = try result.get()
    if let failure { throw failure }
    return value
  }

  /// The same for what throws errors of ours.
  func readingOnly<Result>(_ body: () throws(PersistenceError) -> Result) throws(PersistenceError) -> Result {
    let outer = failures.beginCatching()
    let result: Swift.Result<Result, PersistenceError>
    do throws(PersistenceError) {
      result = .success(try body())
    } catch {
      result = .failure(error)
    }
    let failure = failures.endCatching(outer)
    let value = try result.get()
    if let failure { throw failure }
    return value
  }

  /// Notes what could not be read, for the call that throws it or for whoever asks.
  func noteReadFailure(_ error: PersistenceError) {
    if failures.note(error) { persistentStoreCoordinator.logReadFailure(error) }
  }
}

extension ManagedObject {
  /// Calls `body`, and throws the first thing that could not be read in it.
  final func reading<Result>(_ body: () throws(PersistenceError) -> Result) throws(PersistenceError) -> Result {
    guard let context = managedObjectContext else { return try body() }
    return try context.readingOnly(body)
  }
}

// MARK: ReadFailures

/// What a context could not read.
///
/// A failure is kept here or thrown by the call that it happened in, and never both.
final class ReadFailures {
  /// The oldest failures are forgotten once there are more.
  static let mostFailures = 100

  /// The failures that no call has thrown, the newest last.
  private(set) var all: [PersistenceError] = []
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
