/// The objects of an ordered to-many relationship: a view of the relationship, through which it is changed. An object
/// is in it once at most.
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
/// It shows what the relationship has at the moment, and changing it changes the object, even through a constant: `let
/// items = list.items` is the same relationship, not a copy. ``objects`` is an array, and a copy. Assigning to the
/// property takes the objects of another view or a literal over.
///
/// Getting a view allocates nothing. Appending and removing by object are O(1) amortised; whatever uses an index is
/// O(n), and so is what first makes the list differ from the one that was read. To look at many, take ``objects``.
/// Making an object of another context, or a deleted one, an element is a mistake that stops the process.
public struct RelatedList<Destination: ManagedObject> {
  private enum Content {
    case live(LiveRelationship<Destination>)
    case unattached(UnattachedMembers<[Destination]>)
  }

  private let content: Content

  /// The object that the relationship is of; nil for objects that are to be assigned to one.
  var owner: ManagedObject? {
    if case .live(let relationship) = content { relationship.object } else { nil }
  }

  init(_ relationship: LiveRelationship<Destination>) {
    content = .live(relationship)
  }

  /// Objects to be assigned to a relationship, each once.
  public init(_ objects: some Sequence<Destination>) {
    content = .unattached(UnattachedMembers(Self.eachOnce(objects)))
  }

  /// The objects there are now, in their order. O(n).
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
  /// How many objects there are.
  public var count: Int { objects.count }

  /// Whether there are no objects.
  public var isEmpty: Bool { objects.isEmpty }

  /// The object at `index`. An object that is set there leaves the place where it was.
  public subscript(index: Int) -> Destination {
    get { objects[index] }
    nonmutating set {
      var objects = objects
      objects[index] = newValue
      self.objects = objects.enumerated().filter { $0 == index || $1 != newValue }.map(\.element)
    }
  }

  /// Whether `member` is one of the objects.
  public func contains(_ member: Destination) -> Bool {
    switch content {
    case .live(let relationship): relationship.contains(member)
    case .unattached(let members): members.objects.contains(member)
    }
  }

  /// Puts an object at the end, unless it is in the list.
  public func append(_ member: Destination) {
    switch content {
    case .live(let relationship): _ = relationship.add(member)
    case .unattached(let members): if !members.objects.contains(member) { members.objects.append(member) }
    }
  }

  /// Puts an object before the one at `index`, unless it is in the list.
  public func insert(_ member: Destination, at index: Int) {
    if contains(member) { return }
    objects.insert(member, at: index)
  }

  /// Removes an object. Returns whether it was there.
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

  /// Moves the object at `source` so that it is the one at `destination`.
  public func move(from source: Int, to destination: Int) {
    var objects = objects
    objects.insert(objects.remove(at: source), at: destination)
    self.objects = objects
  }
}

extension RelatedList: Sequence {
  /// Goes over the objects as they are now. They may be changed on the way.
  public func makeIterator() -> IndexingIterator<[Destination]> { objects.makeIterator() }
}

extension RelatedList: ExpressibleByArrayLiteral {
  /// Objects to be assigned to a relationship.
  public init(arrayLiteral elements: Destination...) {
    self.init(elements)
  }
}

extension RelatedList: Equatable {
  /// Whether both have the same objects in the same order now.
  public static func == (left: RelatedList, right: RelatedList) -> Bool { left.objects == right.objects }
}

extension RelatedList: CustomStringConvertible {
  /// The classes and ids of the objects.
  public var description: String { objects.description }
}

extension ManagedObject {
  /// A view of an ordered to-many relationship. Setting it gives the relationship the objects of another view or a
  /// literal.
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
