/// The objects of an ordered to-many relationship: a list that changes the object that it is of. An object is in it once at most.
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
/// What an object gives is a view of its relationship: it shows what the relationship has at the moment, and changing a copy of it
/// changes the object as well. Literals and `RelatedList(objects)` are values of their own.
///
/// Appending and removing by object are O(1) amortised; whatever uses an index is O(n), and so is what first lets the list differ from the
/// one that was read. To look at many, take ``objects``. Making an object of another context, or a deleted one, an element is a mistake
/// that stops the process.
public struct RelatedList<Destination: ManagedObject> {
  private enum Content {
    case live(LiveRelationship<Destination>)
    case own([Destination])
  }

  private var content: Content

  /// The object that the relationship is of; nil for a value of its own.
  var owner: ManagedObject? {
    if case .live(let relationship) = content { relationship.object } else { nil }
  }

  init(_ relationship: LiveRelationship<Destination>) {
    content = .live(relationship)
  }

  /// A list of its own with the objects of a sequence, each once.
  public init(_ objects: some Sequence<Destination>) {
    var seen: Set<Destination> = []
    content = .own(objects.filter { seen.insert($0).inserted })
  }

  /// The objects in their order. O(n), where the list is an object's.
  public var objects: [Destination] {
    get {
      switch content {
      case .live(let relationship): relationship.objects
      case .own(let objects): objects
      }
    }
    set {
      switch content {
      case .live(let relationship): relationship.replaceAll(newValue)
      case .own: self = RelatedList(newValue)
      }
    }
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
    set {
      var objects = objects
      objects[index] = newValue
      self.objects = objects.enumerated().filter { $0 == index || $1 != newValue }.map(\.element)
    }
  }

  /// Whether `member` is one of the objects.
  public func contains(_ member: Destination) -> Bool {
    switch content {
    case .live(let relationship): relationship.contains(member)
    case .own(let objects): objects.contains(member)
    }
  }

  /// Puts an object at the end, where it is not in the list yet.
  public mutating func append(_ member: Destination) {
    switch content {
    case .live(let relationship): _ = relationship.add(member)
    case .own(let objects): self = RelatedList(objects + [member])
    }
  }

  /// Puts an object before the one at `index`, where it is not in the list yet.
  public mutating func insert(_ member: Destination, at index: Int) {
    if contains(member) { return }
    objects.insert(member, at: index)
  }

  /// Takes an object out. Returns whether it was there.
  @discardableResult
  public mutating func remove(_ member: Destination) -> Bool {
    switch content {
    case .live(let relationship): return relationship.remove(member)
    case .own(let objects):
      self = RelatedList(objects.filter { $0 != member })
      return count < objects.count
    }
  }

  /// Takes the object at `index` out.
  @discardableResult
  public mutating func remove(at index: Int) -> Destination {
    let member = objects[index]
    remove(member)
    return member
  }

  /// Takes all objects out.
  public mutating func removeAll() {
    objects = []
  }

  /// Lets the object at `source` be the one at `destination`.
  public mutating func move(from source: Int, to destination: Int) {
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
  /// A list of its own.
  public init(arrayLiteral elements: Destination...) {
    self.init(elements)
  }
}

extension RelatedList: Equatable {
  /// Whether both have the same objects in the same order.
  public static func == (left: RelatedList, right: RelatedList) -> Bool { left.objects == right.objects }
}

extension RelatedList: CustomStringConvertible {
  /// The classes and ids of the objects.
  public var description: String { objects.description }
}

extension ManagedObject {
  /// The objects of an ordered to-many relationship as a list, to be changed in place or set as a whole.
  public final subscript<Destination: ManagedObject>(list key: ToManyKey<Destination>) -> RelatedList<Destination> {
    get { RelatedList(live(key, isOrdered: true)) }
    set { newValue.assign(to: live(key, isOrdered: true)) }
  }
}

extension RelatedList {
  fileprivate func assign(to relationship: LiveRelationship<Destination>) {
    // Changing the list in place ends with an assignment of what was changed to itself.
    if case .live(let own) = content, own.isSame(as: relationship) { return }
    relationship.replaceAll(objects)
  }
}
