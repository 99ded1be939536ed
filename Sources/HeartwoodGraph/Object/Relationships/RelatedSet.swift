/// The objects of a to-many relationship without an order: a set that changes the object that it is of.
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
///
/// What an object gives is a view of its relationship: it shows what the relationship has at the moment, and changing a copy of it
/// changes the object as well. Results of set operations, literals and `RelatedSet(objects)` are values of their own.
///
/// Inserting and removing are O(1) amortised, and change the inverse too; what first lets the set differ from the one that was read is O(n).
/// Making an object of another context, or a deleted one, a member is a mistake that stops the process.
public struct RelatedSet<Destination: ManagedObject> {
  private enum Content {
    case live(LiveRelationship<Destination>)
    case own(Set<Destination>)
  }

  private var content: Content

  /// The object that the relationship is of; nil for a value of its own.
  var owner: ManagedObject? {
    if case .live(let relationship) = content { relationship.object } else { nil }
  }

  init(_ relationship: LiveRelationship<Destination>) {
    content = .live(relationship)
  }

  /// A set of its own with the objects of a sequence.
  public init(_ objects: some Sequence<Destination>) {
    content = .own(Set(objects))
  }

  /// The objects. O(n), where the set is an object's.
  public var objects: Set<Destination> {
    switch content {
    case .live(let relationship): Set(relationship.objects)
    case .own(let objects): objects
    }
  }

  /// How many objects there are. O(n), where the set is an object's.
  public var count: Int { objects.count }

  /// Takes all objects out.
  public mutating func removeAll() {
    switch content {
    case .live(let relationship): relationship.replaceAll([])
    case .own: content = .own([])
    }
  }
}

extension RelatedSet: SetAlgebra {
  /// An empty set of its own.
  public init() {
    self.init(EmptyCollection())
  }

  /// Whether there are no objects.
  public var isEmpty: Bool { objects.isEmpty }

  /// Whether `member` is one of the objects.
  public func contains(_ member: Destination) -> Bool {
    switch content {
    case .live(let relationship): relationship.contains(member)
    case .own(let objects): objects.contains(member)
    }
  }

  /// Puts an object in, where it is not there yet.
  @discardableResult
  public mutating func insert(_ member: Destination) -> (inserted: Bool, memberAfterInsert: Destination) {
    switch content {
    case .live(let relationship): return (relationship.add(member), member)
    case .own(var objects):
      content = .own([])
      defer { content = .own(objects) }
      return objects.insert(member)
    }
  }

  /// Puts an object in, where it is not there yet, and gives it back where it was.
  @discardableResult
  public mutating func update(with member: Destination) -> Destination? {
    insert(member).inserted ? nil : member
  }

  /// Takes an object out, and gives it back where it was there.
  @discardableResult
  public mutating func remove(_ member: Destination) -> Destination? {
    switch content {
    case .live(let relationship): return relationship.remove(member) ? member : nil
    case .own(var objects):
      content = .own([])
      defer { content = .own(objects) }
      return objects.remove(member)
    }
  }

  /// A set of its own with the objects of both.
  public func union(_ other: RelatedSet) -> RelatedSet { RelatedSet(objects.union(other.objects)) }

  /// A set of its own with the objects that are in both.
  public func intersection(_ other: RelatedSet) -> RelatedSet { RelatedSet(objects.intersection(other.objects)) }

  /// A set of its own with the objects that are in exactly one of the two.
  public func symmetricDifference(_ other: RelatedSet) -> RelatedSet {
    RelatedSet(objects.symmetricDifference(other.objects))
  }

  /// Puts the objects of another set in.
  public mutating func formUnion(_ other: RelatedSet) {
    for object in other.objects { insert(object) }
  }

  /// Takes the objects out that are not in another set.
  public mutating func formIntersection(_ other: RelatedSet) {
    subtract(RelatedSet(objects.subtracting(other.objects)))
  }

  /// Takes the objects of another set out.
  public mutating func subtract(_ other: RelatedSet) {
    for object in other.objects { remove(object) }
  }

  /// Takes the objects out that are in another set as well, and puts its others in.
  public mutating func formSymmetricDifference(_ other: RelatedSet) {
    for object in other.objects where remove(object) == nil { insert(object) }
  }

  /// Whether both have the same objects.
  public static func == (left: RelatedSet, right: RelatedSet) -> Bool { left.objects == right.objects }
}

extension RelatedSet: Sequence {
  /// Goes over the objects as they are now, in any order. They may be changed on the way.
  public func makeIterator() -> Set<Destination>.Iterator { objects.makeIterator() }
}

extension RelatedSet: CustomStringConvertible {
  /// The classes and ids of the objects.
  public var description: String { objects.description }
}

extension ManagedObject {
  /// The objects of a to-many relationship as a set, to be changed in place or set as a whole. The relationship has no order.
  public final subscript<Destination: ManagedObject>(set key: ToManyKey<Destination>) -> RelatedSet<Destination> {
    get { RelatedSet(live(key, isOrdered: false)) }
    set { newValue.assign(to: live(key, isOrdered: false)) }
  }
}

extension RelatedSet {
  fileprivate func assign(to relationship: LiveRelationship<Destination>) {
    // Changing the set in place ends with an assignment of what was changed to itself.
    if case .live(let own) = content, own.isSame(as: relationship) { return }
    relationship.replaceAll(Array(objects))
  }
}
