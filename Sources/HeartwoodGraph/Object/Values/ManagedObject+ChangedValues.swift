public import HeartwoodModel
public import HeartwoodStore

// MARK: Changes by name

extension ManagedObject {
  /// The properties that have changed since the object was read or last saved, and their new values. For a new object, those that
  /// have a value.
  public final func changedValues() -> [String: PropertyValue] {
    followConversions()
    guard case .changed(let changes) = content else { return [:] }
    return valuesByName(changes.unsettledOrdinals) { value(at: $0) }
  }

  /// The properties that the current event has changed, and the values that they had before it; empty for an object that it has
  /// inserted.
  ///
  /// An event ends with ``ManagedObjectContext/processPendingChanges()``. Without an undo manager a context does not know what events
  /// do: then this gives the values of all changed properties as they were read.
  public final func changedValuesForCurrentEvent() -> [String: PropertyValue] {
    followConversions()
    guard let recorder = managedObjectContext?.recorder else {
      return group == nil ? [:] : valuesByName(changedOrdinals) { readableCommittedValue(at: $0) }
    }
    let changed = recorder.properties(of: self).filter { !binding.traits[$0].areSame($1.value, value(at: $0)) }
    return valuesByName(changed.keys) { changed[$0]?.value ?? .null }
  }

  /// The values that the object was read with, by property name; empty for a new object. It fires a fault.
  public final func committedValues() -> [String: PropertyValue] {
    followConversions()
    if case .fault = content { fireFault() }
    guard group != nil else { return [:] }
    return valuesByName(entity.properties.indices) { readableCommittedValue(at: $0) }
  }

  /// The values that the object was read with of the properties of `names`; empty for a new object. It fires a fault.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``.
  public final func committedValues(forKeys names: [String]) throws(PersistenceError) -> [String: PropertyValue] {
    followConversions()
    if isUnread { try reading { _ = readIfUnread() } }
    var ordinals: Set<Int> = []
    for name in names { ordinals.insert(try ordinal(ofProperty: name)) }
    guard group != nil else { return [:] }
    return valuesByName(ordinals) { readableCommittedValue(at: $0) }
  }

  /// Whether the next save has values of the object to write: changes of transient properties do not count.
  public final var hasPersistentChangedValues: Bool {
    guard case .changed(let changes) = content else { return false }
    if binding.transientOrdinals.isEmpty { return changes.hasUnsettled }
    return changes.unsettledOrdinals.contains { !binding.traits[$0].isTransient }
  }

  /// The value that the object was read with; nothing for one that could not be read, which is noted.
  private final func readableCommittedValue(at ordinal: Int) -> PropertyValue {
    let value = committedValue(at: ordinal)
    guard value.isEmptyData, let error = committedUnreadable(at: ordinal) else { return value }
    noteUnreadable(error)
    return .null
  }

  private final var changedOrdinals: [Int] {
    if case .changed(let changes) = content { changes.unsettledOrdinals } else { [] }
  }

  private final func valuesByName(
    _ ordinals: some Sequence<Int>,
    _ value: (Int) -> PropertyValue
  ) -> [String: PropertyValue] {
    Dictionary(uniqueKeysWithValues: ordinals.map { (entity.properties[$0].name, value($0)) })
  }
}

// MARK: Relationships without their objects

extension ManagedObject {
  /// The ids of the objects that a relationship leads to, of which none is made. It fires a fault of this object.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch`` where it is an attribute.
  public final func objectIDs(forRelationshipNamed name: String) throws(PersistenceError) -> [ManagedObjectID] {
    followConversions()
    let ordinal = try ordinal(ofRelationship: name)
    return (isUnread ? try reading { value(at: ordinal) } : value(at: ordinal)).objectIDs
  }

  /// Whether it is not known yet where a relationship leads. It is known with the other values of the object.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch`` where it is an attribute.
  public final func hasFault(forRelationshipNamed name: String) throws(PersistenceError) -> Bool {
    _ = try ordinal(ofRelationship: name)
    return isFault
  }

  private final func ordinal(ofRelationship name: String) throws(PersistenceError) -> Int {
    let ordinal = try ordinal(ofProperty: name)
    if binding.traits[ordinal].attributeType == nil { return ordinal }
    throw PersistenceError(
      .valueTypeMismatch,
      "The property is an attribute. Only relationships lead to objects.",
      context: .init(entity: entity.name, property: name)
    )
  }
}
