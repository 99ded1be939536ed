public import HeartwoodModel
public import HeartwoodStore

extension ManagedObject {
  /// The value of the property called `name`. Relationships give ids: follow them with ``ManagedObjectContext/object(with:)``.
  ///
  /// Reading fires a fault.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``.
  public func propertyValue(forKey name: String) throws(PersistenceError) -> PropertyValue {
    value(at: try ordinal(name))
  }

  /// Sets the value of the property called `name`. Setting a relationship changes its inverse too.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch``, and where an id leads to no
  ///   object of the destination entity, ``PersistenceError/Code/objectNotFound``.
  public func setPropertyValue(_ value: PropertyValue, forKey name: String) throws(PersistenceError) {
    let ordinal = try ordinal(name)
    let property = entity.properties[ordinal]
    guard value.fits(property) else {
      throw PersistenceError(
        .valueTypeMismatch,
        "The value is \(value.kindDescription), and the property is \(property.typeDescription).",
        context: .init(entity: entity.name, property: name)
      )
    }
    switch property {
    case .attribute: change(ordinal, to: value)
    case .relationship: try setRelationship(ordinal, to: value.objectIDs)
    }
  }

  private func ordinal(_ name: String) throws(PersistenceError) -> Int {
    if let ordinal = entity.ordinal(ofProperty: name) { return ordinal }
    throw PersistenceError(
      .propertyUnknown,
      "The entity has no property called \(name). It has \(entity.properties.map(\.name).joined(separator: ", ")).",
      context: .init(entity: entity.name, property: name)
    )
  }

  /// The properties that have changed since the object was read or last saved, and their new values.
  public func changedValues() -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for ordinal in changes?.ordinals ?? [] { values[entity.properties[ordinal].name] = value(at: ordinal) }
    return values
  }

  /// The values that the object was read with, by property name; empty for a new object.
  public func committedValues() -> [String: PropertyValue] {
    guard group != nil else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: entity.properties.indices.map { (entity.properties[$0].name, committedValue(at: $0)) }
    )
  }
}

// MARK: By ordinal

extension ManagedObject {
  func value(at ordinal: Int) -> PropertyValue {
    if state.contains(.fault) { fireFault() }
    if let changes, let value = changes.values[ordinal] { return value }
    return committedValue(at: ordinal)
  }

  func committedValue(at ordinal: Int) -> PropertyValue {
    guard let group else { return entity.properties[ordinal].emptyValue }
    return group.value(
      row: rowID.row,
      ordinal: ordinal,
      type: entity.properties[ordinal].attribute?.type,
      scopes: binding.store?.engine.scopes ?? []
    )
  }

  func attributeValue(_ key: PropertyKey, fits: (AttributeType) -> Bool) -> PropertyValue {
    value(at: key.ordinal(in: binding) { property in property.attribute.map { fits($0.type) } ?? false })
  }

  /// Notes a new value; one that is as it was is no change.
  func change(_ ordinal: Int, to value: PropertyValue) {
    guard let context = managedObjectContext else {
      preconditionFailure("The object's context is gone. Keep the context for as long as its objects are used.")
    }
    precondition(!isDeleted, "A deleted object cannot be changed. Roll the context back to use it again.")
    if state.contains(.fault) { fireFault() }
    let isCommitted = group != nil && committedValue(at: ordinal) == value
    if changes == nil {
      if isCommitted { return }
      changes = ObjectChanges(temporaryID: nil, values: Array(repeating: nil, count: entity.properties.count))
    }
    changes?.setValue(isCommitted ? nil : value, at: ordinal)
    if !state.contains(.inserted) { context.noteChange(of: self) }
  }

  /// Takes the newest values from the store.
  @inline(never)
  func fireFault() {
    state.remove(.fault)
    repin()
    awakeFromFetch()
  }

  /// Reads from the newest version of the record from now on, if it is still there.
  func repin() {
    guard let group, let store = binding.store else { return }
    // A record that is gone leaves the object with what it knew; saving it will be a conflict.
    guard let record = try? store.engine.record(group.references[rowID.row], of: entity) else { return }
    if record.row != rowID {
      binding.unregister(rowID)
      rowID = record.row
      binding.register(self, at: rowID)
    }
    self.group = record.table.groups[record.row.group]
  }
}

extension PropertyValue {
  /// The ids of a relationship's value.
  var objectIDs: [ManagedObjectID] {
    switch self {
    case .toOne(let id): [id]
    case .toMany(let ids): ids
    default: []
    }
  }
}

extension PropertyDescription {
  /// What a property has that was never set.
  var emptyValue: PropertyValue { relationship?.isToMany == true ? .toMany([]) : .null }

  /// What a property of a new object has.
  var initialValue: PropertyValue { attribute?.defaultValue ?? emptyValue }
}
