public import HeartwoodModel
import Synchronization

/// The name of a property, with the ordinal that it has in the entity where it was last used.
public class PropertyKey: @unchecked Sendable {
  // `@unchecked Sendable`: the subclasses add nothing, the name never changes, and the cache is one atomic word.

  /// The name of the property.
  public let name: String
  /// The serial number of an entity in the upper half, the ordinal of the property there in the lower.
  ///
  /// One word, so that both are of the same write. No two descriptions of entities in a process have the same number, they never
  /// change, and none has 0; so whoever finds their entity's number finds the ordinal that a check of this key's type has passed.
  private let cache = Atomic<UInt64>(0)

  fileprivate init(name: String) {
    self.name = name
  }

  /// The ordinal of the property in the entity of `object`.
  @inline(__always)
  final func ordinal(in object: ManagedObject, _ accepts: (PropertyTrait) -> Bool) -> Int {
    let cached = cache.load(ordering: .relaxed)
    if UInt32(truncatingIfNeeded: cached &>> 32) == object.withBinding({ $0.entitySerialNumber }) {
      return Int(truncatingIfNeeded: cached & 0xFFFF_FFFF)
    }
    return resolve(in: object, accepts)
  }

  @inline(never)
  private final func resolve(in object: ManagedObject, _ accepts: (PropertyTrait) -> Bool) -> Int {
    let entity = object.entity
    guard let ordinal = entity.ordinal(ofProperty: name) else {
      Misuse.stop("\(entity.name) has no property called \(name). Correct the name of the key, or the model.")
    }
    Misuse.check(
      accepts(object.binding.traits[ordinal]),
      "\(entity.name).\(name) is of another type than its key. Make the key's type fit the model."
    )
    cache.store(UInt64(entity.serialNumber) << 32 | UInt64(ordinal), ordering: .relaxed)
    return ordinal
  }
}

/// The name of an attribute and the Swift type of its values.
///
/// The type must fit the attribute's: any integer type that is wide enough for integers, and so on. Make it optional where the
/// attribute is.
public final class AttributeKey<Value: AttributeValue>: PropertyKey, @unchecked Sendable {
  // `@unchecked Sendable`: it adds nothing to its superclass.

  /// Makes a key; keep it in a `static let`.
  public init(_ name: String) {
    super.init(name: name)
  }
}

/// The name of a to-one relationship and the class of the object that it leads to.
public final class ToOneKey<Destination: ManagedObject>: PropertyKey, @unchecked Sendable {
  // `@unchecked Sendable`: it adds nothing to its superclass.

  /// Makes a key; keep it in a `static let`.
  public init(_ name: String) {
    super.init(name: name)
  }
}

/// The name of a to-many relationship and the class of the objects that it leads to.
public final class ToManyKey<Destination: ManagedObject>: PropertyKey, @unchecked Sendable {
  // `@unchecked Sendable`: it adds nothing to its superclass.

  /// Makes a key; keep it in a `static let`.
  public init(_ name: String) {
    super.init(name: name)
  }
}

/// The name of a transformable attribute and the type that its transformer makes of the bytes; see ``AttributeTransformer``.
public final class TransformedKey<Value>: PropertyKey, @unchecked Sendable {
  // `@unchecked Sendable`: it adds nothing to its superclass, and holds no value.

  /// Makes a key; keep it in a `static let`.
  public init(_ name: String) {
    super.init(name: name)
  }
}

// MARK: ManagedObject: key path naming

extension ManagedObject: KeyPathNaming {
  /// The name of the property that is read by `keyPath`: what ``propertyName(forKeyPath:)`` says.
  public static func propertyName(of keyPath: AnyKeyPath) -> String? { propertyName(forKeyPath: keyPath) }
}
