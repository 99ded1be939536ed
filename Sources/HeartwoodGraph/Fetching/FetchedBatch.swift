import HeartwoodModel
import HeartwoodStore

/// The objects that a fetch has found, made when they are walked over: of those that nobody has looked at there is a row number, and no
/// object.
///
/// It holds its context, but not the objects. An object whose record has gone since the fetch counts as deleted, and so does one whose
/// record is missing from an older version to which the context has gone back.
public struct FetchedBatch<Object: ManagedObject>: RandomAccessCollection {
  private let context: ManagedObjectContext
  private let matches: [FetchPass.Match]
  /// What the records were called that were searched, by binding, for rows that the context does not see any more.
  private let references: [ObjectIdentifier: [ReferenceColumn]]

  /// The classes of the objects have been checked.
  init(_ matches: [FetchPass.Match], of pass: FetchPass, in context: ManagedObjectContext) {
    self.context = context
    references = Dictionary(uniqueKeysWithValues: pass.parts.map { (ObjectIdentifier($0.binding), $0.references) })
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
    guard let object = object(matches[position]) as? Object else {
      Misuse.stop("The classes of the objects were checked when they were found.")
    }
    return object
  }

  private func object(_ match: FetchPass.Match) -> ManagedObject {
    match.lostObject { references[ObjectIdentifier($0)] } ?? match.object
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
    return FetchedBatch(matches, of: pass, in: self)
  }
}

extension FetchPass.Match {
  fileprivate func isOf(_ other: EntityBinding) -> Bool {
    if case .row(let binding, _) = self { binding === other } else { false }
  }
}
