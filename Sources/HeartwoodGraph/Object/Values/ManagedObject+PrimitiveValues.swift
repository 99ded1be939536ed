public import HeartwoodModel
public import HeartwoodStore

// Primitive values are what custom accessors and life-cycle hooks set without a word to anybody: they are saved, but cannot be
// undone, and in willSave() they do not count as a change.

extension ManagedObject {
  /// The value of an attribute, set without its being undoable, and without a further ``willSave()``.
  ///
  ///     override func willSave() { self[primitive: Self.modifiedKey] = .now }
  public final subscript<Value: AttributeValue>(primitive key: AttributeKey<Value>) -> Value {
    get { self[key] }
    set { quietly { self[key] = newValue } }
  }

  /// The value of the property called `name`. It is what ``propertyValue(forKey:)`` gives, and fires a fault as well.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``.
  public final func primitiveValue(forKey name: String) throws(PersistenceError) -> PropertyValue {
    try propertyValue(forKey: name)
  }

  /// Sets an attribute without its being undoable, and without a further ``willSave()``.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, ``PersistenceError/Code/valueTypeMismatch``, also for relationships: their
  ///   inverses have to change with them.
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

  /// Fires the fault that the object may be, as reading a value does.
  public final func willAccessValue() {
    if case .fault = content { fireFault() }
  }

  private final func quietly(_ body: () -> Void) {
    guard let context = managedObjectContext else { return body() }
    let recorder = context.recorder
    let wasDisturbed = context.disturbed?.contains(self) ?? false
    context.recorder = nil
    body()
    context.recorder = recorder
    if !wasDisturbed { context.disturbed?.remove(self) }
  }
}
