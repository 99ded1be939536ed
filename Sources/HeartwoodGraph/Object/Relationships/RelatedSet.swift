/// The objects of an unordered to-many relationship: a view of the relationship that reads and changes it.
///
///     final class ToDo: ManagedObject {
///       static let tagsKey = ToManyKey<Tag>("tags")
///       var tags: RelatedSet<Tag> {
///         get { self[set: Self.tagsKey] }
///         set { self[set: Self.tagsKey] = newValue }
///       }
///     }
///     todo.tags.insert(tag)
///     todo.tags = [home, urgent]
///     let others = todo.tags.subtracting([home])
///
/// It reflects the current objects of the relationship, and inserting and removing change the object, even through a
/// constant: `let tags = todo.tags` is the same relationship, not a copy. Therefore it is not a `SetAlgebra`, whose
/// algorithms change copies; use `Set(todo.tags)` for those. Results of calculations, such as ``union(_:)``, are of the
/// type `Set`. Assigning another view or a literal to the property replaces the objects of the relationship.
///
/// Getting a view allocates nothing. Inserting and removing are O(1) amortised, and update the inverse too; the first
/// change after reading is O(n), and so is everything else.
///
/// - Precondition: objects that are inserted belong to the same context and are not deleted.
public struct RelatedSet<Destination: ManagedObject> {
  private enum Content {
    case live(LiveRelationship<Destination>)
    case unattached(UnattachedMembers<Set<Destination>>)
  }

  private let content: Content

  /// The object that has the relationship; nil for objects that are to be assigned to one.
  var owner: ManagedObject? {
    if case .live(let relationship) = content { relationship.object } else { nil }
  }

  init(_ relationship: LiveRelationship<Destination>) {
    content = .live(relationship)
  }

  /// Creates a set of objects to be assigned to a relationship.
  public init(_ objects: some Sequence<Destination>) {
    content = .unattached(UnattachedMembers(Set(objects)))
  }

  /// The current objects. O(n).
  public var objects: Set<Destination> {
    switch content {
    case .live(let relationship): Set(relationship.objects)
    case .unattached(let members): members.objects
    }
  }
}

extension RelatedSet {
  /// The number of objects. O(n).
  public var count: Int { objects.count }

  /// Whether there are no objects. O(n).
  public var isEmpty: Bool { objects.isEmpty }

  /// Returns whether `member` is one of the objects.
  public func contains(_ member: Destination) -> Bool {
    switch content {
    case .live(let relationship): relationship.contains(member)
    case .unattached(let members): members.objects.contains(member)
    }
  }
}

// MARK: Changing

extension RelatedSet {
  /// Adds an object to the relationship, unless it is in it.
  @discardableResult
  public func insert(_ member: Destination) -> (inserted: Bool, memberAfterInsert: Destination) {
    switch content {
    case .live(let relationship): (relationship.add(member), member)
    case .unattached(let members): members.objects.insert(member)
    }
  }

  /// Removes an object from the relationship, and returns it if it was in it.
  @discardableResult
  public func remove(_ member: Destination) -> Destination? {
    switch content {
    case .live(let relationship): relationship.remove(member) ? member : nil
    case .unattached(let members): members.objects.remove(member)
    }
  }

  /// Removes all objects from the relationship.
  public func removeAll() {
    switch content {
    case .live(let relationship): relationship.replaceAll([])
    case .unattached(let members): members.objects = []
    }
  }

  /// Adds the objects of a sequence to the relationship.
  public func formUnion(_ other: some Sequence<Destination>) {
    for object in Array(other) { insert(object) }
  }

  /// Removes all objects from the relationship that are not in a sequence.
  public func formIntersection(_ other: some Sequence<Destination>) {
    for object in objects.subtracting(other) { remove(object) }
  }

  /// Removes the objects of a sequence from the relationship.
  public func subtract(_ other: some Sequence<Destination>) {
    for object in Array(other) { remove(object) }
  }

  /// Removes the objects that are also in a sequence from the relationship, and adds the other objects of the sequence.
  public func formSymmetricDifference(_ other: some Sequence<Destination>) {
    for object in Set(other) where remove(object) == nil { insert(object) }
  }
}

// MARK: Calculating

extension RelatedSet {
  /// Returns the objects of both. The relationship stays as it is.
  public func union(_ other: some Sequence<Destination>) -> Set<Destination> { objects.union(other) }

  /// Returns the objects that are in both. The relationship stays as it is.
  public func intersection(_ other: some Sequence<Destination>) -> Set<Destination> { objects.intersection(other) }

  /// Returns the objects that are not in `other`. The relationship stays as it is.
  public func subtracting(_ other: some Sequence<Destination>) -> Set<Destination> { objects.subtracting(other) }

  /// Returns the objects that are in exactly one of the two. The relationship stays as it is.
  public func symmetricDifference(_ other: some Sequence<Destination>) -> Set<Destination> {
    objects.symmetricDifference(other)
  }

  /// Returns whether all objects are in `other`.
  public func isSubset(of other: some Sequence<Destination>) -> Bool { objects.isSubset(of: other) }

  /// Returns whether the relationship contains all objects of `other`.
  public func isSuperset(of other: some Sequence<Destination>) -> Bool { objects.isSuperset(of: other) }

  /// Returns whether no object is in both.
  public func isDisjoint(with other: some Sequence<Destination>) -> Bool { objects.isDisjoint(with: other) }
}

extension RelatedSet: Sequence {
  /// Returns an iterator over the current objects, in any order. The relationship may be changed during the iteration.
  public func makeIterator() -> Set<Destination>.Iterator { objects.makeIterator() }
}

extension RelatedSet: ExpressibleByArrayLiteral {
  /// Creates a set of objects to be assigned to a relationship.
  public init(arrayLiteral elements: Destination...) {
    self.init(elements)
  }
}

extension RelatedSet: Equatable {
  /// Returns whether both have the same objects now.
  public static func == (left: RelatedSet, right: RelatedSet) -> Bool { left.objects == right.objects }
}

extension RelatedSet: CustomStringConvertible {
  /// The classes and ids of the objects.
  public var description: String { objects.description }
}

extension ManagedObject {
  /// A view of an unordered to-many relationship. Setting it assigns the objects of another view or a literal to the
  /// relationship.
  public final subscript<Destination: ManagedObject>(set key: ToManyKey<Destination>) -> RelatedSet<Destination> {
    get { RelatedSet(live(key, isOrdered: false)) }
    set { newValue.assign(to: live(key, isOrdered: false)) }
  }
}

extension RelatedSet {
  fileprivate func assign(to relationship: LiveRelationship<Destination>) {
    if case .live(let own) = content, own.isSame(as: relationship) { return }
    relationship.replaceAll(Array(objects))
  }
}

// MARK: UnattachedMembers

/// The objects of a view that belongs to no relationship, such as that of a literal. It is a class so that such a view
/// has reference semantics like any other.
final class UnattachedMembers<Objects> {
  var objects: Objects

  init(_ objects: Objects) {
    self.objects = objects
  }
}
