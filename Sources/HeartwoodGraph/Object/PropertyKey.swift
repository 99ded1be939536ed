public import HeartwoodModel
import Synchronization

/// The name of a property, with a cache of the ordinal that it has in the entity with which it was last used.
public class PropertyKey: @unchecked Sendable {
  // `@unchecked Sendable`: the subclasses add nothing, the name never changes, and the cache is one atomic word.

  /// The name of the property.
  public let name: String
  /// The serial number of an entity in the upper half, the ordinal of the property in that entity in the lower.
  ///
  /// One word, so that both are written together. No two entity descriptions in a process have the same number, the
  /// numbers never change, and none is 0. A reader that finds its entity's number therefore finds the ordinal that
  /// passed the check of this key's type.
  private let cache = Atomic<UInt64>(0)

  fileprivate init(name: String) {
    self.name = name
  }

  /// Returns the ordinal of the property in the entity of `object`.
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
      ProgrammerError.stop("\(entity.name) has no property called \(name). Correct the name of the key, or the model.")
    }
    ProgrammerError.check(
      accepts(object.binding.traits[ordinal]),
      "\(entity.name).\(name) is of another type than its key. Make the key's type fit the model."
    )
    cache.store(UInt64(entity.serialNumber) << 32 | UInt64(ordinal), ordering: .relaxed)
    return ordinal
  }
}

/// The name of an attribute and the Swift type of its values.
///
///     static let memoKey = AttributeKey<String?>("memo")
///
/// The type must fit that of the attribute, for example any integer type that is wide enough for integers. Make it
/// optional if the attribute is optional.
public final class AttributeKey<Value: AttributeValue>: PropertyKey, @unchecked Sendable {
  // `@unchecked Sendable`: it adds nothing to its superclass.

  /// Creates a key for the attribute called `name`. Keep it in a `static let`: a key caches the attribute's position.
  ///
  /// The name and the type are checked when the key is first used with an entity. If they do not fit the entity, the
  /// process stops with a message that names the key.
  public init(_ name: String) {
    super.init(name: name)
  }
}

/// The name of a to-one relationship and the class of its destination.
///
///     static let listKey = ToOneKey<List>("list")
///
///     var list: List? {
///       get { self[Self.listKey] }
///       set { self[Self.listKey] = newValue }
///     }
///
/// Setting the relationship also changes its inverse.
public final class ToOneKey<Destination: ManagedObject>: PropertyKey, @unchecked Sendable {
  // `@unchecked Sendable`: it adds nothing to its superclass.

  /// Creates a key for the relationship called `name`. Keep it in a `static let`: a key caches the relationship's
  /// position.
  public init(_ name: String) {
    super.init(name: name)
  }
}

/// The name of a to-many relationship and the class of its destinations.
///
///     static let itemsKey = ToManyKey<Item>("items")
///
///     var items: RelatedSet<Item> {
///       get { self[set: Self.itemsKey] }
///       set { self[set: Self.itemsKey] = newValue }
///     }
///
/// If the model says that the relationship is ordered, use `self[list: Self.itemsKey]`, which is a ``RelatedList``.
public final class ToManyKey<Destination: ManagedObject>: PropertyKey, @unchecked Sendable {
  // `@unchecked Sendable`: it adds nothing to its superclass.

  /// Creates a key for the relationship called `name`. Keep it in a `static let`: a key caches the relationship's
  /// position.
  public init(_ name: String) {
    super.init(name: name)
  }
}

/// The name of a transformable attribute and the type that its transformer decodes from the bytes; see
/// ``AttributeTransformer``.
public final class TransformedKey<Value>: PropertyKey, @unchecked Sendable {
  // `@unchecked Sendable`: it adds nothing to its superclass, and holds no value.

  /// Creates a key; keep it in a `static let`.
  public init(_ name: String) {
    super.init(name: name)
  }
}

// MARK: ManagedObject: key path naming

extension ManagedObject: KeyPathNaming {
  /// Returns the name of the property that `keyPath` reads, as ``propertyName(forKeyPath:)`` does.
  public static func propertyName(of keyPath: AnyKeyPath) -> String? { propertyName(forKeyPath: keyPath) }
}
