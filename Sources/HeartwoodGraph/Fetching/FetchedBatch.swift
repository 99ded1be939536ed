import HeartwoodModel

/// The objects that a fetch has found, made when they are walked over: of those that nobody has looked at there is a row number, and no
/// object.
///
/// It holds its context, but not the objects. An object whose record has gone since the fetch counts as deleted.
public struct FetchedBatch<Object: ManagedObject>: RandomAccessCollection {
  private let context: ManagedObjectContext
  private let matches: [FetchPass.Match]

  /// The classes of the objects have been checked.
  init(_ matches: [FetchPass.Match], in context: ManagedObjectContext) {
    self.context = context
    // The rows of records that no store has may change.
    self.matches = matches.map { match in
      if case .row(let binding, let row) = match, binding.rowsMayMove { return .changed(binding.object(row)) }
      return match
    }
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many objects there are.
  public var endIndex: Int { matches.count }

  /// The object at a place, made where nobody holds it yet. O(1).
  public subscript(position: Int) -> Object {
    guard let object = matches[position].object as? Object else {
      Misuse.stop("The classes of the objects were checked when they were found.")
    }
    return object
  }
}

extension ManagedObjectContext {
  /// The objects that ``fetch(_:)-(FetchRequest<Object>)`` would give, as a collection that makes each when it is asked for.
  ///
  /// It takes the place of Core Data's batch size: there is nothing to be read in batches, as the records are in columns.
  public func fetchBatch<Object>(_ request: FetchRequest<Object>) throws -> FetchedBatch<Object> {
    let pass = try FetchPass(request, in: self)
    let matches = try pass.matches()
    for part in pass.parts where !(part.binding.objectClass is Object.Type) {
      if let other = matches.first(where: { $0.isOf(part.binding) }) { throw mismatch(other.object, request) }
    }
    for case .changed(let object) in matches where !(object is Object) { throw mismatch(object, request) }
    return FetchedBatch(matches, in: self)
  }
}

extension FetchPass.Match {
  fileprivate func isOf(_ other: EntityBinding) -> Bool {
    if case .row(let binding, _) = self { binding === other } else { false }
  }
}
