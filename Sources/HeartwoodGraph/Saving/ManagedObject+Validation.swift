public import HeartwoodModel
public import HeartwoodStore

extension ManagedObject {
  /// Checks a value for the property called `name`: its type, whether it may be nil, counts, the rules of the model and
  /// the class's ``propertyValidators``.
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown``, or ``PersistenceError/Code/validationFailed`` with all
  ///   faults.
  public final func validateValue(_ value: PropertyValue, forKey name: String) throws(PersistenceError) {
    let ordinal = try ordinal(ofProperty: name)
    var faults = RecordValidation.faults(in: value, at: ordinal, of: objectID)
    for validator in binding.validators where validator.ordinal == ordinal {
      if let fault = validator.validator.fault(in: value, of: self) { faults.append(fault) }
    }
    if !faults.isEmpty { throw .validationFailed(faults) }
  }

  /// Returns a fault to be thrown by a validation of the object.
  ///
  /// - Parameters:
  ///   - problem: the problem, as the rest of a sentence that begins with the name of the property, or else the entity.
  ///   - key: the property; nil if the fault concerns the object as a whole.
  public final func validationFault(_ problem: String, _ key: PropertyKey? = nil) -> ValidationFault {
    ValidationFault(.rejected, objectID, key?.name ?? "", problem)
  }
}

/// A validator and the ordinal of its property.
struct BoundValidator {
  let ordinal: Int
  let validator: PropertyValidator

  /// Finds the property in the entity whose objects are validated.
  init(_ validator: PropertyValidator, _ entity: EntityDescription) {
    guard let ordinal = entity.ordinal(ofProperty: validator.key.name) else {
      ProgrammerError.stop(
        "\(entity.name) has no property called \(validator.key.name). Correct the key of its validator, or the model."
      )
    }
    self.ordinal = ordinal
    self.validator = validator
  }
}

// MARK: PropertyValidator

/// A check of the values of one attribute, in addition to the rules of the model.
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

  /// Creates a validator of an attribute.
  ///
  /// - Parameter problem: returns the problem of a value, as the rest of a sentence that begins with the property's
  ///   name; nil if the value is valid. It is called with the object that has or is to have the value, and must not
  ///   change it.
  public init<Object: ManagedObject, Value: AttributeValue>(
    _ key: AttributeKey<Value>,
    _ problem: @escaping @Sendable (Object, Value) -> String?
  ) {
    self.key = key
    self.problem = { object, value in
      guard let object = object as? Object else { return nil }
      // The model detects a value of another type.
      guard let value = value.isNull ? Value.absentValue : Value(propertyValue: value) else { return nil }
      return problem(object, value)
    }
  }

  /// Returns the fault in a value that `object` has or is to have; nil if it is valid.
  func fault(in value: PropertyValue, of object: ManagedObject) -> ValidationFault? {
    problem(object, value).map { ValidationFault(.rejected, object.objectID, key.name, $0) }
  }
}
