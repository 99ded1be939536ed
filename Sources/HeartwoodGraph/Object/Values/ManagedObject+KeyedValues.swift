public import HeartwoodModel
public import HeartwoodStore

extension ManagedObject {
  /// Returns the value of the property called `name`. For relationships, it contains ids: resolve them with
  /// ``ManagedObjectContext/existingObject(with:)``, or use ``value(forKey:)``.
  ///
  /// For a fault, this reads the record.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, and the errors of reading the record. If an SQLite store
  ///   lacks the file of a large value, only reading that value throws.
  public final func propertyValue(forKey name: String) throws(PersistenceError) -> PropertyValue {
    followConversions()
    return try readableValue(at: try ordinal(ofProperty: name))
  }

  /// Sets the value of the property called `name`. Setting a relationship updates its inverse too.
  ///
  /// As with a key, an integer out of the range of its attribute is kept until the save reports it, and setting a value
  /// of an object that is gone does nothing.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch``, and, if there is
  ///   no object of the destination entity with an id, ``PersistenceError/Code/objectNotFound``.
  public final func setPropertyValue(_ value: PropertyValue, forKey name: String) throws(PersistenceError) {
    let ordinal = try ordinal(ofProperty: name)
    try checkType(of: value, ordinal)
    if binding.traits[ordinal].attributeType != nil { return change(ordinal, to: value) }
    guard mayChange(ordinal) else { return }
    try relateWholly(ordinal, to: try objects(value.objectIDs))
  }

  /// Checks that a value is of the type of a property. Validation checks the range.
  final func checkType(of value: PropertyValue, _ ordinal: Int) throws(PersistenceError) {
    if case .integer = value, binding.traits[ordinal].attributeType?.integerRange != nil { return }
    try value.checkFits(propertyAt: ordinal, of: entity)
  }

  private final func objects(_ ids: [ManagedObjectID]) throws(PersistenceError) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    for id in ids { objects.append(try usableContext.existingObject(with: id)) }
    return objects
  }

  final func ordinal(ofProperty name: String) throws(PersistenceError) -> Int {
    if let ordinal = entity.ordinal(ofProperty: name) { return ordinal }
    throw PersistenceError(
      .propertyUnknown,
      "The entity has no property called \(name). It has \(entity.properties.map(\.name).joined(separator: ", ")).",
      context: .init(entity: entity.name, property: name)
    )
  }
}

// MARK: As Swift values

extension ManagedObject {
  /// Returns the value of the property called `name` as a Swift value: `Int` for all integers, `String`, `Date`, `Data`
  /// and so on; for relationships, a ``ManagedObject`` or an array of them.
  ///
  /// For a fault, this reads the record.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, and the errors of reading the record or those of the
  ///   relationship's destinations.
  public final func value(forKey name: String) throws(PersistenceError) -> Any? {
    let ordinal = try ordinal(ofProperty: name)
    if binding.traits[ordinal].attributeType == nil {
      let objects = try reading { relatedObjects(ordinal) }
      return binding.traits[ordinal].isToMany ? objects : objects.first
    }
    return try readableValue(at: ordinal).swiftValue
  }

  /// - Throws: the reason why the record, or the value, cannot be read.
  private final func readableValue(at ordinal: Int) throws(PersistenceError) -> PropertyValue {
    let value = isUnread ? try reading { self.value(at: ordinal) } : self.value(at: ordinal)
    if value.isEmptyData { try checkReadable([ordinal]) }
    return value
  }

  /// Sets the value of the property called `name` to a value as ``value(forKey:)`` returns: nil, a value of the
  /// attribute's type, a ``ManagedObject``, or an array or set of them.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch``.
  public final func setValue(_ value: Any?, forKey name: String) throws(PersistenceError) {
    let ordinal = try ordinal(ofProperty: name)
    let trait = binding.traits[ordinal]
    if trait.attributeType != nil {
      return try setPropertyValue(try attributeValue(value, name), forKey: name)
    }
    switch value {
    case let object as ManagedObject? where !trait.isToMany: try relateWholly(ordinal, to: object.map { [$0] } ?? [])
    case let objects as [ManagedObject] where trait.isToMany: try relateWholly(ordinal, to: objects)
    case let objects as Set<ManagedObject> where trait.isToMany: try relateWholly(ordinal, to: Array(objects))
    default: throw mismatch(value, name)
    }
  }

  /// Sets the destinations of a relationship, unless something at its other end cannot be read that has to change with
  /// it.
  private final func relateWholly(_ ordinal: Int, to objects: [ManagedObject]) throws(PersistenceError) {
    try checkReadable(ordinal, for: objects)
    try relate(ordinal, to: objects)
  }

  private final func attributeValue(_ value: Any?, _ name: String) throws(PersistenceError) -> PropertyValue {
    guard let value else { return .null }
    if let value = value as? any AttributeValue { return value.propertyValue }
    throw mismatch(value, name)
  }

  private final func mismatch(_ value: Any?, _ name: String) -> PersistenceError {
    let given = value.map { "a value of type \(type(of: $0))" } ?? "nil"
    let wanted = entity.property(named: name)?.typeDescription ?? ""
    return PersistenceError(
      .valueTypeMismatch,
      "The value is \(given), and the property is \(wanted).",
      context: .init(entity: entity.name, property: name)
    )
  }
}

extension PropertyValue {
  /// The value of an attribute as a Swift value.
  var swiftValue: Any? {
    switch self {
    case .null, .toOne, .toMany: nil
    case .integer(let number): Int(exactly: number) ?? number
    case .decimal(let number): number
    case .double(let number): number
    case .float(let number): number
    case .string(let text): text
    case .boolean(let flag): flag
    case .date(let date): date
    case .binary(let data): data
    case .uuid(let uuid): uuid
    case .uri(let uri): uri
    }
  }
}

// MARK: Primitive values

// Primitive values are for custom accessors and life-cycle hooks, which set them without notifications: they are saved,
// but cannot be undone, and in willSave() they do not count as changes.

extension ManagedObject {
  /// The value of an attribute. Setting it cannot be undone, and causes no further ``willSave()``.
  ///
  ///     override func willSave() { self[primitive: Self.modifiedKey] = .now }
  public final subscript<Value: AttributeValue>(primitive key: AttributeKey<Value>) -> Value {
    get { self[key] }
    set { quietly { self[key] = newValue } }
  }

  /// Returns the value of the property called `name`, as ``propertyValue(forKey:)`` does; for a fault, it reads the
  /// record too.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``.
  public final func primitiveValue(forKey name: String) throws(PersistenceError) -> PropertyValue {
    try propertyValue(forKey: name)
  }

  /// Sets an attribute so that it cannot be undone and causes no further ``willSave()``.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch``, also for
  ///   relationships, since their inverses have to be updated.
  public final func setPrimitiveValue(_ value: PropertyValue, forKey name: String) throws(PersistenceError) {
    let ordinal = try ordinal(ofProperty: name)
    try checkType(of: value, ordinal)
    guard binding.traits[ordinal].attributeType != nil else {
      throw PersistenceError(
        .valueTypeMismatch,
        "The property is a relationship, whose inverse has to change with it.",
        recovery: "Use setPropertyValue(_:forKey:).",
        context: .init(entity: entity.name, property: name)
      )
    }
    quietly { change(ordinal, to: value) }
  }

  /// Reads the record if the object is a fault, as reading a value does.
  public final func willAccessValue() {
    if case .fault = content { fireFault() }
  }

  private final func quietly(_ body: () -> Void) {
    guard let context = managedObjectContext else { return body() }
    context.notes.withoutGathering(self) { context.undoRecording.withoutRecording(body) }
  }
}

// MARK: Changed values

// MARK: Changes by name

extension ManagedObject {
  /// Returns the new values of the properties that have changed since the object was read or last saved. For a new
  /// object, these are the properties that have a value.
  public final func changedValues() -> [String: PropertyValue] {
    followConversions()
    guard case .changed(let changes) = content else { return [:] }
    return valuesByName(changes.unsettledOrdinals) { value(at: $0) }
  }

  /// Returns the values before the current event of the properties that this event has changed; empty for an object
  /// that it has inserted.
  ///
  /// An event ends with ``ManagedObjectContext/processPendingChanges()``. Without an undo manager, a context does not
  /// record events: then this returns the stored values of all changed properties.
  public final func changedValuesForCurrentEvent() -> [String: PropertyValue] {
    followConversions()
    guard let recorder = managedObjectContext?.recorder else {
      return group == nil ? [:] : valuesByName(changedOrdinals) { readableCommittedValue(at: $0) }
    }
    let changed = recorder.properties(of: self).filter { !binding.traits[$0].areSame($1.value, value(at: $0)) }
    return valuesByName(changed.keys) { changed[$0]?.value ?? .null }
  }

  /// Returns the values that the object was read with, by property name; empty for a new object. For a fault, it reads
  /// the record.
  public final func committedValues() -> [String: PropertyValue] {
    followConversions()
    if case .fault = content { fireFault() }
    guard group != nil else { return [:] }
    return valuesByName(entity.properties.indices) { readableCommittedValue(at: $0) }
  }

  /// Returns the values that the object was read with for the properties of `names`; empty for a new object. For a
  /// fault, it reads the record.
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

  /// Returns the value that the object was read with; no value if it could not be read, which is noted.
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
  /// Returns the ids of the destinations of a relationship, without creating objects. If this object is a fault, it
  /// reads the record.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch`` if it is an
  ///   attribute.
  public final func objectIDs(forRelationshipNamed name: String) throws(PersistenceError) -> [ManagedObjectID] {
    followConversions()
    let ordinal = try ordinal(ofRelationship: name)
    return (isUnread ? try reading { value(at: ordinal) } : value(at: ordinal)).objectIDs
  }

  /// Returns whether the destinations of a relationship are not known yet. They are read with the other values of the
  /// object.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch`` if it is an
  ///   attribute.
  public final func hasFault(forRelationshipNamed name: String) throws(PersistenceError) -> Bool {
    _ = try ordinal(ofRelationship: name)
    return isFault
  }

  private final func ordinal(ofRelationship name: String) throws(PersistenceError) -> Int {
    let ordinal = try ordinal(ofProperty: name)
    if binding.traits[ordinal].attributeType == nil { return ordinal }
    throw PersistenceError(
      .valueTypeMismatch,
      "The property is an attribute. Only relationships refer to objects.",
      context: .init(entity: entity.name, property: name)
    )
  }
}
