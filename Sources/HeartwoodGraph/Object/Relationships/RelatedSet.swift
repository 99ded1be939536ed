/// The objects of a to-many relationship without an order: a view of the relationship, through which it is changed.
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
/// It shows what the relationship has at the moment, and inserting and removing change the object, even through a
/// constant: `let tags = todo.tags` is the same relationship, not a copy. So it is no `SetAlgebra`, whose algorithms
/// change copies; give those `Set(todo.tags)`. What is calculated from it, such as a ``union(_:)``, is a plain `Set`.
/// Assigning to the property takes the objects of another view or a literal over.
///
/// Getting a view allocates nothing. Inserting and removing are O(1) amortised, and change the inverse too; what first
/// makes the set differ from the one that was read is O(n), and so is everything else. Making an object of another
/// context, or a deleted one, a member is a mistake that stops the process.
public struct RelatedSet<Destination: ManagedObject> {
  private enum Content {
    case live(LiveRelationship<Destination>)
    case unattached(UnattachedMembers<Set<Destination>>)
  }

  private let content: Content

  /// The object that the relationship is of; nil for objects that are to be assigned to one.
  var owner: ManagedObject? {
    if case .live(let relationship) = content { relationship.object } else { nil }
  }

  init(_ relationship: LiveRelationship<Destination>) {
    content = .live(relationship)
  }

  /// Objects to be assigned to a relationship.
  public init(_ objects: some Sequence<Destination>) {
    content = .unattached(UnattachedMembers(Set(objects)))
  }

  /// The objects there are now. O(n).
  public var objects: Set<Destination> {
    switch content {
    case .live(let relationship): Set(relationship.objects)
    case .unattached(let members): members.objects
    }
  }
}

extension RelatedSet {
  /// How many objects there are. O(n).
  public var count: Int { objects.count }

  /// Whether there are no objects.
  public var isEmpty: Bool { objects.isEmpty }

  /// Whether `member` is one of the objects.
  public func contains(_ member: Destination) -> Bool {
    switch content {
    case .live(let relationship): relationship.contains(member)
    case .unattached(let members): members.objects.contains(member)
    }
  }
}

// MARK: Changing

extension RelatedSet {
  /// Adds an object to the relationship, unless it is there.
  @discardableResult
  public func insert(_ member: Destination) -> (inserted: Bool, memberAfterInsert: Destination) {
    switch content {
    case .live(let relationship): (relationship.add(member), member)
    case .unattached(let members): members.objects.insert(member)
    }
  }

  /// Removes an object from the relationship, and returns it if it was there.
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

  /// Removes the objects from the relationship that are not in a sequence.
  public func formIntersection(_ other: some Sequence<Destination>) {
    for object in objects.subtracting(other) { remove(object) }
  }

  /// Removes the objects of a sequence from the relationship.
  public func subtract(_ other: some Sequence<Destination>) {
    for object in Array(other) { remove(object) }
  }

  /// Removes the objects from the relationship that are in a sequence as well, and adds the others of the sequence.
  public func formSymmetricDifference(_ other: some Sequence<Destination>) {
    for object in Set(other) where remove(object) == nil { insert(object) }
  }
}

// MARK: Calculating

extension RelatedSet {
  /// The objects of both. The relationship stays as it is.
  public func union(_ other: some Sequence<Destination>) -> Set<Destination> { objects.union(other) }

  /// The objects that are in both. The relationship stays as it is.
  public func intersection(_ other: some Sequence<Destination>) -> Set<Destination> { objects.intersection(other) }

  /// The objects that are not in `other`. The relationship stays as it is.
  public func subtracting(_ other: some Sequence<Destination>) -> Set<Destination> { objects.subtracting(other) }

  /// The objects that are in exactly one of the two. The relationship stays as it is.
  public func symmetricDifference(_ other: some Sequence<Destination>) -> Set<Destination> {
    objects.symmetricDifference(other)
  }

  /// Whether all objects are in `other`.
  public func isSubset(of other: some Sequence<Destination>) -> Bool { objects.isSubset(of: other) }

  /// Whether all objects of `other` are here.
  public func isSuperset(of other: some Sequence<Destination>) -> Bool { objects.isSuperset(of: other) }

  /// Whether no object is in both.
  public func isDisjoint(with other: some Sequence<Destination>) -> Bool { objects.isDisjoint(with: other) }
}

extension RelatedSet: Sequence {
  /// Goes over the objects as they are now, in any order. They may be changed on the way.
  public func makeIterator() -> Set<Destination>.Iterator { objects.makeIterator() }
}

extension RelatedSet: ExpressibleByArrayLiteral {
  /// Objects to be assigned to a relationship.
  public init(arrayLiteral elements: Destination...) {
    self.init(elements)
  }
}

extension RelatedSet: Equatable {
  /// Whether both have the same objects now.
  public static func == (left: RelatedSet, right: RelatedSet) -> Bool { left.objects == right.objects }
}

extension RelatedSet: CustomStringConvertible {
  /// The classes and ids of the objects.
  public var description: String { objects.description }
}

extension ManagedObject {
  /// A view of a to-many relationship without an order. Setting it gives the relationship the objects of another view
  /// or a literal.
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

/// The objects of a view that belongs to no relationship: those of a literal, say. It is a class so that such a view
/// has reference semantics as any other.
final class UnattachedMembers<Objects> {
  var objects: Objects

  init(_ objects: Objects) {
    self.objects = objects
  }
}
