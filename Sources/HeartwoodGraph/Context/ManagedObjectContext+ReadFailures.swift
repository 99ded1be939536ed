import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// The failures to read records in calls that cannot throw, the newest last: at most the last hundred.
  ///
  /// A getter such as `list.items` returns what could be read, and adds the failure here, with the ids of the records,
  /// the entity and the property in its ``PersistenceError/context``, and the cause as its
  /// ``PersistenceError/underlyingError``. The coordinator's logger logs it too.
  ///
  ///     show(list.items)
  ///     if let failure = context.takeReadFailures().last { show(failure) }
  ///
  /// To have the failure thrown instead, use ``ManagedObject/read(_:)-(ToManyKey<Destination>)`` or ``reading(_:)``. A
  /// change or a deletion that depends on unreadable records is postponed until they can be read, at the latest to the
  /// next save; ``save()`` throws as long as they cannot be read.
  public var readFailures: [PersistenceError] { failures.all }

  /// Returns ``readFailures``, and clears them.
  @discardableResult
  public func takeReadFailures() -> [PersistenceError] {
    defer { failures.forget() }
    return failures.all
  }

  /// Calls `body`, and throws the first failure to read a record in it, in cases in which a getter alone would return
  /// what is known.
  ///
  ///     let titles = try context.reading { list.items.map(\.title) }
  ///
  /// Changes that `body` makes stay, whether it throws or not. The failure that is thrown is not added to
  /// ``readFailures``.
  ///
  /// - Throws: the error of `body`, or else a ``PersistenceError`` with the ids of the records in its context.
  public func reading<Result>(_ body: () throws -> Result) throws -> Result {
    let outer = failures.beginCatching()
    let result = Swift.Result(catching: body)
    let failure = failures.endCatching(outer)
    let value = try result.get()
    if let failure { throw failure }
    return value
  }

  /// As ``reading(_:)``, for a closure that throws only `PersistenceError`.
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

  /// Notes a failure to read, for the call under way that can throw it or else for ``readFailures``.
  func noteReadFailure(_ error: PersistenceError) {
    if failures.note(error) { persistentStoreCoordinator.logReadFailure(error) }
  }
}

extension ManagedObject {
  /// Calls `body`, and throws the first failure to read a record in it.
  final func reading<Result>(_ body: () throws(PersistenceError) -> Result) throws(PersistenceError) -> Result {
    guard let context = managedObjectContext else { return try body() }
    return try context.readingOnly(body)
  }
}

// MARK: ReadFailures

/// The read failures of a context.
///
/// A failure is either kept here or thrown by the call that it happened in, never both.
final class ReadFailures {
  /// The number of failures that are kept. Older ones are dropped.
  static let mostFailures = 100

  /// The failures that no call has thrown, the newest last.
  private(set) var all: [PersistenceError] = []
  /// Whether a call is under way that throws the failures.
  private var isCatching = false
  /// The first failure of that call.
  private var caught: PersistenceError?
}

extension ReadFailures {
  /// Notes a failure.
  ///
  /// - Returns: whether it is a new one that no call throws.
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

  /// The state that a call has to restore when it ends.
  typealias Outer = (isCatching: Bool, caught: PersistenceError?)

  /// Begins a call that throws read failures.
  func beginCatching() -> Outer {
    defer { (isCatching, caught) = (true, nil) }
    return (isCatching, caught)
  }

  /// Ends the call, and returns its first failure.
  func endCatching(_ outer: Outer) -> PersistenceError? {
    defer { (isCatching, caught) = outer }
    return caught
  }
}

extension PersistenceError {
  /// Returns whether both are the same failure for the same records.
  fileprivate func isSameFailure(as other: PersistenceError) -> Bool {
    code == other.code && message == other.message && context.entity == other.context.entity
      && context.property == other.context.property && context.objectIDs == other.context.objectIDs
  }

  /// Returns the error for records that could not be read.
  ///
  /// - Parameters:
  ///   - ids: the ids of the records.
  ///   - place: the entity and the property that was read, if a property was read.
  ///   - entity: the entity of the records, if their ids are not known.
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
      "\(records) could not be read, so its contents are not known. Repair the store, or try again.",
      context: context,
      underlyingError: cause
    )
  }
}
