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
