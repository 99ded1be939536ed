/// The objects of an ordered to-many relationship: a view of the relationship that reads and changes it. It contains an
/// object at most once.
///
///     final class List: ManagedObject {
///       static let itemsKey = ToManyKey<Item>("items")
///       var items: RelatedList<Item> {
///         get { self[list: Self.itemsKey] }
///         set { self[list: Self.itemsKey] = newValue }
///       }
///     }
///     list.items.append(item)
///     list.items.move(from: 0, to: 2)
///     list.items = [first, second]
///
/// It reflects the current objects of the relationship, and changing it changes the object, even through a constant:
/// `let items = list.items` is the same relationship, not a copy. ``objects`` is an array, and a copy. Assigning
/// another view or a literal to the property replaces the objects of the relationship.
///
/// Getting a view allocates nothing. Appending and removing by object are O(1) amortised; everything that uses an index
/// is O(n), and so is the first change after reading. To read many objects, use ``objects``.
///
/// - Precondition: objects that are added belong to the same context and are not deleted.
public struct RelatedList<Destination: ManagedObject> {
  private enum Content {
    case live(LiveRelationship<Destination>)
    case unattached(UnattachedMembers<[Destination]>)
  }

  private let content: Content

  /// The object that has the relationship; nil for objects that are to be assigned to one.
  var owner: ManagedObject? {
    if case .live(let relationship) = content { relationship.object } else { nil }
  }

  init(_ relationship: LiveRelationship<Destination>) {
    content = .live(relationship)
  }

  /// Creates a list of objects to be assigned to a relationship, without duplicates.
  public init(_ objects: some Sequence<Destination>) {
    content = .unattached(UnattachedMembers(Self.eachOnce(objects)))
  }

  /// The current objects, in their order. O(n).
  public var objects: [Destination] {
    get {
      switch content {
      case .live(let relationship): relationship.objects
      case .unattached(let members): members.objects
      }
    }
    nonmutating set {
      switch content {
      case .live(let relationship): relationship.replaceAll(newValue)
      case .unattached(let members): members.objects = Self.eachOnce(newValue)
      }
    }
  }

  private static func eachOnce(_ objects: some Sequence<Destination>) -> [Destination] {
    var seen: Set<Destination> = []
    return objects.filter { seen.insert($0).inserted }
  }
}

extension RelatedList {
  /// The number of objects. O(n).
  public var count: Int { objects.count }

  /// Whether there are no objects. O(n).
  public var isEmpty: Bool { objects.isEmpty }

  /// The object at `index`. An object that is set here is removed from its former place.
  public subscript(index: Int) -> Destination {
    get { objects[index] }
    nonmutating set {
      var objects = objects
      objects[index] = newValue
      self.objects = objects.enumerated().filter { $0 == index || $1 != newValue }.map(\.element)
    }
  }

  /// Returns whether `member` is one of the objects.
  public func contains(_ member: Destination) -> Bool {
    switch content {
    case .live(let relationship): relationship.contains(member)
    case .unattached(let members): members.objects.contains(member)
    }
  }

  /// Appends an object, unless it is in the list.
  public func append(_ member: Destination) {
    switch content {
    case .live(let relationship): _ = relationship.add(member)
    case .unattached(let members): if !members.objects.contains(member) { members.objects.append(member) }
    }
  }

  /// Inserts an object before the one at `index`, unless it is in the list.
  public func insert(_ member: Destination, at index: Int) {
    if contains(member) { return }
    objects.insert(member, at: index)
  }

  /// Removes an object. Returns whether it was in the list.
  @discardableResult
  public func remove(_ member: Destination) -> Bool {
    switch content {
    case .live(let relationship): return relationship.remove(member)
    case .unattached(let members):
      guard let index = members.objects.firstIndex(of: member) else { return false }
      members.objects.remove(at: index)
      return true
    }
  }

  /// Removes the object at `index`, and returns it.
  @discardableResult
  public func remove(at index: Int) -> Destination {
    let member = objects[index]
    remove(member)
    return member
  }

  /// Removes all objects.
  public func removeAll() {
    objects = []
  }

  /// Moves the object at `source` to the index `destination`.
  public func move(from source: Int, to destination: Int) {
    var objects = objects
    objects.insert(objects.remove(at: source), at: destination)
    self.objects = objects
  }
}

extension RelatedList: Sequence {
  /// Returns an iterator over the current objects. The relationship may be changed during the iteration.
  public func makeIterator() -> IndexingIterator<[Destination]> { objects.makeIterator() }
}

extension RelatedList: ExpressibleByArrayLiteral {
  /// Creates a list of objects to be assigned to a relationship.
  public init(arrayLiteral elements: Destination...) {
    self.init(elements)
  }
}

extension RelatedList: Equatable {
  /// Returns whether both have the same objects in the same order now.
  public static func == (left: RelatedList, right: RelatedList) -> Bool { left.objects == right.objects }
}

extension RelatedList: CustomStringConvertible {
  /// The classes and ids of the objects.
  public var description: String { objects.description }
}

extension ManagedObject {
  /// A view of an ordered to-many relationship. Setting it assigns the objects of another view or a literal to the
  /// relationship.
  public final subscript<Destination: ManagedObject>(list key: ToManyKey<Destination>) -> RelatedList<Destination> {
    get { RelatedList(live(key, isOrdered: true)) }
    set { newValue.assign(to: live(key, isOrdered: true)) }
  }
}

extension RelatedList {
  fileprivate func assign(to relationship: LiveRelationship<Destination>) {
    if case .live(let own) = content, own.isSame(as: relationship) { return }
    relationship.replaceAll(objects)
  }
}
