public import HeartwoodModel
public import HeartwoodStore

extension ManagedObject {
  /// The value of the property called `name`. Relationships give ids: follow them with
  /// ``ManagedObjectContext/existingObject(with:)``, or use ``value(forKey:)``.
  ///
  /// Reading fires a fault.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, and what reading the record throws: if the file is missing that large data of an SQLite
  ///   store are in, for that value alone.
  public final func propertyValue(forKey name: String) throws(PersistenceError) -> PropertyValue {
    followConversions()
    return try readableValue(at: try ordinal(ofProperty: name))
  }

  /// Sets the value of the property called `name`. Setting a relationship changes its inverse too.
  ///
  /// As by a key, an integer that is out of the range of its attribute is kept for the save to report, and nothing happens to an object that is
  /// gone.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch``, and where an id leads to no
  ///   object of the destination entity, ``PersistenceError/Code/objectNotFound``.
  public final func setPropertyValue(_ value: PropertyValue, forKey name: String) throws(PersistenceError) {
    let ordinal = try ordinal(ofProperty: name)
    try checkType(of: value, ordinal)
    if binding.traits[ordinal].attributeType != nil { return change(ordinal, to: value) }
    guard mayChange(ordinal) else { return }
    try relateWholly(ordinal, to: try objects(value.objectIDs))
  }

  /// Makes sure that a value is of the type of a property. Whether it is in range is a matter of validation.
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
  /// The value of the property called `name` as what Swift calls it: `Int` for all integers, `String`, `Date`, `Data` and so on; a
  /// ``ManagedObject`` or an array of them for relationships.
  ///
  /// Reading fires a fault.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, and what reading records throws: its own, or those that a relationship leads to.
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

  /// Sets the value of the property called `name` to what ``value(forKey:)`` gives: nil, a value of the attribute's type, a
  /// ``ManagedObject``, or an array or set of them.
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

  /// Lets a relationship lead to `objects`, unless something at its other end cannot be read that has to change with it.
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
  /// The value of an attribute as what Swift calls it.
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
