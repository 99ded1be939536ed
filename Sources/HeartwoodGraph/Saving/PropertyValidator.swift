import HeartwoodModel
import HeartwoodStore

/// Says what is wrong with values of one attribute, beside the rules of the model.
///
///     final class Member: ManagedObject {
///       static let ageKey = AttributeKey<Int>("age")
///       override class var propertyValidators: [PropertyValidator] {
///         [PropertyValidator(ageKey) { (_: Member, age) in age < 18 ? "must be 18 at least." : nil }]
///       }
///     }
public struct PropertyValidator: Sendable {
  let key: PropertyKey
  private let problem: @Sendable (ManagedObject, PropertyValue) -> String?

  /// Makes a validator of an attribute.
  ///
  /// - Parameter problem: what is wrong with a value, as the rest of a sentence that begins with the property's name; nil where
  ///   nothing is. It gets the object that has or is to have the value, and must not change it.
  public init<Object: ManagedObject, Value: AttributeValue>(
    _ key: AttributeKey<Value>,
    _ problem: @escaping @Sendable (Object, Value) -> String?
  ) {
    self.key = key
    self.problem = { object, value in
      guard let object = object as? Object else { return nil }
      // A value of another type is a fault that the model finds.
      guard let value = value.isNull ? Value.absentValue : Value(propertyValue: value) else { return nil }
      return problem(object, value)
    }
  }

  /// What is wrong with a value that `object` has or is to have; nil where nothing is.
  func fault(in value: PropertyValue, of object: ManagedObject) -> ValidationFault? {
    problem(object, value).map { ValidationFault(.rejected, object.objectID, key.name, $0) }
  }
}
