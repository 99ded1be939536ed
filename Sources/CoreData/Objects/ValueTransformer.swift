public import Foundation
import HeartwoodModel
import Synchronization

/// Converts values to others, and perhaps back. Foundation has no class of this name on this system.
///
///     final class ColorTransformer: ValueTransformer {
///       override func transformedValue(_ value: Any?) -> Any? { (value as? Color)?.data }
///       override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data).flatMap(Color.init) }
///     }
///     ValueTransformer.setValueTransformer(ColorTransformer(), forName: NSValueTransformerName("ColorTransformer"))
///     attribute.valueTransformerName = "ColorTransformer"
///
/// A transformable attribute stores the data that its transformer makes of the value; see also
/// ``NSSecureUnarchiveFromDataTransformer``.
open class ValueTransformer: NSObject {
  // `@unchecked Sendable`: as in Foundation, a transformer that is registered is used by all threads.
  private struct Registered: @unchecked Sendable {
    let transformer: ValueTransformer
  }

  private static let registered = Mutex<[NSValueTransformerName: Registered]>([:])

  /// Makes a transformer known by a name; nil removes the name.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    let new = transformer.map(Registered.init)
    registered.withLock { $0[name] = new }
  }

  /// Returns the transformer of a name. ``NSSecureUnarchiveFromDataTransformer`` is known by its own.
  static func named(_ name: NSValueTransformerName) -> ValueTransformer? {
    if let found = registered.withLock({ $0[name] }) { return found.transformer }
    return name == .secureUnarchiveFromDataTransformerName ? NSSecureUnarchiveFromDataTransformer() : nil
  }

  /// The names of the transformers that are registered.
  open class func valueTransformerNames() -> [NSValueTransformerName] {
    registered.withLock { $0.keys.sorted { $0.rawValue < $1.rawValue } }
  }

  /// The class of the converted values.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Whether values can be converted back.
  open class func allowsReverseTransformation() -> Bool { false }

  /// Returns a value converted.
  open func transformedValue(_ value: Any?) -> Any? { value }

  /// Returns a converted value converted back.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    ProgrammerError.check(
      type(of: self).allowsReverseTransformation(),
      "The transformer \(type(of: self)) does not convert back: override reverseTransformedValue(_:)."
    )
    return transformedValue(value)
  }
}

extension ValueTransformer: SubclassMaking {
  /// Creates, or rather finds, the transformer of a name; nil if there is none.
  public convenience init?(forName name: NSValueTransformerName) {
    guard let found = Self.named(name) else { return nil }
    self.init(making: { found })
  }
}

/// The name of a transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name as a string.
  public let rawValue: String

  /// Creates a name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// The name of ``NSSecureUnarchiveFromDataTransformer``.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSSecureUnarchiveFromDataTransformerName"
  )
}

/// Reads archives of objects that can be archived securely, and writes them as its reverse. Core Data uses it and its
/// subclasses in that direction.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes of the objects, besides those that they have in them.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self,
      NSUUID.self, NSNull.self,
    ]
  }

  open override class func allowsReverseTransformation() -> Bool { true }

  /// Returns the object in an archive; nil if there is none of the allowed classes.
  open override func transformedValue(_ value: Any?) -> Any? {
    // Foundation ends the program here where an archive has an object of a class that was not asked for, so the class is
    // looked at afterwards.
    // try?: as in Foundation, what is no archive gives nil.
    guard let data = value as? Data, let object = try? NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data) else {
      return nil
    }
    let decoded = object as AnyObject as? NSObject
    return type(of: self).allowedTopLevelClasses.contains { decoded?.isKind(of: $0) == true } ? object : nil
  }

  /// Returns an archive of an object; nil if it cannot be archived.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    // try?: as in Foundation, what cannot be archived gives nil.
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }
}

// MARK: For stores

extension ValueTransformer {
  /// Returns the data that a store keeps of a value; nil if it is not of the transformer's type.
  final func stored(_ value: Any) -> Data? {
    let isReader = self is NSSecureUnarchiveFromDataTransformer
    return (isReader ? reverseTransformedValue(value) : transformedValue(value)) as? Data
  }

  /// Returns the value of the data that a store keeps.
  final func value(ofStored data: Data) -> Any? {
    self is NSSecureUnarchiveFromDataTransformer ? transformedValue(data) : reverseTransformedValue(data)
  }
}
