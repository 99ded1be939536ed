import Foundation

/// The destinations of a to-many relationship as a set that can be changed.
final class RelationshipSet: NSMutableSet {
  private var object: NSManagedObject?
  private var key = ""

  convenience init(_ object: NSManagedObject, _ key: String) {
    self.init(capacity: 0)
    self.object = object
    self.key = key
  }

  required init(capacity numItems: Int) { super.init(capacity: numItems) }

  required init?(coder aDecoder: NSCoder) { nil }

  private var members: [NSManagedObject] { NSManagedObject.objects(in: object?.value(forKey: key)) }

  override var count: Int { members.count }

  override func member(_ object: Any) -> Any? { members.first { $0.isEqual(object) } }

  override func objectEnumerator() -> NSEnumerator { NSArray(array: members).objectEnumerator() }

  override func add(_ object: Any) { self.object?.addManagedValues(object, forKey: key) }

  override func remove(_ object: Any) { self.object?.removeManagedValues(object, forKey: key) }
}

extension NSManagedObject {
  /// Returns the destinations of a to-many relationship as a set whose changes are those of the relationship.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet { RelationshipSet(self, key) }
}
