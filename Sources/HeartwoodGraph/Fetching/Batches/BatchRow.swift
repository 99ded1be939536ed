public import HeartwoodModel
import HeartwoodStore

/// The values of one new record of a ``BatchInsertRequest``. Before they are set, attributes have the model's default values.
public struct BatchRow {
  let entity: EntityDescription
  /// Indexed by property ordinal.
  var values: [PropertyValue]
  /// The first mistake.
  private(set) var failure: PersistenceError?

  init(entity: EntityDescription) {
    self.entity = entity
    values = entity.traits.indices.map { ordinal in
      entity.properties[ordinal].attribute?.defaultValue ?? entity.traits[ordinal].emptyValue
    }
  }

  /// The value of a property: an attribute's, or the id of the saved object that a to-one relationship leads to.
  ///
  /// A property that the entity does not have, or a value that does not fit, makes the request fail.
  public subscript(name: String) -> PropertyValue {
    get { entity.ordinal(ofProperty: name).map { values[$0] } ?? .null }
    set { set(newValue, name) }
  }

  /// The value of an attribute.
  public subscript<Value: AttributeValue>(key: AttributeKey<Value>) -> Value? {
    get { Value(propertyValue: self[key.name]) }
    set { set(newValue?.propertyValue ?? .null, key.name) }
  }

  private mutating func set(_ value: PropertyValue, _ name: String) {
    guard let ordinal = entity.ordinal(ofProperty: name) else {
      return fail(.propertyUnknown, "The entity has no such property.", name)
    }
    let trait = entity.traits[ordinal]
    if let type = trait.attributeType {
      guard let converted = value.converted(to: type) else {
        return fail(
          .valueTypeMismatch,
          "The attribute is of type \(type.rawValue), and the value is \(value.kindDescription).",
          name
        )
      }
      values[ordinal] = converted
    } else if trait.isToMany {
      let advice = "Set the other end, or insert objects."
      fail(.valueUnsupported, "A batch sets no to-many relationship.", recovery: .custom(advice), name)
    } else if value.fits(trait) {
      values[ordinal] = value
    } else {
      fail(.valueTypeMismatch, "The relationship leads to one object, and the value is \(value.kindDescription).", name)
    }
  }

  private mutating func fail(
    _ code: PersistenceError.Code,
    _ problem: String,
    recovery: PersistenceError.Recovery? = nil,
    _ name: String
  ) {
    guard failure == nil else { return }
    let context = PersistenceError.Context(entity: entity.name, property: name)
    failure = PersistenceError(code, problem, recovery: recovery, context: context)
  }
}
