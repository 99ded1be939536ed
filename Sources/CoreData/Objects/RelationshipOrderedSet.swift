public import Foundation

/// The destinations of an ordered relationship as an ordered set that can be changed. Each change is one of the
/// relationship.
final class RelationshipOrderedSet: NSMutableOrderedSet {
  private var object: NSManagedObject?
  private var key = ""
  /// Whether the elements are being taken from the relationship.
  private var isReading = false

  convenience init(_ object: NSManagedObject, _ key: String) {
    self.init(capacity: 0)
    self.object = object
    self.key = key
    read()
  }

  override init(objects: UnsafePointer<AnyObject>?, count cnt: Int) { super.init(objects: objects, count: cnt) }

  override init(capacity numItems: Int) { super.init(capacity: numItems) }

  required convenience init?(coder aDecoder: NSCoder) { nil }

  required convenience init(arrayLiteral elements: Any...) {
    self.init(capacity: 0)
    addObjects(from: elements)
  }

  private var elements: [Any] { (0..<super.count).map { super.object(at: $0) } }

  /// Takes the elements of the relationship, which other code may have changed.
  private func read() {
    guard let object, !isReading else { return }
    isReading = true
    defer { isReading = false }
    let members = NSManagedObject.objects(in: object.value(forKey: key))
    let own = elements.compactMap { $0 as? NSManagedObject }
    if own.count == super.count, own.elementsEqual(members, by: { $0 === $1 }) { return }
    super.removeAllObjects()
    for (place, member) in members.enumerated() { super.insert(member, at: place) }
  }

  /// Changes the elements, and then the relationship.
  private func change(_ body: () -> Void) {
    if isReading { return body() }
    read()
    isReading = true
    body()
    let changed = NSOrderedSet(array: elements)
    isReading = false
    object?.setValue(changed, forKey: key)
  }

  override var count: Int {
    read()
    return super.count
  }

  override func object(at idx: Int) -> Any {
    read()
    return super.object(at: idx)
  }

  override func index(of object: Any) -> Int {
    read()
    return super.index(of: object)
  }

  override func contains(_ object: Any) -> Bool {
    read()
    return super.contains(object)
  }

  override func insert(_ object: Any, at idx: Int) { change { super.insert(object, at: idx) } }
  override func removeObject(at idx: Int) { change { super.removeObject(at: idx) } }
  override func replaceObject(at idx: Int, with obj: Any) { change { super.replaceObject(at: idx, with: obj) } }
  override func add(_ object: Any) { change { super.add(object) } }
  override func addObjects(from array: [Any]) { change { super.addObjects(from: array) } }
  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    change { super.exchangeObject(at: idx1, withObjectAt: idx2) }
  }
  override func moveObjects(at indexes: IndexSet, to idx: Int) { change { super.moveObjects(at: indexes, to: idx) } }
  override func removeAllObjects() { change { super.removeAllObjects() } }
  override func remove(_ val: Any) { change { super.remove(val) } }
  override func intersect(_ other: NSOrderedSet) {
    change {
      for element in elements where !other.contains(element) { super.remove(element) }
    }
  }
  override func minus(_ other: NSOrderedSet) { change { super.minus(other) } }
  override func union(_ other: NSOrderedSet) { change { super.union(other) } }
  override func sortRange(
    _ range: NSRange,
    options opts: NSSortOptions = [],
    usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) {
    change { super.sortRange(range, options: opts, usingComparator: cmptr) }
  }
  override func sort(using sortDescriptors: [NSSortDescriptor]) { change { super.sort(using: sortDescriptors) } }
}

extension NSManagedObject {
  /// Returns the destinations of an ordered relationship as an ordered set whose changes are those of the relationship.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    RelationshipOrderedSet(self, key)
  }
}
